#!/usr/bin/env python3
"""The timing model against published figures: docs/reference/timing.md and its plot.

Three kinds of figures: cost formulas of single instructions, times read off published traces and
charts of trn2, and the fp32 matmul tutorial. Each row has its source. Nothing is executed: the
scoreboard walks the programs. Half of the traces' figures calibrated the model (src/isa/target.cpp
says which); the others are only reported.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nki.isa as nisa
import nki.language as nl
import numpy as np

import nki
from nki import _core

FORMULAS = "NKI reference of SDK 2.26, per-instruction cost"
LIBRARY = "NKI library, cost model of its top-k"
TUTORIAL = "trn2 kernel optimisation tutorial, profiler trace"
OVERVIEW = "DMA overview, profiler trace"
BANDWIDTH = "DMA bandwidth guide, chart"

CLOCK_GHZ = {"tensor": 2.4, "vector": 0.96, "scalar": 1.2, "gpsimd": 1.2}
VECTOR_FIXED = 144  # cycles: traces show 150 to 157 ns, the library's own model has N + 144
N = 2048

Tiles = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    """A published figure and the model's."""

    what: str
    published: float
    model: float
    source: str
    formula: str = ""

    @property
    def ratio(self) -> float:
        return self.model / self.published


def programs_of(body: Callable[[], None]) -> list[_core.Program]:
    def kernel() -> None:
        body()

    return list(nki.jit(kernel).trace().programs)


def cost_ns(body: Callable[[], None], mnemonic: str) -> tuple[float, str]:
    """Busy time and engine of the last instruction of that name."""
    (program,) = programs_of(body)
    found = [(ns, engine) for name, engine, ns in program.costs() if name == mnemonic]
    return found[-1]


def duration_us(
    body: Callable[..., None], *shapes: tuple[int, ...], dtype: Any = np.float32
) -> float:
    """Modelled time of a kernel on HBM tensors of these shapes; no data is needed."""

    def kernel() -> None:
        body(*[nl.ndarray(shape, dtype, nl.private_hbm) for shape in shapes])

    programs = list(nki.jit(kernel).trace().programs)
    return _core.Executable(programs, 0).duration_ps() / 1e6


# --- Formulas.


def sbuf(free: int, dtype: Any = nl.float32, partitions: int = 128) -> Any:
    return nl.ndarray((partitions, free), dtype)


def psum(free: int, dtype: Any = nl.float32, partitions: int = 128) -> Any:
    return nl.ndarray((partitions, free), dtype, nl.psum)


