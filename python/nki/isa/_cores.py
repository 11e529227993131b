"""Between the two physical cores of a logical core (kernel[2])."""

from __future__ import annotations

from collections.abc import Sequence

from nki import _core
from nki._errors import NkiValidationError
from nki._scalar import as_affine
from nki._strides import merge
from nki._tensor import NkiTensor
from nki._trace import current
from nki.isa._dma import written
from nki.isa._emit import NkiInstruction, documented, emit, engine_of, tile
from nki.isa._enums import dma_engine as DmaEngine
from nki.isa._enums import engine as Engine

__all__ = ["core_barrier", "sendrecv"]


def _require_two(mnemonic: str) -> None:
    if current().grid != 2:
        raise NkiValidationError(
            f"{mnemonic}.lnc: needs a logical core of two physical ones; launch the kernel as "
            "kernel[2]"
        )


@documented
def sendrecv(
    src: NkiTensor,
    dst: NkiTensor,
    send_to_rank: int,
    recv_from_rank: int,
    pipe_id: int,
    dma_engine: DmaEngine = DmaEngine.dma,
    name: str | None = None,
) -> NkiInstruction:
    _require_two("sendrecv")
    return emit(
        "sendrecv",
        "dma",
        src=tile(src, "sendrecv: src"),
        dst=tile(dst, "sendrecv: dst"),
        send_to_rank=int(send_to_rank),
        recv_from_rank=int(recv_from_rank),
        pipe_id=int(pipe_id),
        dma_engine=int(dma_engine),
    )


@documented
def core_barrier(
    data: NkiTensor,
    cores: Sequence[int],
    engine: Engine = Engine.gpsimd,
    name: str | None = None,
) -> NkiInstruction:
    _require_two("core_barrier")
    if not isinstance(data, NkiTensor) or (data.buffer != "shared_hbm" and data.buffer != "hbm"):
        raise NkiValidationError(
            f"core_barrier.data: {data!r}; it is a tensor that both cores see: in nl.shared_hbm "
            "or an argument"
        )
    written(data)
    walk = merge(list(zip(data._strides, data.shape, strict=True))) or [(1, 1)]
    offset = as_affine(data._offset).times(data.dtype.itemsize)
    if data.is_indirect():
        raise NkiValidationError("core_barrier.index: the barrier's data goes by no indices")
    pattern = _core.hbm(data.dtype.number, data._storage.tensor, offset, 1, 0, walk)
    return emit(
        "core_barrier",
        engine_of("core_barrier", engine, "gpsimd"),
        data=pattern,
        cores=[int(core) for core in cores],
    )
