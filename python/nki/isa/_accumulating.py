"""Instructions of the Vector engine that select or scan, with its accumulators."""

from __future__ import annotations

from typing import Any

import numpy as np

from nki._ops import OPS, alu_name
from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, flag, scalar, tile
from nki.isa._enums import reduce_cmd as ReduceCmd

__all__ = ["exponential", "range_select", "select_reduce", "tensor_scalar_cumulative"]

_FP32_MIN = float(np.finfo(np.float32).min)


@documented
def range_select(
    dst: NkiTensor,
    on_true_tile: NkiTensor,
    comp_op0: Any,
    comp_op1: Any,
    bound0: NkiTensor,
    bound1: NkiTensor,
    reduce_cmd: ReduceCmd = ReduceCmd.reset_reduce,
    reduce_res: NkiTensor | None = None,
    reduce_op: Any = OPS["maximum"],
    range_start: int = 0,
    on_false_value: float = _FP32_MIN,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "range_select",
        "vector",
        dst=tile(dst, "range_select: dst"),
        on_true_tile=tile(on_true_tile, "range_select: on_true_tile"),
        comp_op0=alu_name(comp_op0),
        comp_op1=alu_name(comp_op1),
        bound0=tile(bound0, "range_select: bound0"),
        bound1=tile(bound1, "range_select: bound1"),
        reduce_cmd=int(reduce_cmd),
        reduce_res=tile(reduce_res, "range_select: reduce_res"),
        reduce_op=alu_name(reduce_op),
        range_start=int(range_start),
        on_false_value=float(on_false_value),
    )


@documented
def select_reduce(
    dst: NkiTensor,
    predicate: NkiTensor,
    on_true: NkiTensor,
    on_false: Any,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: ReduceCmd = ReduceCmd.idle,
    reduce_op: Any = OPS["maximum"],
    reverse_pred: bool = False,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "select_reduce",
        "vector",
        dst=tile(dst, "select_reduce: dst"),
        predicate=tile(predicate, "select_reduce: predicate"),
        on_true=tile(on_true, "select_reduce: on_true"),
        on_false=scalar(on_false, "select_reduce: on_false"),
        reduce_res=tile(reduce_res, "select_reduce: reduce_res"),
        reduce_cmd=int(reduce_cmd),
        reduce_op=alu_name(reduce_op),
        reverse_pred=flag(reverse_pred),
    )


@documented
def exponential(
    dst: NkiTensor,
    src: NkiTensor,
    max_value: Any = 0.0,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: ReduceCmd = ReduceCmd.idle,
    reduce_init: Any = 0.0,
    name: str | None = None,
) -> NkiInstruction:
    unset = isinstance(reduce_init, (int, float)) and reduce_init == 0
    if unset and reduce_cmd != ReduceCmd.load_reduce:
        reduce_init = None
    return emit(
        "exponential",
        "vector",
        dst=tile(dst, "exponential: dst"),
        src=tile(src, "exponential: src"),
        max_value=scalar(max_value, "exponential: max_value"),
        reduce_res=tile(reduce_res, "exponential: reduce_res"),
        reduce_cmd=int(reduce_cmd),
        reduce_init=scalar(reduce_init, "exponential: reduce_init"),
    )


@documented
def tensor_scalar_cumulative(
    dst: NkiTensor,
    src: NkiTensor,
    op0: Any,
    op1: Any,
    imm0: Any,
    imm1: Any = None,
    reduce_cmd: ReduceCmd = ReduceCmd.reset_reduce,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "tensor_scalar_cumulative",
        "vector",
        dst=tile(dst, "tensor_scalar_cumulative: dst"),
        src=tile(src, "tensor_scalar_cumulative: src"),
        op0=alu_name(op0),
        op1=alu_name(op1),
        imm0=scalar(0 if imm0 is None else imm0, "tensor_scalar_cumulative: imm0"),
        imm1=scalar(imm1, "tensor_scalar_cumulative: imm1"),
        reduce_cmd=int(reduce_cmd),
    )