def formulas() -> list[Row]:
    """(mnemonic, formula, cycles without the Vector engine's fixed part, call)."""
    bf16, u32 = nl.bfloat16, nl.uint32
    add, one = nl.add, (128, 1)

    def scalar_tile() -> Any:
        return nl.ndarray(one, nl.float32)

    rows: list[tuple[str, str, float, Callable[[], Any]]] = [
        ("activation", "max(64, N)", N, lambda: nisa.activation(sbuf(N), nl.exp, sbuf(N))),
        (
            "activation_reduce",
            "max(64, N) + 64",
            N + 64,
            lambda: nisa.activation_reduce(sbuf(N), nl.exp, sbuf(N), add, scalar_tile()),
        ),
        ("tensor_copy", "max(64, N), from PSUM", N, lambda: nisa.tensor_copy(sbuf(N), psum(N))),
        (
            "tensor_scalar",
            "max(64, N), from PSUM",
            N,
            lambda: nisa.tensor_scalar(sbuf(N), psum(N), add, 1.0),
        ),
        (
            "tensor_scalar_reduce",
            "max(64, N) + 64",
            N + 64,
            lambda: nisa.tensor_scalar_reduce(sbuf(N), sbuf(N), add, 1.0, add, scalar_tile()),
        ),
        (
            "tensor_tensor",
            "2 N",
            2 * N,
            lambda: nisa.tensor_tensor(sbuf(N), sbuf(N), sbuf(N), add),
        ),
        (
            "tensor_tensor",
            "N, one input in PSUM",
            N,
            lambda: nisa.tensor_tensor(sbuf(N), psum(N), sbuf(N), add),
        ),
        (
            "tensor_tensor",
            "N, bf16",
            N,
            lambda: nisa.tensor_tensor(sbuf(N, bf16), sbuf(N, bf16), sbuf(N, bf16), add),
        ),
        (
            "scalar_tensor_tensor",
            "2 N",
            2 * N,
            lambda: nisa.scalar_tensor_tensor(
                sbuf(N), sbuf(N), nl.multiply, 2.0, nl.subtract, sbuf(N)
            ),
        ),
        (
            "scalar_tensor_tensor",
            "N, bf16",
            N,
            lambda: nisa.scalar_tensor_tensor(
                sbuf(N, bf16), sbuf(N, bf16), nl.multiply, 2.0, nl.subtract, sbuf(N, bf16)
            ),
        ),
        ("tensor_reduce", "N", N, lambda: nisa.tensor_reduce(scalar_tile(), add, sbuf(N), 1)),
        (
            "tensor_reduce",
            "N / 2, bf16 add",
            N / 2,
            lambda: nisa.tensor_reduce(nl.ndarray(one, bf16), add, sbuf(N, bf16), 1),
        ),
        (
            "tensor_tensor_scan",
            "2 N",
            2 * N,
            lambda: nisa.tensor_tensor_scan(sbuf(N), sbuf(N), sbuf(N), 0.0, nl.multiply, add),
        ),
        (
            "tensor_copy_predicated",
            "2 N",
            2 * N,
            lambda: nisa.tensor_copy_predicated(sbuf(N), sbuf(N), sbuf(N, u32)),
        ),
        (
            "tensor_copy_predicated",
            "N, source in PSUM",
            N,
            lambda: nisa.tensor_copy_predicated(sbuf(N), psum(N), sbuf(N, u32)),
        ),
        (
            "range_select",
            "max(64, N)",
            N,
            lambda: nisa.range_select(
                sbuf(N), sbuf(N), nl.less, nl.less, scalar_tile(), scalar_tile()
            ),
        ),
        ("dropout", "max(64, N)", N, lambda: nisa.dropout(sbuf(N), sbuf(N), 0.5)),
        (
            "nc_stream_shuffle",
            "max(64, N)",
            N,
            lambda: nisa.nc_stream_shuffle(sbuf(N), sbuf(N), [0] * 32),
        ),
        ("bn_stats", "max(64, N)", 512, lambda: nisa.bn_stats(sbuf(6), sbuf(512))),
        ("bn_aggr", "max(64, 13 N / 3)", 13 * 600 / 3, lambda: nisa.bn_aggr(sbuf(2), sbuf(600))),
        ("reciprocal", "max(64, 8 N)", 8 * N, lambda: nisa.reciprocal(sbuf(N), sbuf(N))),
        ("max8", "N", N, lambda: nisa.max8(sbuf(8), sbuf(N))),
        (
            "nc_find_index8",
            "N",
            N,
            lambda: nisa.nc_find_index8(sbuf(8, u32), sbuf(N), sbuf(8)),
        ),
        (
            "nc_match_replace8",
            "N (printed as min(64, N))",
            N,
            lambda: nisa.nc_match_replace8(sbuf(N), sbuf(N), sbuf(8), 0.0),
        ),
        ("memset", "max(64, N), to PSUM", N, lambda: nisa.memset(psum(N), 0.0)),
        (
            "nc_matmul",
            "max(min(64, M), N), bf16",
            512,
            lambda: nisa.nc_matmul(psum(512), sbuf(128, bf16), sbuf(512, bf16)),
        ),
        (
            "nc_matmul",
            "four times that, fp32",
            2048,
            lambda: nisa.nc_matmul(psum(512), sbuf(128), sbuf(512)),
        ),
        (
            "nc_transpose",
            "max(64, N), Vector",
            64,
            lambda: nisa.nc_transpose(sbuf(32, partitions=32), sbuf(32, partitions=32)),
        ),
        (
            "nc_transpose",
            "max(P, min(64, F)), Tensor, bf16",
            128,
            lambda: nisa.nc_transpose(psum(128, bf16), sbuf(128, bf16)),
        ),
        ("iota", "150 + N", 150 + N, lambda: nisa.iota(sbuf(N), [[1, N]])),
        (
            "affine_select",
            "150 + N",
            150 + N,
            lambda: nisa.affine_select(sbuf(N), [[1, N]], 1, sbuf(N), 0.0),
        ),
        (
            "local_gather",
            "150 + n e / C",
            150 + 16 * 64 * 4 / ((28 + 16) / 16 / min(4 / 4, 4)),
            lambda: nisa.local_gather(sbuf(16 * 64 * 4), sbuf(N), sbuf(64, nl.uint16), 4),
        ),
        (
            "topk",
            "4 n + K",
            4 * 2048 + 64,
            lambda: nisa.topk(sbuf(64, bf16), sbuf(64, u32), sbuf(128, bf16), 2048),
        ),
    ]
    found = []
    for mnemonic, formula, cycles, call in rows:
        ns, engine = cost_ns(call, mnemonic)
        fixed = VECTOR_FIXED if engine == "vector" else 0
        found.append(Row(mnemonic, cycles + fixed, ns * CLOCK_GHZ[engine], FORMULAS, formula))
    return found


