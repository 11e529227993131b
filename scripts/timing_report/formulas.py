"""Cost formulas of single instructions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import nki.isa as nisa
import nki.language as nl

from timing_report.figures import CLOCK_GHZ, Row, cost_ns, psum, sbuf

FORMULAS = "NKI reference of SDK 2.26, per-instruction cost"
VECTOR_FIXED = 144  # cycles: traces show 150 to 157 ns, the library's own model has N + 144
SIZES = (1, 8, 64, 512, 2048)  # N, where an instruction takes that many

# mnemonic, formula, cycles without the Vector engine's fixed part, call
Formula = tuple[str, str, float, Callable[[], Any]]


def formulas_at(n: int) -> list[Formula]:
    bf16, u32 = nl.bfloat16, nl.uint32
    add, one = nl.add, (128, 1)

    def scalar_tile() -> Any:
        return nl.ndarray(one, nl.float32)

    least, eight = max(64, n), max(8, n)
    stats, triples = min(n, 512), 3 * min(n, 200)
    return [
        ("activation", "max(64, N)", least, lambda: nisa.activation(sbuf(n), nl.exp, sbuf(n))),
        (
            "activation_reduce",
            "max(64, N) + 64",
            least + 64,
            lambda: nisa.activation_reduce(sbuf(n), nl.exp, sbuf(n), add, scalar_tile()),
        ),
        ("tensor_copy", "max(64, N), from PSUM", least, lambda: nisa.tensor_copy(sbuf(n), psum(n))),
        (
            "tensor_scalar",
            "max(64, N), from PSUM",
            least,
            lambda: nisa.tensor_scalar(sbuf(n), psum(n), add, 1.0),
        ),
        (
            "tensor_scalar_reduce",
            "max(64, N) + 64",
            least + 64,
            lambda: nisa.tensor_scalar_reduce(sbuf(n), sbuf(n), add, 1.0, add, scalar_tile()),
        ),
        (
            "tensor_tensor",
            "2 N",
            2 * n,
            lambda: nisa.tensor_tensor(sbuf(n), sbuf(n), sbuf(n), add),
        ),
        (
            "tensor_tensor",
            "N, one input in PSUM",
            n,
            lambda: nisa.tensor_tensor(sbuf(n), psum(n), sbuf(n), add),
        ),
        (
            "tensor_tensor",
            "N, bf16",
            n,
            lambda: nisa.tensor_tensor(sbuf(n, bf16), sbuf(n, bf16), sbuf(n, bf16), add),
        ),
        (
            "scalar_tensor_tensor",
            "2 N",
            2 * n,
            lambda: nisa.scalar_tensor_tensor(
                sbuf(n), sbuf(n), nl.multiply, 2.0, nl.subtract, sbuf(n)
            ),
        ),
        (
            "scalar_tensor_tensor",
            "N, bf16 and N even, else 2 N",
            n if n % 2 == 0 else 2 * n,
            lambda: nisa.scalar_tensor_tensor(
                sbuf(n, bf16), sbuf(n, bf16), nl.multiply, 2.0, nl.subtract, sbuf(n, bf16)
            ),
        ),
        ("tensor_reduce", "N", n, lambda: nisa.tensor_reduce(scalar_tile(), add, sbuf(n), 1)),
        (
            "tensor_reduce",
            "N / 2, bf16 add",
            n / 2,
            lambda: nisa.tensor_reduce(nl.ndarray(one, bf16), add, sbuf(n, bf16), 1),
        ),
        (
            "tensor_tensor_scan",
            "2 N",
            2 * n,
            lambda: nisa.tensor_tensor_scan(sbuf(n), sbuf(n), sbuf(n), 0.0, nl.multiply, add),
        ),
        (
            "tensor_copy_predicated",
            "2 N",
            2 * n,
            lambda: nisa.tensor_copy_predicated(sbuf(n), sbuf(n), sbuf(n, u32)),
        ),
        (
            "tensor_copy_predicated",
            "N, source in PSUM",
            n,
            lambda: nisa.tensor_copy_predicated(sbuf(n), psum(n), sbuf(n, u32)),
        ),
        (
            "range_select",
            "max(64, N)",
            least,
            lambda: nisa.range_select(
                sbuf(n), sbuf(n), nl.less, nl.less, scalar_tile(), scalar_tile()
            ),
        ),
        ("dropout", "max(64, N)", least, lambda: nisa.dropout(sbuf(n), sbuf(n), 0.5)),
        (
            "nc_stream_shuffle",
            "max(64, N)",
            least,
            lambda: nisa.nc_stream_shuffle(sbuf(n), sbuf(n), [0] * 32),
        ),
        ("bn_stats", "max(64, N)", max(64, stats), lambda: nisa.bn_stats(sbuf(6), sbuf(stats))),
        (
            "bn_aggr",
            "max(64, 13 N / 3)",
            max(64, 13 * triples / 3),
            lambda: nisa.bn_aggr(sbuf(2), sbuf(triples)),
        ),
        ("reciprocal", "max(64, 8 N)", max(64, 8 * n), lambda: nisa.reciprocal(sbuf(n), sbuf(n))),
        ("max8", "N", eight, lambda: nisa.max8(sbuf(8), sbuf(eight))),
        (
            "nc_find_index8",
            "N",
            eight,
            lambda: nisa.nc_find_index8(sbuf(8, u32), sbuf(eight), sbuf(8)),
        ),
        (
            "nc_match_replace8",
            "max(64, N) (printed as min)",
            max(64, eight),
            lambda: nisa.nc_match_replace8(sbuf(eight), sbuf(eight), sbuf(8), 0.0),
        ),
        (
            "memset",
            "max(64, N / 2), 16-bit zeros",
            max(64, n / 2),
            lambda: nisa.memset(psum(n, bf16), 0.0),
        ),
        (
            "activation",
            "max(64, N), reciprocal",
            least,
            lambda: nisa.activation(sbuf(n), nl.reciprocal, sbuf(n)),
        ),
        (
            "select_reduce",
            "max(64, N)",
            least,
            lambda: nisa.select_reduce(sbuf(n), sbuf(n, nl.uint8), sbuf(n), 0.0),
        ),
        ("memset", "max(64, N), to PSUM", least, lambda: nisa.memset(psum(n), 0.0)),
        (
            "nc_matmul",
            "max(min(64, M), N), bf16",
            max(64, stats),
            lambda: nisa.nc_matmul(psum(stats), sbuf(128, bf16), sbuf(stats, bf16)),
        ),
        (
            "nc_matmul",
            "four times that, fp32",
            4 * max(64, stats),
            lambda: nisa.nc_matmul(psum(stats), sbuf(128), sbuf(stats)),
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
        ("iota", "150 + N", 150 + n, lambda: nisa.iota(sbuf(n), [[1, n]])),
        (
            "affine_select",
            "150 + N",
            150 + n,
            lambda: nisa.affine_select(sbuf(n), [[1, n]], 1, sbuf(n), 0.0),
        ),
        (
            "local_gather",
            "150 + n e / C",
            150 + 16 * 64 * 4 / ((28 + 16) / 16 / min(4 / 4, 4)),
            lambda: nisa.local_gather(sbuf(16 * 64 * 4), sbuf(2048), sbuf(64, nl.uint16), 4),
        ),
        (
            "topk",
            "4 n + K",
            4 * 2048 + 64,
            lambda: nisa.topk(sbuf(64, bf16), sbuf(64, u32), sbuf(128, bf16), 2048),
        ),
    ]


def formulas() -> list[Row]:
    """Each formula at the N where the model is furthest off."""
    worst: dict[tuple[str, str], Row] = {}
    for n in SIZES:
        for mnemonic, formula, cycles, call in formulas_at(n):
            ns, engine = cost_ns(call, mnemonic)
            fixed = VECTOR_FIXED if engine == "vector" else 0
            said = f"{formula} (N = {n})"
            row = Row(mnemonic, cycles + fixed, ns * CLOCK_GHZ[engine], FORMULAS, said)
            other = worst.setdefault((mnemonic, formula), row)
            if abs(math.log(row.ratio)) > abs(math.log(other.ratio)) + 1e-6:
                worst[mnemonic, formula] = row
    return list(worst.values())
