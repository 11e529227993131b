"""Random numbers: generators of the Vector and GpSimd engines."""

from __future__ import annotations

from typing import Any

from nki._tensor import NkiTensor
from nki.isa._emit import NkiInstruction, documented, emit, engine_of, scalar, tile
from nki.isa._enums import engine as Engine

__all__ = ["dropout", "rand2", "rand_get_state", "rand_set_state", "rng", "set_rng_seed"]


@documented
def rng(dst: NkiTensor, engine: Engine = Engine.unknown, name: str | None = None) -> NkiInstruction:
    return emit("rng", engine_of("rng", engine), dst=tile(dst, "rng: dst"))


@documented
def rand2(dst: NkiTensor, min: Any, max: Any, name: str | None = None) -> NkiInstruction:
    return emit(
        "rand2",
        "vector",
        dst=tile(dst, "rand2: dst"),
        min=scalar(min, "rand2: min"),
        max=scalar(max, "rand2: max"),
    )


@documented
def set_rng_seed(src_seeds: NkiTensor, name: str | None = None) -> NkiInstruction:
    return emit("set_rng_seed", "vector", src_seeds=tile(src_seeds, "set_rng_seed: src_seeds"))


@documented
def rand_set_state(
    src_seeds: NkiTensor, engine: Engine = Engine.unknown, name: str | None = None
) -> NkiInstruction:
    return emit(
        "rand_set_state",
        engine_of("rand_set_state", engine, "gpsimd"),
        src_seeds=tile(src_seeds, "rand_set_state: src_seeds"),
    )


@documented
def rand_get_state(
    dst: NkiTensor, engine: Engine = Engine.unknown, name: str | None = None
) -> NkiInstruction:
    return emit(
        "rand_get_state",
        engine_of("rand_get_state", engine, "gpsimd"),
        dst=tile(dst, "rand_get_state: dst"),
    )


@documented
def dropout(dst: NkiTensor, data: NkiTensor, prob: Any, name: str | None = None) -> NkiInstruction:
    return emit(
        "dropout",
        "vector",
        dst=tile(dst, "dropout: dst"),
        data=tile(data, "dropout: data"),
        prob=scalar(prob, "dropout: prob"),
    )
