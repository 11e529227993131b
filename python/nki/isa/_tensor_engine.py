"""Instructions of the Tensor engine."""

from __future__ import annotations

from typing import Any

from nki._errors import NkiValidationError
from nki._tensor import NkiTensor
from nki._trace import current
from nki.isa._emit import NkiInstruction, documented, emit, engine_of, flag, tile
from nki.isa._enums import engine as Engine
from nki.isa._enums import matmul_perf_mode

__all__ = ["nc_matmul", "nc_transpose"]


def accumulates(dst: NkiTensor, mnemonic: str = "nc_matmul") -> bool:
    """accumulate=None: the first matmul into a place of PSUM overwrites, later ones add."""
    storage = dst._storage
    depth = current().memories["psum"].loop_depth
    if depth > storage.loop_depth:
        raise NkiValidationError(
            f"{mnemonic}.accumulate: say accumulate=True or False inside a hardware loop when dst "
            "was allocated outside it"
        )
    place = (dst._partition, dst.shape, dst._strides, str(dst._offset))
    begun = place in storage.accumulated
    storage.accumulated.add(place)
    return begun


def check_tiling(
    mnemonic: str,
    tile_position: tuple[int, ...] | None,
    tile_size: tuple[int, ...] | None,
    *,
    columns: bool = True,
) -> None:
    """Tiles of the array: they change when matmuls run together, not what they compute."""
    if bool(tile_position) != bool(tile_size):
        raise NkiValidationError(f"{mnemonic}.tiling: tile_position and tile_size go together")
    if not tile_size:
        return
    for size, at, what in zip(tile_size, tile_position or (), ("row", "column"), strict=True):
        sizes = (32, 64, 128) if what == "row" or columns else (128,)
        if size not in sizes or at % size or at + size > 128:
            raise NkiValidationError(
                f"{mnemonic}.tiling: a {what} tile of {size} at {at}; sizes are "
                f"{', '.join(map(str, sizes))}, positions multiples of the size"
            )


@documented
def nc_matmul(
    dst: NkiTensor,
    stationary: NkiTensor,
    moving: NkiTensor,
    is_stationary_onezero: bool = False,
    is_moving_onezero: bool = False,
    is_transpose: bool = False,
    accumulate: bool | None = None,
    tile_position: tuple[int, ...] | None = (),
    tile_size: tuple[int, ...] | None = (),
    perf_mode: Any = matmul_perf_mode.none,
    name: str | None = None,
) -> NkiInstruction:
    check_tiling("nc_matmul", tile_position, tile_size)
    if accumulate is None:
        accumulate = False if is_transpose else accumulates(dst)
    double_row = getattr(perf_mode, "value", perf_mode) == "double_row"
    return emit(
        "nc_matmul",
        "tensor",
        dst=tile(dst, "nc_matmul: dst"),
        stationary=tile(stationary, "nc_matmul: stationary"),
        moving=tile(moving, "nc_matmul: moving"),
        accumulate=int(accumulate),
        is_transpose=flag(is_transpose),
        perf_mode=flag(double_row),
    )


@documented
def nc_transpose(
    dst: NkiTensor, data: NkiTensor, engine: Engine = Engine.unknown, name: str | None = None
) -> NkiInstruction:
    default = "tensor" if isinstance(dst, NkiTensor) and dst.buffer == "psum" else "vector"
    return emit(
        "nc_transpose",
        engine_of("nc_transpose", engine, default),
        dst=tile(dst, "nc_transpose: dst"),
        data=tile(data, "nc_transpose: data"),
    )
