"""Instructions of the Scalar engine."""

from __future__ import annotations

from typing import Any

from nki._ops import activation_name, alu_name
from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, flag, scalar, tile
from nki.isa._enums import reduce_cmd as ReduceCmd

__all__ = ["activate2", "activation", "activation_reduce"]


def _scale(value: Any, what: str) -> Any:
    return None if isinstance(value, (int, float)) and value == 1 else scalar(value, what)


@documented
def activation(
    dst: NkiTensor,
    op: Any,
    data: NkiTensor,
    bias: Any = None,
    scale: Any = 1.0,
    reduce_op: Any = None,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: ReduceCmd = ReduceCmd.idle,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "activation",
        "scalar",
        dst=tile(dst, "activation: dst"),
        op=activation_name(op),
        data=tile(data, "activation: data"),
        bias=scalar(bias, "activation: bias"),
        scale=_scale(scale, "activation: scale"),
        reduce_op=alu_name(reduce_op),
        reduce_res=tile(reduce_res, "activation: reduce_res"),
        reduce_cmd=int(reduce_cmd) or None,
    )


@documented
def activation_reduce(
    dst: NkiTensor,
    op: Any,
    data: NkiTensor,
    reduce_op: Any,
    reduce_res: NkiTensor,
    bias: Any = None,
    scale: Any = 1.0,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "activation_reduce",
        "scalar",
        dst=tile(dst, "activation_reduce: dst"),
        op=activation_name(op),
        data=tile(data, "activation_reduce: data"),
        reduce_op=alu_name(reduce_op),
        reduce_res=tile(reduce_res, "activation_reduce: reduce_res"),
        bias=scalar(bias, "activation_reduce: bias"),
        scale=_scale(scale, "activation_reduce: scale"),
    )


@documented
def activate2(
    dst: NkiTensor,
    op: Any,
    data: NkiTensor,
    imm0: Any,
    imm1: Any,
    op0: Any,
    op1: Any,
    relu_param: Any = 0.0,
    reverse0: bool = False,
    reverse1: bool = False,
    reduce_op: Any = None,
    reduce_res: NkiTensor | None = None,
    reduce_cmd: ReduceCmd = ReduceCmd.idle,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "activate2",
        "scalar",
        dst=tile(dst, "activate2: dst"),
        op=activation_name(op),
        data=tile(data, "activate2: data"),
        imm0=scalar(0 if imm0 is None else imm0, "activate2: imm0"),
        imm1=scalar(0 if imm1 is None else imm1, "activate2: imm1"),
        op0=alu_name(op0) or "bypass",
        op1=alu_name(op1) or "bypass",
        relu_param=scalar(relu_param, "activate2: relu_param"),
        reverse0=flag(reverse0),
        reverse1=flag(reverse1),
        reduce_op=alu_name(reduce_op),
        reduce_res=tile(reduce_res, "activate2: reduce_res"),
        reduce_cmd=int(reduce_cmd) or None,
    )
