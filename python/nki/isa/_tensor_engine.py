"""Instructions of the Tensor engine."""

from __future__ import annotations

from typing import Any

from nki._errors import NkiValidationError
from nki._strides import merge
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


def tiling(position: tuple[int, ...] | None, size: tuple[int, ...] | None) -> dict[str, Any]:
    """The operands that name a tile of the array; () and None say nothing."""
    return {
        "tile_position": [int(at) for at in position] if position else None,
        "tile_size": [int(extent) for extent in size] if size else None,
    }


def halves(value: NkiTensor, what: str) -> Any:
    """double_row's [128, 2, F]: the dimension of the two halves is not merged with the others."""
    tile(value, what)
    if value.ndim < 3 or value.shape[1] != 2:
        raise NkiValidationError(
            f"nc_matmul.perf_mode: {what} is {list(value.shape)}; double_row takes [128, 2, F]"
        )
    walk = list(zip(value._strides, value.shape, strict=True))
    return value.operand([walk[1], *(merge(walk[2:]) or [(1, 1)])])


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
    if accumulate is None:
        accumulate = False if is_transpose else accumulates(dst)
    double_row = matmul_perf_mode(perf_mode or "none") is matmul_perf_mode.double_row
    operand = halves if double_row else tile
    return emit(
        "nc_matmul",
        "tensor",
        dst=tile(dst, "nc_matmul: dst"),
        stationary=operand(stationary, "nc_matmul: stationary"),
        moving=operand(moving, "nc_matmul: moving"),
        accumulate=int(accumulate),
        is_transpose=flag(is_transpose),
        perf_mode=flag(double_row),
        is_stationary_onezero=flag(is_stationary_onezero),
        is_moving_onezero=flag(is_moving_onezero),
        **tiling(tile_position, tile_size),
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
