"""Microscaling formats: quantisation on the Vector engine, multiplication on the Tensor engine."""

from __future__ import annotations

from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, tile
from nki.isa._tensor_engine import accumulates, tiling

__all__ = ["nc_matmul_mx", "quantize_mx"]


@documented
def quantize_mx(
    dst: NkiTensor, src: NkiTensor, dst_scale: NkiTensor, name: str | None = None
) -> NkiInstruction:
    return emit(
        "quantize_mx",
        "vector",
        dst=tile(dst, "quantize_mx: dst"),
        src=tile(src, "quantize_mx: src"),
        dst_scale=tile(dst_scale, "quantize_mx: dst_scale"),
    )


@documented
def nc_matmul_mx(
    dst: NkiTensor,
    stationary: NkiTensor,
    moving: NkiTensor,
    stationary_scale: NkiTensor,
    moving_scale: NkiTensor,
    tile_position: tuple[int, ...] | None = None,
    tile_size: tuple[int, ...] | None = None,
    accumulate: bool | None = None,
    name: str | None = None,
) -> NkiInstruction:
    if accumulate is None:
        accumulate = accumulates(dst, "nc_matmul_mx")
    return emit(
        "nc_matmul_mx",
        "tensor",
        dst=tile(dst, "nc_matmul_mx: dst"),
        stationary=tile(stationary, "nc_matmul_mx: stationary"),
        moving=tile(moving, "nc_matmul_mx: moving"),
        stationary_scale=tile(stationary_scale, "nc_matmul_mx: stationary_scale"),
        moving_scale=tile(moving_scale, "nc_matmul_mx: moving_scale"),
        accumulate=int(accumulate),
        **tiling(tile_position, tile_size),
    )
