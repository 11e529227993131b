"""Instructions of the GpSimd engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from nki._ops import OPS, alu_name
from nki._scalar import as_affine
from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, tile

__all__ = ["affine_select", "iota", "tensor_partition_reduce"]


def _flat(pattern: Sequence[Sequence[int]]) -> list[int]:
    return [int(number) for pair in pattern for number in pair]


@documented
def iota(
    dst: NkiTensor,
    pattern: Sequence[Sequence[int]],
    offset: Any = 0,
    channel_multiplier: int = 0,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "iota",
        "gpsimd",
        dst=tile(dst, "iota: dst"),
        pattern=_flat(pattern),
        offset=as_affine(offset),
        channel_multiplier=int(channel_multiplier),
    )


@documented
def affine_select(
    dst: NkiTensor,
    pattern: Sequence[Sequence[int]],
    channel_multiplier: int,
    on_true_tile: NkiTensor,
    on_false_value: float,
    cmp_op: Any = OPS["equal"],
    offset: Any = 0,
    name: str | None = None,
) -> NkiInstruction:
    return emit(
        "affine_select",
        "gpsimd",
        dst=tile(dst, "affine_select: dst"),
        pattern=_flat(pattern),
        channel_multiplier=int(channel_multiplier),
        on_true_tile=tile(on_true_tile, "affine_select: on_true_tile"),
        on_false_value=float(on_false_value),
        cmp_op=alu_name(cmp_op),
        offset=as_affine(offset),
    )


@documented
def tensor_partition_reduce(
    dst: NkiTensor, op: Any, data: NkiTensor, name: str | None = None
) -> NkiInstruction:
    return emit(
        "tensor_partition_reduce",
        "gpsimd",
        dst=tile(dst, "tensor_partition_reduce: dst"),
        op=alu_name(op),
        data=tile(data, "tensor_partition_reduce: data"),
    )