# --- Traces of trn2.


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


# --- The fp32 matmul tutorial: C[4096, 8192] = A[4096, 8192] B[8192, 8192] on one core of trn2.

M, K, COLUMNS = 4096, 8192, 8192
MT, KT, NT = 128, 128, 512


def _evacuate(out: Any, acc: Any, m: Any, n: Any, buffer: Any) -> None:
    nisa.tensor_copy(buffer, acc)
    nisa.dma_copy(out[nl.ds(m, MT), nl.ds(n, NT)], buffer)


def naive(a: Any, b: Any, out: Any) -> None:
    """Both operands are loaded anew for every product."""
    lhs = [sbuf(MT) for _ in range(4)]
    rhs = [sbuf(NT) for _ in range(4)]
    acc, result = [psum(NT) for _ in range(2)], [sbuf(NT) for _ in range(2)]
    for m in nl.dynamic_range(0, M, MT):
        for n in nl.dynamic_range(0, COLUMNS, 2 * NT):
            for half in range(2):
                at = n + half * NT
                for first in (True, False):
                    # The first product of a sum overwrites; the rest, four at a time, add.
                    steps = range(4) if first else nl.dynamic_range(4 * KT, K, 4 * KT)
                    for k in [0] if first else steps:
                        for i in range(4):
                            nisa.dma_copy(lhs[i], a[nl.ds(k + i * KT, KT), nl.ds(m, MT)])
                            nisa.dma_copy(rhs[i], b[nl.ds(k + i * KT, KT), nl.ds(at, NT)])
                            nisa.nc_matmul(
                                acc[half], lhs[i], rhs[i], accumulate=not (first and i == 0)
                            )
                _evacuate(out, acc[half], m, at, result[half])


