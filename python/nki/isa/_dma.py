"""Instructions of the DMA engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nki import _core
from nki._errors import NkiValidationError
from nki._ops import OPS, alu_name
from nki._scalar import as_affine
from nki._strides import Dims, carve_rows, merge
from nki._tensor import NkiTensor
from nki._trace import IN_OUT, INPUT
from nki.isa._emit import NkiInstruction, documented, emit
from nki.isa._enums import dge_mode as DgeMode
from nki.isa._enums import engine as Engine
from nki.isa._enums import oob_mode as OobMode

__all__ = ["dma_compute", "dma_copy", "dma_transpose"]


def _require(value: Any, what: str) -> NkiTensor:
    if not isinstance(value, NkiTensor):
        raise NkiValidationError(f"{what} is {type(value).__name__}, expected a tensor")
    return value


def written(tensor: NkiTensor) -> None:
    """Note that an instruction writes the HBM tensor: an argument is then updated in place."""
    storage = tensor._storage
    storage.written = True
    if storage.kind == INPUT:
        storage.kind = IN_OUT


def _rows(tensor: NkiTensor, rows: int) -> tuple[Dims, Dims] | None:
    """The walk as rows and what each of them holds."""
    walk = list(zip(tensor._strides, tensor.shape, strict=True))
    if tensor._index is not None or tensor.is_on_chip:
        return [(0, tensor.shape[0])], merge(walk[1:])
    return carve_rows(walk, rows)


def _operand(tensor: NkiTensor, rows: int, row_step: int, inner: Dims) -> _core.AccessPattern:
    storage = tensor._storage
    byte_offset = as_affine(tensor._offset).times(tensor.dtype.itemsize)
    dims = inner or [(1, 1)]
    if tensor.is_on_chip:
        return tensor.operand(dims)
    return _core.hbm(tensor.dtype.number, storage.tensor, byte_offset, rows, row_step, dims)


def _index_operands(mnemonic: str, dst: NkiTensor, src: NkiTensor, mode: Any) -> dict[str, Any]:
    if dst.is_indirect() and src.is_indirect():
        raise NkiValidationError(
            f"{mnemonic}.index: dst and src both go by indices; copy one of them through SBUF"
        )
    for side, tensor in ((1, dst), (0, src)):
        if tensor._index is None:
            continue
        index, step, bound = tensor._index
        return {
            "index": index.operand(),
            "index_side": side,
            "index_step": step,
            "index_bound": _core.Affine(bound),
            "oob_mode": int(mode),
        }
    return {}


def _move(
    mnemonic: str, dst: NkiTensor, src: NkiTensor, mode: Any, **operands: Any
) -> NkiInstruction:
    """One DMA, or one per index of dimension 1 where a walk has too many dimensions for one."""
    if dst.size != src.size:
        raise NkiValidationError(
            f"{mnemonic}.shape: dst {list(dst.shape)} has {dst.size} elements, "
            f"src {list(src.shape)} has {src.size}"
        )
    chip = dst if dst.is_on_chip else src if src.is_on_chip else None
    rows = chip.shape[0] if chip is not None else dst.shape[0]
    split = [_rows(tensor, rows) for tensor in (dst, src)]
    if chip is None and any(part is None or len(part[0]) > 1 for part in split):
        rows = 1
        split = [_rows(tensor, rows) for tensor in (dst, src)]
    walks = [part for part in split if part is not None and len(part[0]) <= 1 and len(part[1]) <= 4]
    if len(walks) == 2:
        patterns = [
            _operand(tensor, rows, outer[0][0] if outer else 0, inner)
            for tensor, (outer, inner) in zip((dst, src), walks, strict=True)
        ]
        written(dst)
        index = _index_operands(mnemonic, dst, src, mode)
        if mnemonic == "dma_compute":
            return emit(mnemonic, "dma", patterns[1], dst=patterns[0], **index, **operands)
        return emit(mnemonic, "dma", dst=patterns[0], src=patterns[1], **index, **operands)
    for dim in (1, 0):
        # Partitions one by one are the last resort: what does not merge otherwise.
        if dst.ndim == src.ndim and dst.ndim > dim and dst.shape[dim] == src.shape[dim] > 1:
            for i in range(dst.shape[dim]):
                key = (slice(None),) * dim + (slice(i, i + 1),)
                last = _move(mnemonic, dst[key], src[key], mode, **operands)
            return last
    raise NkiValidationError(
        f"{mnemonic}.pattern: {dst!r} and {src!r} do not walk the same rows; reshape one of them"
    )


def _descriptors(priority: int | None, mode: Any) -> dict[str, Any]:
    """Who makes a transfer's descriptors; what is not said is left out."""
    return {"priority": priority, "dge_mode": int(mode or 0) or None}


