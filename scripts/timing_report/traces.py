"""Times read off published traces and charts of trn2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nki.isa as nisa
import nki.language as nl

from timing_report.figures import CLOCK_GHZ, Row, cost_ns, duration_us, psum, sbuf

LIBRARY = "NKI library, cost model of its top-k"
TUTORIAL = "trn2 kernel optimisation tutorial, profiler trace"
OVERVIEW = "DMA overview, profiler trace"
BANDWIDTH = "DMA bandwidth guide, chart"


def traces() -> list[Row]:
    def ns(body: Callable[[], Any], mnemonic: str) -> float:
        return cost_ns(body, mnemonic)[0]

    def exponential(n: int) -> float:
        # From its begin to its result: nothing else runs.
        return duration_us(lambda: nisa.activation(sbuf(n), nl.exp, sbuf(n))) * 1e3

    def one_engine(x: Any) -> None:
        nisa.dma_copy(nl.ndarray((4, 4096), nl.bfloat16), x)

    matmul = ns(lambda: nisa.nc_matmul(psum(512), sbuf(128), sbuf(512)), "nc_matmul")
    drained = duration_us(lambda: nisa.nc_matmul(psum(512), sbuf(128), sbuf(512))) * 1e3
    return [
        Row("fp32 nc_matmul 128 x 128 x 512, ns", 859, matmul, TUTORIAL),
        Row("its result after its end, ns", 167, drained - matmul, TUTORIAL),
        Row(
            "PSUM to SBUF copy of fp32 [128, 512], ns",
            690,
            ns(lambda: nisa.tensor_copy(sbuf(512), psum(512)), "tensor_copy"),
            TUTORIAL,
        ),
        Row(
            "SBUF to SBUF copy of fp32 [128, 512], ns",
            420,
            ns(lambda: nisa.tensor_copy(sbuf(512), sbuf(512)), "tensor_copy"),
            TUTORIAL,
        ),
        Row(
            "memset of fp32 [128, 512], ns",
            420,
            ns(lambda: nisa.memset(sbuf(512), 0.0), "memset"),
            TUTORIAL,
        ),
        Row("exp of [128, 4096], to its result, ns", 3710, exponential(4096), OVERVIEW),
        Row("exp of [128, 128], to its result, ns", 396, exponential(128), OVERVIEW),
        Row(
            "max8 of [128, 4096], cycles",
            4096 + 144,
            ns(lambda: nisa.max8(sbuf(8), sbuf(4096)), "max8") * CLOCK_GHZ["vector"],
            LIBRARY,
        ),
        Row(
            "DMA of bf16 [4, 4096], trigger to a dependent instruction, ns",
            2740,
            1e3 * duration_us(one_engine, (4, 4096), dtype=nl.bfloat16) + 300,
            OVERVIEW,
        ),
    ]


PUBLISHED_CURVE = {
    64: 2.6,
    128: 5.0,
    256: 10.3,
    512: 20.6,
    1024: 42.2,
    2048: 81.3,
    4096: 96.6,
    8192: 98.3,
    16384: 99.0,
}


def bandwidth() -> list[Row]:
    """Relative bandwidth of [128, bytes] copies, back to back; 32 KiB per partition is 100 %."""

    def rate(nbytes: int) -> float:
        def body() -> None:
            x = nl.ndarray((128, nbytes), nl.uint8, nl.private_hbm)
            nisa.dma_copy(nl.ndarray((128, nbytes), nl.uint8), x)

        return nbytes / cost_ns(body, "dma_copy")[0]

    full = rate(32768)
    return [
        Row(f"{nbytes} bytes per partition, %", percent, 100 * rate(nbytes) / full, BANDWIDTH)
        for nbytes, percent in PUBLISHED_CURVE.items()
    ]