def hoisted(a: Any, b: Any, out: Any) -> None:
    """A's tiles of a row stay in SBUF, B's of a column are loaded for every row."""
    steps = K // KT
    lhs = [nl.ndarray((128, steps, MT), nl.float32) for _ in range(2)]
    rhs = [sbuf(NT) for _ in range(8)]
    acc, result = [psum(NT) for _ in range(2)], [sbuf(NT) for _ in range(2)]
    for m2 in nl.dynamic_range(0, M, 2 * MT):
        for row in range(2):
            m = m2 + row * MT
            for k in range(steps):
                nisa.dma_copy(lhs[row][:, k], a[k * KT : (k + 1) * KT, nl.ds(m, MT)])
        for row in range(2):
            m = m2 + row * MT
            for n in nl.dynamic_range(0, COLUMNS, 2 * NT):
                for half in range(2):
                    at = n + half * NT
                    for k in range(steps):
                        tile = rhs[k % 8]
                        nisa.dma_copy(tile, b[k * KT : (k + 1) * KT, nl.ds(at, NT)])
                        nisa.nc_matmul(acc[half], lhs[row][:, k], tile, accumulate=k > 0)
                    _evacuate(out, acc[half], m, at, result[half])


def blocked(a: Any, b: Any, out: Any) -> None:
    """32 tiles of C at a time, summed in SBUF over blocks of K whose loads run ahead."""
    block_k, block_m, block_n = 4, 16, 2
    lhs = [nl.ndarray((128, block_k, block_m * MT), nl.float32) for _ in range(2)]
    rhs = [nl.ndarray((128, block_k, block_n * NT), nl.float32) for _ in range(2)]
    total = nl.ndarray((128, block_m, block_n * NT), nl.float32)
    acc = [psum(NT) for _ in range(4)]

    def load(buffer: int, k: Any, m: Any, n: Any) -> None:
        for i in range(block_k):
            rows = nl.ds(k + i * KT, KT)
            nisa.dma_copy(lhs[buffer][:, i], a[rows, nl.ds(m, block_m * MT)])
            nisa.dma_copy(rhs[buffer][:, i], b[rows, nl.ds(n, block_n * NT)])

    def multiply(buffer: int, first: bool) -> None:
        for mi in range(block_m):
            for ni in range(block_n):
                bank = acc[(mi * block_n + ni) % 4]
                columns = slice(ni * NT, (ni + 1) * NT)
                for i in range(block_k):
                    left = lhs[buffer][:, i, mi * MT : (mi + 1) * MT]
                    nisa.nc_matmul(bank, left, rhs[buffer][:, i, columns], accumulate=i > 0)
                part = total[:, mi, columns]
                if first:
                    nisa.tensor_copy(part, bank)
                else:
                    nisa.tensor_tensor(part, part, bank, nl.add)

    step = block_k * KT
    for n in nl.dynamic_range(0, COLUMNS, block_n * NT):
        for m in nl.dynamic_range(0, M, block_m * MT):
            load(0, 0, m, n)
            load(1, step, m, n)
            multiply(0, True)
            for k in nl.dynamic_range(2 * step, K, 2 * step):
                load(0, k, m, n)
                multiply(1, False)
                load(1, k + step, m, n)
                multiply(0, False)
            multiply(1, False)
            for mi in range(block_m):
                nisa.dma_copy(out[nl.ds(m + mi * MT, MT), nl.ds(n, block_n * NT)], total[:, mi])


def tutorial() -> list[Row]:
    shapes = ((K, M), (K, COLUMNS), (M, COLUMNS))
    return [
        Row("operands loaded per product, ms", 39.89, duration_us(naive, *shapes) / 1e3, TUTORIAL),
        Row("loads hoisted, ms", 28.2, duration_us(hoisted, *shapes) / 1e3, TUTORIAL),
        Row("blocked and tuned, ms", 28.30, duration_us(blocked, *shapes) / 1e3, TUTORIAL),
    ]


# --- The page.


def sections() -> dict[str, list[Row]]:
    return {
        "Cost formulas (cycles; N = 2048 where the instruction allows)": formulas(),
        "Traces of trn2": traces(),
        "DMA bandwidth by row length": bandwidth(),
        "fp32 matmul tutorial, 4096 x 8192 x 8192 on one core of trn2": tutorial(),
    }


def number(value: float) -> str:
    return f"{value:.4g}" if value < 1e4 else f"{value:.0f}"