@documented
def dma_copy(
    dst: NkiTensor,
    src: NkiTensor,
    priority: int | None = None,
    oob_mode: OobMode = OobMode.error,
    dge_mode: DgeMode = DgeMode.unknown,
    engine: Engine = Engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    _require(dst, "dma_copy: dst")
    _require(src, "dma_copy: src")
    return _move(
        "dma_copy",
        dst,
        src,
        oob_mode,
        **_descriptors(priority, dge_mode),
        trigger_engine=None if engine in (None, Engine.unknown) else int(Engine(engine)),
    )


@documented
def dma_transpose(
    dst: NkiTensor,
    src: NkiTensor,
    axes: Sequence[int] | None = None,
    priority: int | None = None,
    dge_mode: DgeMode = DgeMode.unknown,
    oob_mode: OobMode = OobMode.error,
    name: str | None = None,
) -> NkiInstruction:
    _require(dst, "dma_transpose: dst")
    _require(src, "dma_transpose: src")
    order = (
        tuple(axes) if axes is not None else {2: (1, 0), 3: (2, 1, 0)}.get(src.ndim, (3, 1, 2, 0))
    )
    if order not in ((1, 0), (2, 1, 0), (3, 1, 2, 0)) or len(order) != src.ndim:
        raise NkiValidationError(f"dma_transpose.axes: {order} for a {src.ndim}-D source")
    if dst.shape != tuple(src.shape[axis] for axis in order):
        raise NkiValidationError(
            f"dma_transpose.shape: dst is {list(dst.shape)}, expected "
            f"{[src.shape[axis] for axis in order]}"
        )
    descriptors = _descriptors(priority, dge_mode)
    if dge_mode == DgeMode.hwdge:
        rows, innermost = src.shape[0], src.shape[-1]
        if (src.ndim == 2 and rows != 16) or rows * src.shape[-2] % 16 or innermost > 128:
            raise NkiValidationError(
                f"dma_transpose.hwdge: src is {list(src.shape)}; hwdge takes [16, F] or, of more "
                "dimensions, shape[0] * shape[-2] a multiple of 16, and a last one of at most 128"
            )
    if src.ndim > 2:
        if src.is_indirect():
            raise NkiValidationError("dma_transpose.index: an indirect source has two dimensions")
        for i in range(src.shape[1]):
            last = _transpose(dst[:, i], src[:, i], oob_mode, descriptors)
        return last
    return _transpose(dst, src, oob_mode, descriptors)


def _transpose(
    dst: NkiTensor, src: NkiTensor, mode: Any, descriptors: dict[str, Any]
) -> NkiInstruction:
    if dst.ndim > 2:
        for i in range(src.shape[1]):
            last = _transpose(dst[:, i], src[:, i], mode, descriptors)
        return last
    if src.is_on_chip:
        pattern = src.operand()
    else:
        pattern = _operand(
            src, src.shape[0], src._strides[0], merge([(src._strides[1], src.shape[1])])
        )
    written(dst)
    return emit(
        "dma_transpose",
        "dma",
        dst=_operand(dst, 0, 0, merge([(dst._strides[1], dst.shape[1])])),
        src=pattern,
        **_index_operands("dma_transpose", dst, src, mode),
        **descriptors,
    )


def _place(tensor: NkiTensor) -> tuple[Any, ...]:
    """What two views of one tensor agree in if they are the same elements."""
    index = None
    if tensor._index is not None:
        rows, step, bound = tensor._index
        index = (*_place(rows), id(rows._storage), step, str(bound))
    return (tensor.shape, tensor._strides, str(tensor._offset), tensor._partition, index)


@documented
def dma_compute(
    dst: NkiTensor,
    srcs: Sequence[NkiTensor],
    reduce_op: Any = OPS["add"],
    scales: Sequence[float] | None = None,
    unique_indices: bool = True,
    oob_mode: OobMode = OobMode.error,
    name: str | None = None,
) -> NkiInstruction:
    _require(dst, "dma_compute: dst")
    if scales is not None and len(scales) != len(srcs):
        raise NkiValidationError(
            f"dma_compute.scales: {len(scales)} scales for {len(srcs)} sources; give one for each"
        )
    if scales is not None and any(scale != 1.0 for scale in scales):
        raise NkiValidationError("dma_compute.scales: only 1.0 is legal")
    sources = [_require(src, "dma_compute: src") for src in srcs]
    op = alu_name(reduce_op)
    if any(tensor.is_indirect() for tensor in (dst, *sources)):
        # Read-modify-write: two sources, one of which is where the result goes.
        others = [src for src in sources if src._storage is not dst._storage]
        if len(sources) != 2 or len(others) != 1:
            raise NkiValidationError(
                "dma_compute.srcs: with indices there are two sources, one of them dst itself"
            )
        own = next(src for src in sources if src is not others[0])
        if _place(own) != _place(dst):
            raise NkiValidationError(
                f"dma_compute.srcs: the source {own!r} is another part of dst's tensor than "
                f"{dst!r}; read-modify-write adds to what dst itself holds"
            )
        return _move("dma_compute", dst, others[0], oob_mode, op=op)
    chip = next((t for t in (dst, *sources) if t.is_on_chip), dst)
    rows = chip.shape[0]
    patterns = []
    for tensor in (dst, *sources):
        if tensor.size != dst.size:
            raise NkiValidationError("dma_compute.shape: dst and sources differ in size")
        split = _rows(tensor, rows)
        if split is None or len(split[0]) > 1 or len(split[1]) > 4:
            raise NkiValidationError(f"dma_compute.pattern: {tensor!r} is no {rows} even rows")
        patterns.append(_operand(tensor, rows, split[0][0][0] if split[0] else 0, split[1]))
    written(dst)
    return emit("dma_compute", "dma", *patterns[1:], dst=patterns[0], op=op)
