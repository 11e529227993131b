"""Cost formulas of single instructions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import nki.isa as nisa
import nki.language as nl

from timing_report.figures import CLOCK_GHZ, Row, cost_ns, psum, sbuf

FORMULAS = "NKI reference of SDK 2.26, per-instruction cost"
VECTOR_FIXED = 144  # cycles: traces show 150 to 157 ns, the library's own model has N + 144
N = 2048


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
