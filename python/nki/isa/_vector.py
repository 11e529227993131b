"""Instructions of the Vector engine (some also run on Scalar or GpSimd)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nki._errors import NkiValidationError
from nki._ops import alu_name
from nki._strides import merge
from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, engine_of, flag, scalar, tile
from nki.isa._enums import engine as Engine
from nki.isa._enums import reduce_cmd as ReduceCmd

__all__ = [
    "bn_aggr",
    "bn_stats",
    "max8",
    "memset",
    "nc_find_index8",
    "reciprocal",
    "scalar_tensor_tensor",
    "tensor_copy",
    "tensor_copy_predicated",
    "tensor_reduce",
    "tensor_scalar",
    "tensor_scalar_reduce",
    "tensor_tensor",
    "tensor_tensor_scan",
]


@documented
def tensor_tensor(
    dst: NkiTensor,
    data1: NkiTensor,
    data2: NkiTensor,
    op: Any,
    engine: Engine = Engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    tiles = {
        "dst": tile(dst, "tensor_tensor: dst"),
        "data1": tile(data1, "tensor_tensor: data1"),
        "data2": tile(data2, "tensor_tensor: data2"),
    }
    # GpSimd computes 32-bit integers exactly and power at all, but does not reach PSUM.
    operands = (dst, data1, data2)
    exact = all(t.dtype in ("int32", "uint32") for t in operands) or alu_name(op) == "power"
    gpsimd = exact and all(t.buffer == "sbuf" for t in operands)
    return emit(
        "tensor_tensor",
        engine_of("tensor_tensor", engine, "gpsimd" if gpsimd else "vector"),
        **tiles,
        op=alu_name(op),
    )


@documented
def tensor_scalar(
    dst: NkiTensor,
    data: NkiTensor,
    op0: Any,
    operand0: Any,
    reverse0: bool = False,
    op1: Any = None,
    operand1: Any = None,
    reverse1: bool = False,
    engine: Engine = Engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "tensor_scalar",
        engine_of("tensor_scalar", engine),
        dst=tile(dst, "tensor_scalar: dst"),
        data=tile(data, "tensor_scalar: data"),
        op0=alu_name(op0),
        operand0=scalar(0 if operand0 is None else operand0, "tensor_scalar: operand0"),
        reverse0=flag(reverse0),
        op1=alu_name(op1),
        operand1=scalar(operand1, "tensor_scalar: operand1"),
        reverse1=flag(reverse1),
    )


@documented
def scalar_tensor_tensor(
    dst: NkiTensor,
    data: NkiTensor,
    op0: Any,
    operand0: Any,
    op1: Any,
    operand1: NkiTensor,
    reverse0: bool = False,
    reverse1: bool = False,
    engine: Engine = Engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "scalar_tensor_tensor",
        engine_of("scalar_tensor_tensor", engine),
        dst=tile(dst, "scalar_tensor_tensor: dst"),
        data=tile(data, "scalar_tensor_tensor: data"),
        op0=alu_name(op0),
        operand0=scalar(0 if operand0 is None else operand0, "scalar_tensor_tensor: operand0"),
        op1=alu_name(op1),
        operand1=tile(operand1, "scalar_tensor_tensor: operand1"),
        reverse0=flag(reverse0),
        reverse1=flag(reverse1),
    )


@documented
def tensor_reduce(
    dst: NkiTensor,
    op: Any,
    data: NkiTensor,
    axis: int | Sequence[int],
    negate: bool = False,
    keepdims: bool = False,
    engine: Engine = Engine.unknown,
    name: str | None = None,
) -> NkiInstruction:
    axes = sorted(a % data.ndim for a in ([axis] if isinstance(axis, int) else axis))
    first = data.ndim - len(axes)
    if axes != list(range(first, data.ndim)) or first < 1:
        raise NkiValidationError(
            f"tensor_reduce.axes: {list(axes)} of a {data.ndim}-D tensor; reduced are trailing "
            "free dimensions, dimension 0 is the partition"
        )
    tile(data, "tensor_reduce: data")
    walk = list(zip(data._strides, data.shape, strict=True))
    reduced = merge(walk[first:]) or [(1, 1)]
    return emit(
        "tensor_reduce",
        engine_of("tensor_reduce", engine),
        dst=tile(dst, "tensor_reduce: dst"),
        op=alu_name(op),
        data=data.operand([*merge(walk[1:first]), *reduced]),
        num_reduced=len(reduced),
        negate=flag(negate),
    )


@documented
def tensor_scalar_reduce(
    dst: NkiTensor,
    data: NkiTensor,
    op0: Any,
    operand0: Any,
    reduce_op: Any,
    reduce_res: NkiTensor | None = None,
    reverse0: bool = False,
    reduce_cmd: ReduceCmd = ReduceCmd.reset_reduce,
    reduce_init: Any = None,
    reduce_res_negate: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "tensor_scalar_reduce",
        "vector",
        dst=tile(dst, "tensor_scalar_reduce: dst"),
        data=tile(data, "tensor_scalar_reduce: data"),
        op0=alu_name(op0),
        operand0=scalar(0 if operand0 is None else operand0, "tensor_scalar_reduce: operand0"),
        reduce_op=alu_name(reduce_op),
        reduce_res=tile(reduce_res, "tensor_scalar_reduce: reduce_res"),
        reverse0=flag(reverse0),
        reduce_cmd=int(reduce_cmd),
        reduce_init=scalar(reduce_init, "tensor_scalar_reduce: reduce_init"),
        reduce_res_negate=flag(reduce_res_negate),
    )


@documented
def tensor_tensor_scan(
    dst: NkiTensor,
    data0: NkiTensor,
    data1: NkiTensor,
    initial: Any,
    op0: Any,
    op1: Any,
    reverse0: bool = False,
    reverse1: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "tensor_tensor_scan",
        "vector",
        dst=tile(dst, "tensor_tensor_scan: dst"),
        data0=tile(data0, "tensor_tensor_scan: data0"),
        data1=tile(data1, "tensor_tensor_scan: data1"),
        initial=scalar(initial, "tensor_tensor_scan: initial"),
        op0=alu_name(op0),
        op1=alu_name(op1),
        reverse0=flag(reverse0),
        reverse1=flag(reverse1),
    )


@documented
def tensor_copy(
    dst: NkiTensor, src: NkiTensor, engine: Engine = Engine.unknown, name: str | None = None
) -> NkiInstruction:
    return emit(
        "tensor_copy",
        engine_of("tensor_copy", engine),
        dst=tile(dst, "tensor_copy: dst"),
        src=tile(src, "tensor_copy: src"),
    )


@documented
def tensor_copy_predicated(
    dst: NkiTensor,
    src: Any,
    predicate: NkiTensor,
    reverse_pred: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "tensor_copy_predicated",
        "vector",
        dst=tile(dst, "tensor_copy_predicated: dst"),
        src=scalar(src, "tensor_copy_predicated: src"),
        predicate=tile(predicate, "tensor_copy_predicated: predicate"),
        reverse_pred=flag(reverse_pred),
    )


@documented
def memset(
    dst: NkiTensor, value: Any, engine: Engine = Engine.unknown, name: str | None = None
) -> NkiInstruction:
    if isinstance(dst, NkiTensor) and dst.dtype.name.endswith("_x4"):
        if value != 0:
            raise NkiValidationError(f"memset.value: {value!r}, packed {dst.dtype} takes 0 only")
        dst = dst.view("uint16" if dst.dtype.itemsize == 2 else "uint32")
    return emit(
        "memset",
        engine_of("memset", engine),
        dst=tile(dst, "memset: dst"),
        value=scalar(value, "memset: value"),
    )


@documented
def reciprocal(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> NkiInstruction:
    return emit(
        "reciprocal",
        "vector",
        dst=tile(dst, "reciprocal: dst"),
        data=tile(data, "reciprocal: data"),
    )


@documented
def bn_stats(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> NkiInstruction:
    return emit(
        "bn_stats", "vector", dst=tile(dst, "bn_stats: dst"), data=tile(data, "bn_stats: data")
    )


@documented
def bn_aggr(dst: NkiTensor, data: NkiTensor, name: str | None = None) -> NkiInstruction:
    return emit(
        "bn_aggr", "vector", dst=tile(dst, "bn_aggr: dst"), data=tile(data, "bn_aggr: data")
    )


@documented
def max8(dst: NkiTensor, src: NkiTensor, name: str | None = None) -> NkiInstruction:
    return emit("max8", "vector", dst=tile(dst, "max8: dst"), src=tile(src, "max8: src"))


@documented
def nc_find_index8(
    dst: NkiTensor, data: NkiTensor, vals: NkiTensor, name: str | None = None
) -> NkiInstruction:
    return emit(
        "nc_find_index8",
        "vector",
        dst=tile(dst, "nc_find_index8: dst"),
        data=tile(data, "nc_find_index8: data"),
        vals=tile(vals, "nc_find_index8: vals"),
    )
