"""NkiTensor: a view of memory on the device. Views never copy.

On chip (SBUF, PSUM) the first dimension is the partition; strides of the others are elements within
a partition. In HBM all dimensions stride over one address range.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from nki import _core
from nki._dtypes import DType, as_dtype
from nki._errors import NkiValidationError
from nki._scalar import NkiScalar, as_affine
from nki._strides import contiguous_strides, merge, view_strides

__all__ = ["DynamicSlice", "NkiTensor", "Storage", "make_tensor"]


class Storage:
    """Where a tensor lives: bytes of each partition, or of an HBM tensor of the program."""

    __slots__ = (
        "__weakref__",
        "accumulated",
        "address",
        "array",
        "buffer",
        "dtype",
        "kind",
        "loop_depth",
        "memory",
        "name",
        "nbytes",
        "shape",
        "tensor",
        "written",
    )

    def __init__(self, name: str, buffer: str, shape: tuple[int, ...], dtype: DType) -> None:
        self.name = name
        self.buffer = buffer  # "sbuf", "psum", "hbm", "private_hbm", "shared_hbm"
        self.shape = shape
        self.dtype = dtype
        self.address = 0  # on chip: byte in each partition
        self.nbytes = 0  # on chip: per partition
        self.tensor = -1  # HBM: index in the program
        self.kind = -1  # HBM: isa::TensorKind
        self.array: Any = None  # HBM input: the host's array
        self.written = False
        self.memory: Any = None  # the allocator to return the bytes to, if they are not pinned
        self.loop_depth = 0
        self.accumulated: set[Any] = set()  # PSUM: places that a matmul has begun

    def __del__(self) -> None:
        if self.memory is not None:
            self.memory.free(self.address, self.nbytes, self.loop_depth)

    @property
    def on_chip(self) -> bool:
        return self.buffer in ("sbuf", "psum")

    @property
    def free_size(self) -> int:
        """Elements of one partition."""
        return math.prod(self.shape[1:])


class DynamicSlice:
    """nl.ds(start, size): `size` elements from `start`, which may be known at run time only."""

    __slots__ = ("size", "start")

    def __init__(self, start: int | NkiScalar, size: int) -> None:
        self.start = start
        self.size = int(size)


class NkiTensor:
    """A view: shape, dtype and buffer, over a storage. Made by nl.ndarray and by views."""

    __slots__ = ("_index", "_offset", "_partition", "_storage", "_strides", "dtype", "shape")

    def __init__(
        self,
        storage: Storage,
        dtype: DType,
        shape: tuple[int, ...],
        strides: tuple[int, ...],
        offset: int | NkiScalar = 0,
        partition: int = 0,
        index: tuple[NkiTensor, int, int] | None = None,
    ) -> None:
        self._storage = storage
        self.dtype = dtype
        self.shape = shape
        self._strides = strides  # on chip, [0] counts partitions
        self._offset = offset  # elements of `dtype`; on chip within a partition
        self._partition = partition
        self._index = (
            index  # indirect HBM: (row numbers [P, 1], elements per number, rows there are)
        )

    # --- What it is.

    @property
    def name(self) -> str:
        return self._storage.name

    @property
    def buffer(self) -> str:
        return self._storage.buffer

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def offset(self) -> int | NkiScalar:
        if self.is_on_chip:
            return self._offset + self._partition * self._row_elements
        return self._offset

    @property
    def strides(self) -> tuple[int, ...]:
        """In elements; on chip the partition's stride is the storage's free size."""
        if self.is_on_chip:
            return (self._strides[0] * self._row_elements, *self._strides[1:])
        return self._strides

    @property
    def is_on_chip(self) -> bool:
        return self._storage.on_chip

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def _row_elements(self) -> int:
        return self._storage.free_size * self._storage.dtype.itemsize // self.dtype.itemsize

    def __repr__(self) -> str:
        return f"NkiTensor({self.name}, {self.buffer}, {list(self.shape)}, {self.dtype})"

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        raise NkiValidationError("tensor.iterate: index a tensor instead of iterating over it")

    def is_contiguous(self) -> bool:
        """Within each partition on chip; as a whole in HBM."""
        first = 1 if self.is_on_chip else 0
        walk = merge(list(zip(self._strides[first:], self.shape[first:], strict=True)))
        return not walk or (len(walk) == 1 and walk[0][0] == 1)

    def is_indirect(self) -> bool:
        return self._index is not None

    def get_pattern(self) -> list[list[int]]:
        """[[stride, count], ...] as `ap` takes it."""
        return [list(pair) for pair in zip(self.strides, self.shape, strict=True)]

    # --- Views.

    def _view(self, **changes: Any) -> NkiTensor:
        if self._index is not None:
            raise NkiValidationError("tensor.indirect: an indirect view takes no further views")
        parts: dict[str, Any] = {
            "dtype": self.dtype,
            "shape": self.shape,
            "strides": self._strides,
            "offset": self._offset,
            "partition": self._partition,
        } | changes
        return NkiTensor(self._storage, **parts)

    def __bool__(self) -> bool:
        raise TypeError(
            "the elements of a tile are not known while a kernel is traced, so `if` and `while` "
            "cannot ask for them; select by a mask (nl.where), or loop on the device "
            "(nl.while_loop)"
        )

    def __getitem__(self, key: Any) -> NkiTensor:
        from nki._indexing import index

        return index(self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        from nki.language._functions import assign

        assign(self[key], value)

    def _dim(self, dim: int, *, partition: bool = True) -> int:
        if not -self.ndim <= dim < self.ndim:
            raise NkiValidationError(f"tensor.dim: dimension {dim} of a {self.ndim}-D tensor")
        dim %= self.ndim
        if dim == 0 and not partition and self.is_on_chip:
            raise NkiValidationError("tensor.dim: the partition dimension cannot be changed so")
        return dim

    def slice(self, dim: int, start: int, end: int, step: int = 1) -> NkiTensor:
        key = [slice(None)] * self.ndim
        key[self._dim(dim)] = slice(start, end, step)
        return self[tuple(key)]

    def select(self, dim: int, index: Any) -> NkiTensor:
        """Drop `dim` at `index`: an integer, a run-time scalar or a tensor of one element."""
        if isinstance(index, (NkiTensor, NkiScalar)):
            from nki.isa._registers import bounded

            index = bounded(index, 0, self.shape[self._dim(dim)] - 1)
        key: list[Any] = [slice(None)] * self.ndim
        key[self._dim(dim)] = index
        return self[tuple(key)]

    def vector_select(self, dim: int, offsets: NkiTensor) -> NkiTensor:
        """Rows of an HBM tensor by an index tile [P, 1] in SBUF: for dma_copy and dma_compute."""
        if self._dim(dim) != 0 or self.is_on_chip:
            raise NkiValidationError("tensor.vector_select: dimension 0 of an HBM tensor only")
        rows = offsets.shape[0]
        view = self._view(shape=(rows, *self.shape[1:]), strides=(0, *self._strides[1:]))
        view._index = (offsets, self._strides[0], self.shape[0])
        return view

    def permute(self, dims: Sequence[int]) -> NkiTensor:
        dims = [self._dim(dim) for dim in dims]
        if sorted(dims) != list(range(self.ndim)):
            raise NkiValidationError(
                f"tensor.permute: {dims} is no order of {self.ndim} dimensions"
            )
        if self.is_on_chip and dims[0] != 0:
            raise NkiValidationError("tensor.permute: the partition dimension stays first on chip")
        return self._view(
            shape=tuple(self.shape[d] for d in dims), strides=tuple(self._strides[d] for d in dims)
        )

    def broadcast(self, dim: int, size: int) -> NkiTensor:
        dim = self._dim(dim, partition=False)
        if self.shape[dim] not in (1, size):
            raise NkiValidationError(
                f"tensor.broadcast: dimension {dim} has {self.shape[dim]} elements, expected 1"
            )
        if self.shape[dim] == size:
            return self
        shape, strides = list(self.shape), list(self._strides)
        shape[dim], strides[dim] = size, 0
        return self._view(shape=tuple(shape), strides=tuple(strides))

    def broadcast_to(self, shape: Sequence[int]) -> NkiTensor:
        view = self
        while view.ndim < len(shape):
            view = view.expand_dim(1 if view.is_on_chip else 0)
        for dim, size in enumerate(shape):
            if view.shape[dim] != size:
                view = view.broadcast(dim, size)
        return view

    def expand_dim(self, dim: int) -> NkiTensor:
        dim = dim % (self.ndim + 1)
        if dim == 0 and self.is_on_chip:
            raise NkiValidationError("tensor.expand_dim: the partition dimension stays first")
        return self._view(
            shape=(*self.shape[:dim], 1, *self.shape[dim:]),
            strides=(*self._strides[:dim], 1, *self._strides[dim:]),
        )

    def squeeze_dim(self, dim: int) -> NkiTensor:
        dim = self._dim(dim, partition=False)
        if self.shape[dim] != 1:
            raise NkiValidationError(f"tensor.squeeze_dim: dimension {dim} has {self.shape[dim]}")
        return self._view(
            shape=(*self.shape[:dim], *self.shape[dim + 1 :]),
            strides=(*self._strides[:dim], *self._strides[dim + 1 :]),
        )

    def reshape(self, *shape: Any) -> NkiTensor:
        """One size may be -1. On chip the partition dimension is kept."""
        sizes = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
        known = math.prod(size for size in sizes if size != -1)
        sizes = [self.size // known if size == -1 and known else size for size in sizes]
        if math.prod(sizes) != self.size:
            raise NkiValidationError(
                f"tensor.reshape: {list(self.shape)} has {self.size} elements, {sizes} not"
            )
        first = 1 if self.is_on_chip else 0
        if first and (not sizes or sizes[0] != self.shape[0]):
            raise NkiValidationError(
                f"tensor.reshape: the partition dimension is {self.shape[0]} and stays so, "
                f"got {sizes}"
            )
        strides = view_strides(self.shape[first:], self._strides[first:], sizes[first:])
        if strides is None:
            raise NkiValidationError(
                f"tensor.reshape: {list(self.shape)} with strides {list(self.strides)} is no view "
                f"of shape {sizes}; copy it first"
            )
        return self._view(shape=tuple(sizes), strides=(*self._strides[:first], *strides))

    def reshape_dim(self, dim: int, shape: Sequence[int]) -> NkiTensor:
        dim = self._dim(dim, partition=False)
        sizes = list(shape)
        if -1 in sizes:
            known = math.prod(size for size in sizes if size != -1)
            sizes[sizes.index(-1)] = self.shape[dim] // known
        return self.reshape([*self.shape[:dim], *sizes, *self.shape[dim + 1 :]])

    def flatten_dims(self, first: int, last: int) -> NkiTensor:
        first, last = self._dim(first, partition=False), self._dim(last)
        size = math.prod(self.shape[first : last + 1])
        return self.reshape([*self.shape[:first], size, *self.shape[last + 1 :]])

    def rearrange(
        self,
        src_pattern: Sequence[Any],
        dst_pattern: Sequence[Any],
        fixed_sizes: dict[str, int] | None = None,
    ) -> NkiTensor:
        """rearrange(("p", ("a", "b")), ("p", "b", "a"), {"a": 4}): split, permute, join."""
        from nki._indexing import rearrange

        return rearrange(self, src_pattern, dst_pattern, fixed_sizes or {})

    def view(self, dtype: Any) -> NkiTensor:
        """The same bytes as another dtype; the last dimension scales by the ratio of sizes."""
        new = as_dtype(dtype)
        old_size, new_size = self.dtype.itemsize, new.itemsize
        if old_size == new_size:
            return self._view(dtype=new)
        if self._strides[-1] != 1 and self.shape[-1] != 1:
            raise NkiValidationError("tensor.view: the last dimension must be contiguous")
        scaled: list[Any] = []
        for count in (self._offset, *self._strides[1 if self.is_on_chip else 0 : -1]):
            nbytes = count * old_size
            if isinstance(nbytes, int):
                if nbytes % new_size:
                    raise NkiValidationError(f"tensor.view: {nbytes} bytes are no whole {new}")
                scaled.append(nbytes // new_size)
            elif new_size < old_size:
                scaled.append(count * (old_size // new_size))
            else:
                raise NkiValidationError("tensor.view: a wider dtype at a run-time offset")
        last = self.shape[-1] * old_size
        if last % new_size:
            raise NkiValidationError(f"tensor.view: {last} bytes of a row are no whole {new}")
        head = self._strides[:1] if self.is_on_chip and self.ndim > 1 else ()
        return self._view(
            dtype=new,
            shape=(*self.shape[:-1], last // new_size),
            strides=(*head, *scaled[1:], 1),
            offset=scaled[0],
        )

    reinterpret_cast = view

    def ap(
        self,
        pattern: Sequence[Sequence[int]],
        offset: int | None = None,
        scalar_offset: Any = None,
        vector_offset: NkiTensor | None = None,
        indirect_dim: int = 0,
        dtype: Any = None,
    ) -> NkiTensor:
        """An explicit access pattern [[stride, count], ...] over this tensor's storage."""
        from nki._indexing import access_pattern

        return access_pattern(
            self, pattern, offset or 0, scalar_offset, vector_offset, indirect_dim, dtype
        )

    # --- For instructions.

    def operand(self, dims: list[tuple[int, int]] | None = None) -> _core.AccessPattern:
        """The access pattern of an on-chip tensor, by default with its dimensions merged."""
        storage = self._storage
        byte_offset = as_affine(self._offset).times(self.dtype.itemsize).plus(storage.address)
        if dims is None:
            dims = merge(list(zip(self._strides[1:], self.shape[1:], strict=True)))
        if len(dims) > 4:
            raise NkiValidationError(
                f"tensor.pattern: {self!r} walks {len(dims)} free dimensions, an operand at most 4"
            )
        make = _core.sbuf if storage.buffer == "sbuf" else _core.psum
        return make(
            self.dtype.number, self._partition, self.shape[0], byte_offset, dims or [(1, 1)]
        )


def make_tensor(storage: Storage) -> NkiTensor:
    if storage.on_chip:
        strides = (1, *contiguous_strides(storage.shape[1:]))
    else:
        strides = contiguous_strides(storage.shape)
    return NkiTensor(storage, storage.dtype, storage.shape, strides)