def table(rows: list[Row]) -> str:
    lines = ["| | published | model | ratio | source |", "|---|---|---|---|---|"]
    for row in rows:
        what = f"{row.what}: {row.formula}" if row.formula else row.what
        lines.append(
            f"| {what} | {number(row.published)} | {number(row.model)} | {row.ratio:.2f} "
            f"| {row.source} |"
        )
    return "\n".join(lines)


def page(found: dict[str, list[Row]]) -> str:
    text = (
        "<!-- Generated by scripts/timing_report.py from the model; edit there, run "
        "`make generate`. -->\n# Modelled time against published figures\n\n"
        "What the scoreboard says on trn2 beside what was published. Formulas are of the engine's "
        "busy time; the\nVector engine's fixed 144 cycles, which two other sources agree on, are "
        "added to them. The parameters and\ntheir grades: `src/isa/target.cpp`.\n\n"
        "![model against published](timing.svg)\n"
    )
    for title, rows in found.items():
        worst = max(rows, key=lambda row: abs(math.log(row.ratio)))
        text += f"\n## {title}\n\n{table(rows)}\n\nFurthest off: {worst.what}, {worst.ratio:.2f}.\n"
    return text


def plot(found: dict[str, list[Row]]) -> str:
    """Every row as a point: published across, model up, both axes logarithmic, 10 % band."""
    rows = [row for section in found.values() for row in section]
    low = 10 ** math.floor(math.log10(min(min(r.published, r.model) for r in rows)))
    high = 10 ** math.ceil(math.log10(max(max(r.published, r.model) for r in rows)))
    size, left, colours = 420, 60, ["#1b6ca8", "#c0392b", "#27834a", "#8e44ad"]

    def at(value: float) -> float:
        return size * math.log10(value / low) / math.log10(high / low)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {size + 330} {size + 70}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{size + 330}" height="{size + 70}" fill="white"/>',
        f'<g transform="translate({left},{size + 20})">',
        f'<rect y="{-size}" width="{size}" height="{size}" fill="none" stroke="#888"/>',
    ]
    band = at(low * 1.1)
    parts.append(
        f'<polygon points="0,{-band:.1f} {size - band:.1f},{-size} {size},{-size} '
        f'{size},{band - size:.1f} {band:.1f},0 0,0" fill="#eee"/>'
    )
    parts.append(f'<line x1="0" y1="0" x2="{size}" y2="{-size}" stroke="#aaa"/>')
    decade = low
    while decade <= high:
        x = at(decade)
        parts.append(f'<text x="{x:.1f}" y="16" text-anchor="middle">{decade:g}</text>')
        parts.append(f'<text x="-6" y="{4 - x:.1f}" text-anchor="end">{decade:g}</text>')
        decade *= 10
    for colour, (title, section) in zip(colours, found.items(), strict=True):
        parts += [
            f'<circle cx="{at(r.published):.1f}" cy="{-at(r.model):.1f}" r="3.5" fill="{colour}" '
            f'fill-opacity="0.7"><title>{r.what}</title></circle>'
            for r in section
        ]
        line = -size + 14 + 18 * list(found).index(title)
        parts.append(f'<circle cx="{size + 14}" cy="{line - 4}" r="4" fill="{colour}"/>')
        parts.append(
            f'<text x="{size + 24}" y="{line}">{title.split(" (")[0].split(",")[0]}</text>'
        )
    parts.append(f'<text x="{size / 2}" y="34" text-anchor="middle">published</text>')
    parts.append(f'<text x="{size + 14}" y="{-size + 100}">grey band: within 10 %</text>')
    turned = f"translate(-44,{-size / 2}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">model</text>')
    return "\n".join([*parts, "</g>", "</svg>", ""])


def pages() -> dict[str, str]:
    found = sections()
    return {"docs/reference/timing.md": page(found), "docs/reference/timing.svg": plot(found)}


if __name__ == "__main__":
    print(page(sections()))
