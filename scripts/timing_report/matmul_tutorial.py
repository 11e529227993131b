"""The fp32 matmul tutorial: C[4096, 8192] = A[4096, 8192] B[8192, 8192] on one core of trn2."""

from __future__ import annotations

from typing import Any

import nki.isa as nisa
import nki.language as nl

from timing_report.figures import Row, duration_us, psum, sbuf
from timing_report.traces import TUTORIAL

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
