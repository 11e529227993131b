"""Indexing, explicit access patterns and rearrangement of NkiTensors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nki._dtypes import DType, as_dtype
from nki._errors import NkiValidationError
from nki._scalar import NkiScalar
from nki._tensor import DynamicSlice, NkiTensor

__all__ = ["access_pattern", "index", "rearrange"]


def _slice(key: slice, size: int, dim: int) -> tuple[Any, int, int]:
    """(start, count, step) of a slice whose ends may be run-time scalars at a fixed distance."""
    step = 1 if key.step is None else int(key.step)
    if not isinstance(key.start, NkiScalar) and not isinstance(key.stop, NkiScalar):
        if step < 1:
            raise NkiValidationError(f"tensor.index: step {step} in dimension {dim}")
        start = 0 if key.start is None else int(key.start)
        stop = size if key.stop is None else int(key.stop)
        start, stop = (end + size if end < 0 else end for end in (start, stop))
        if not 0 <= start <= size or not 0 <= stop <= size or start >= stop:
            raise NkiValidationError(
                f"tensor.index: [{key.start}:{key.stop}] of dimension {dim}, which has {size}"
            )
        return start, -(-(stop - start) // step), step
    distance = key.stop - (0 if key.start is None else key.start)
    if not distance.affine.is_constant:
        raise NkiValidationError(
            f"tensor.index: the length of a slice of dimension {dim} depends on a run-time number"
        )
    return key.start, -(-int(distance) // step), step


def _entry(key: Any, size: int, dim: int) -> tuple[Any, int | None, int]:
    """(start, count or None for a dropped dimension, step)."""
    if isinstance(key, slice):
        start, count, step = _slice(key, size, dim)
    elif isinstance(key, DynamicSlice):
        start, count, step = key.start, key.size, 1
    elif isinstance(key, NkiScalar):
        start, count, step = key, None, 1
    else:
        try:
            start = key.__index__()
        except AttributeError:
            raise NkiValidationError(
                f"tensor.index: {key!r} in dimension {dim}; use integers, slices or nl.ds"
            ) from None
        start, count, step = start + size if start < 0 else start, None, 1
    least, most = (start.min, start.max) if isinstance(start, NkiScalar) else (start, start)
    reach = ((count or 1) - 1) * step
    if least < 0 or most + reach >= size:
        raise NkiValidationError(
            f"tensor.index: elements {least} to {most + reach} of dimension {dim}, which has {size}"
        )
    return start, count, step


def index(tensor: NkiTensor, key: Any) -> NkiTensor:
    keys = list(key) if isinstance(key, tuple) else [key]
    if Ellipsis in [k for k in keys if k is Ellipsis]:
        at = next(i for i, k in enumerate(keys) if k is Ellipsis)
        fill = tensor.ndim - (len(keys) - 1)
        keys[at : at + 1] = [slice(None)] * fill
    if len(keys) > tensor.ndim:
        raise NkiValidationError(f"tensor.index: {len(keys)} indices into a {tensor.ndim}-D tensor")
    keys += [slice(None)] * (tensor.ndim - len(keys))
    offset, partition = tensor._offset, tensor._partition
    shape: list[int] = []
    strides: list[int] = []
    for dim, (entry, size, stride) in enumerate(
        zip(keys, tensor.shape, tensor._strides, strict=True)
    ):
        start, count, step = _entry(entry, size, dim)
        if tensor.is_on_chip and dim == 0:
            if isinstance(start, NkiScalar) or (step != 1 and count != 1):
                raise NkiValidationError(
                    "tensor.index: partitions are taken one after the other, from a fixed first one"
                )
            partition += start
            shape.append(count or 1)  # an integer keeps the partition dimension
            strides.append(1)
            continue
        offset = offset + start * stride
        if count is not None:
            shape.append(count)
            strides.append(stride * step)
    least = 2 if tensor.is_on_chip else 1
    while len(shape) < least:
        shape.append(1)
        strides.append(1)
    return tensor._view(
        shape=tuple(shape), strides=tuple(strides), offset=offset, partition=partition
    )


def access_pattern(
    tensor: NkiTensor,
    pattern: Sequence[Sequence[int]],
    offset: int,
    scalar_offset: Any,
    vector_offset: NkiTensor | None,
    indirect_dim: int,
    dtype: Any,
) -> NkiTensor:
    new = tensor.dtype if dtype is None else as_dtype(dtype)
    shape = tuple(int(count) for _, count in pattern)
    strides = [int(stride) for stride, _ in pattern]
    scale = tensor.strides[indirect_dim]
    start: Any = offset
    if scalar_offset is not None:
        from nki.isa._registers import bounded

        first = 1 if tensor.is_on_chip else 0
        reach = sum(stride * (count - 1) for stride, count in pattern[first:] if stride > 0)
        room = _room(tensor, new) - offset - reach - 1
        if room < 0 or scale < 1:
            raise NkiValidationError(
                f"tensor.ap: the pattern reaches {-room} elements beyond {tensor.name}"
            )
        start = bounded(scalar_offset, 0, room // scale) * scale + offset
    if tensor.is_on_chip:
        row = tensor._storage.free_size * tensor._storage.dtype.itemsize // new.itemsize
        if shape[0] > 1 and strides[0] != row:
            raise NkiValidationError(
                f"tensor.ap: the first stride is {strides[0]}, on chip it is the partition's {row}"
            )
        partition = offset // row
        free = (start - partition * row) if partition else start
        return tensor._view(
            dtype=new,
            shape=shape if len(shape) > 1 else (*shape, 1),
            strides=(1, *strides[1:]) if len(shape) > 1 else (1, 1),
            offset=tensor._offset + free,
            partition=tensor._partition + partition,
        )
    view = tensor._view(
        dtype=new, shape=shape, strides=tuple(strides), offset=tensor._offset + start
    )
    if vector_offset is not None:
        if indirect_dim != 0 or vector_offset.shape[0] != shape[0]:
            raise NkiValidationError(
                f"tensor.ap: vector_offset has {vector_offset.shape[0]} rows for dimension "
                f"{indirect_dim}, the pattern has {shape[0]} rows and takes indices in dimension 0"
            )
        view._strides = (0, *view._strides[1:])
        view._index = (vector_offset, scale, tensor.shape[indirect_dim])
    return view


def _room(tensor: NkiTensor, dtype: DType) -> int:
    """Elements of `dtype` from where the tensor begins to the end of its memory (or partition)."""
    storage = tensor._storage
    total = storage.free_size if storage.on_chip else math.prod(storage.shape)
    begin = tensor._offset.max if isinstance(tensor._offset, NkiScalar) else tensor._offset
    return (total * storage.dtype.itemsize - begin * tensor.dtype.itemsize) // dtype.itemsize


def rearrange(
    tensor: NkiTensor, src: Sequence[Any], dst: Sequence[Any], sizes: dict[str, int]
) -> NkiTensor:
    if len(src) != tensor.ndim:
        raise NkiValidationError(
            f"tensor.rearrange: {src} names {len(src)} dimensions, the tensor has {tensor.ndim}"
        )
    known = dict(sizes)
    split: list[int] = []
    names: list[str] = []
    for group, size in zip(src, tensor.shape, strict=True):
        members = [group] if isinstance(group, str) else list(group)
        open_names = [name for name in members if name not in known]
        if len(open_names) > 1:
            raise NkiValidationError(f"tensor.rearrange: the sizes of {open_names} are not known")
        rest = math.prod(known[name] for name in members if name in known)
        for name in open_names:
            known[name] = size // rest
        if math.prod(known[name] for name in members) != size:
            raise NkiValidationError(f"tensor.rearrange: {group} does not divide {size}")
        names += members
        split += [known[name] for name in members]
    flat = [name for group in dst for name in ([group] if isinstance(group, str) else group)]
    if sorted(flat) != sorted(names):
        raise NkiValidationError(f"tensor.rearrange: {dst} does not name the dimensions of {src}")
    view = tensor.reshape(split).permute([names.index(name) for name in flat])
    return view.reshape(
        [
            known[group] if isinstance(group, str) else math.prod(known[name] for name in group)
            for group in dst
        ]
    )
