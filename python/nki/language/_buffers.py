"""Tensors of a kernel: where they live, how they are made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

import numpy as np

from nki._dtypes import DType, as_dtype
from nki._errors import NkiValidationError
from nki._tensor import DynamicSlice, NkiTensor, Storage, make_tensor
from nki._trace import CONSTANT, SCRATCH, current, target_row

__all__ = [
    "Buffer",
    "ds",
    "empty_like",
    "full",
    "hbm",
    "is_hbm",
    "is_on_chip",
    "is_psum",
    "is_sbuf",
    "ndarray",
    "ones",
    "private_hbm",
    "psum",
    "sbuf",
    "shared_constant",
    "shared_hbm",
    "shared_identity_matrix",
    "tile_size",
    "zeros",
    "zeros_like",
]


class Buffer(StrEnum):
    """Memory that a tensor lives in."""

    sbuf = "sbuf"
    psum = "psum"
    hbm = "hbm"
    private_hbm = "private_hbm"
    shared_hbm = "shared_hbm"


sbuf, psum, hbm = Buffer.sbuf, Buffer.psum, Buffer.hbm
private_hbm, shared_hbm = Buffer.private_hbm, Buffer.shared_hbm
ds = DynamicSlice


def ndarray(
    shape: Sequence[int],
    dtype: Any,
    buffer: Any = Buffer.sbuf,
    name: str = "",
    address: tuple[int, int] | None = None,
) -> NkiTensor:
    """A tensor with undefined contents.

    On chip shape[0] is the partition dimension, at most 128. `address` = (partition, byte within
    each partition) pins the tensor; without it the tensor takes free bytes and returns them when
    the last reference to it is gone. Tensors in shared_hbm may be returned from the kernel.
    """
    trace = current()
    element = as_dtype(dtype)
    sizes = tuple(int(size) for size in shape)
    where = Buffer(str(getattr(buffer, "value", buffer)))
    if not sizes or any(size < 1 for size in sizes):
        raise NkiValidationError(f"ndarray.shape: {list(sizes)}; every size is at least 1")
    storage = Storage(
        trace.unique_name(name or f"{where.value}_tensor"), where.value, sizes, element
    )
    if not storage.on_chip:
        storage.kind = SCRATCH
        nbytes = math.prod(sizes) * element.itemsize
        storage.tensor = trace.builder.add_tensor(storage.name, SCRATCH, nbytes)
        trace.hbm.append(storage)
        return make_tensor(storage)
    if sizes[0] > 128:
        raise NkiValidationError(
            f"ndarray.shape: {list(sizes)} in {where.value}; "
            "dimension 0 is the partition, at most 128"
        )
    if len(sizes) == 1:
        storage.shape = (*sizes, 1)
    memory = trace.memories[where.value]
    storage.nbytes = storage.free_size * element.itemsize
    storage.loop_depth = memory.loop_depth
    partition = 0
    if address is None:
        storage.address = memory.allocate(storage.nbytes, storage.name)
    else:
        partition, storage.address = (int(part) for part in address)
        memory.reserve(storage.address, storage.nbytes, storage.name)
    storage.memory = memory
    tensor = make_tensor(storage)
    tensor._partition = partition
    return tensor


def full(
    shape: Sequence[int], fill_value: Any, dtype: Any, buffer: Any = Buffer.sbuf, name: str = ""
) -> NkiTensor:
    """A tensor filled with one value; in HBM through a row in SBUF."""
    from nki.isa import dma_copy, memset

    tensor = ndarray(shape, dtype, buffer, name)
    if tensor.is_on_chip:
        memset(tensor, fill_value)
        return tensor
    flat = tensor.reshape([tensor.size])
    width = min(tensor.size, 8192)
    row = ndarray((1, width), dtype, Buffer.sbuf)
    memset(row, fill_value)
    for at in range(0, tensor.size, width):
        count = min(width, tensor.size - at)
        dma_copy(flat[at : at + count].reshape([1, count]), row[:, :count])
    return tensor


def zeros(shape: Sequence[int], dtype: Any, buffer: Any = Buffer.sbuf, name: str = "") -> NkiTensor:
    return full(shape, 0, dtype, buffer, name)


def ones(shape: Sequence[int], dtype: Any, buffer: Any = Buffer.sbuf, name: str = "") -> NkiTensor:
    return full(shape, 1, dtype, buffer, name)


def empty_like(x: NkiTensor, dtype: Any = None, buffer: Any = None, name: str = "") -> NkiTensor:
    return ndarray(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def zeros_like(x: NkiTensor, dtype: Any = None, buffer: Any = None, name: str = "") -> NkiTensor:
    return zeros(x.shape, dtype or x.dtype, buffer or x.buffer, name)


def shared_constant(value: Any, dtype: Any = None) -> NkiTensor:
    """An HBM tensor whose contents, a NumPy array, are part of the program."""
    trace = current()
    array = np.ascontiguousarray(value)
    element: DType = as_dtype(dtype if dtype is not None else array.dtype)
    array = array.astype(element.numpy)
    storage = Storage(trace.unique_name("constant"), "private_hbm", array.shape, element)
    storage.kind = CONSTANT
    storage.tensor = trace.builder.add_constant(storage.name, array.tobytes())
    trace.hbm.append(storage)
    return make_tensor(storage)


def shared_identity_matrix(n: int, dtype: Any = "uint8", dst: NkiTensor | None = None) -> NkiTensor:
    """The n x n identity in SBUF."""
    from nki.isa import dma_copy

    tile = dst if dst is not None else ndarray((n, n), dtype, Buffer.sbuf)
    dma_copy(tile, shared_constant(np.eye(n), dtype=tile.dtype))
    return tile


def is_sbuf(x: NkiTensor) -> bool:
    return x.buffer == Buffer.sbuf


def is_psum(x: NkiTensor) -> bool:
    return x.buffer == Buffer.psum


def is_hbm(x: NkiTensor) -> bool:
    return not x.is_on_chip


def is_on_chip(x: NkiTensor) -> bool:
    return x.is_on_chip


class _TileSize:
    """Limits of the target, as plain integers."""

    pmax = 128
    gemm_stationary_fmax = 128
    bn_stats_fmax = 512
    psum_min_align = 4
    sbuf_min_align = 1

    @property
    def gemm_moving_fmax(self) -> int:
        return int(target_row()["max_moving_free"])

    @property
    def psum_bank_fmax_bytes(self) -> int:
        return int(target_row()["psum_bank_bytes"])

    @property
    def psum_bank_fmax(self) -> int:
        return self.psum_bank_fmax_bytes // 4

    psum_fmax = psum_bank_fmax

    @property
    def psum_num_banks(self) -> int:
        return int(target_row()["psum_bytes_per_partition"]) // self.psum_bank_fmax_bytes

    @property
    def sbuf_fmax_bytes(self) -> int:
        return int(target_row()["sbuf_bytes_per_partition"])

    @property
    def sbuf_fmax(self) -> int:
        return self.sbuf_fmax_bytes // 4

    @property
    def sbuf_size_bytes(self) -> int:
        return self.sbuf_fmax_bytes * self.pmax

    total_available_sbuf_size = sbuf_fmax_bytes


tile_size = _TileSize()
