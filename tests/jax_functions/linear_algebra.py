# ruff: noqa: E501  a table with a row per function
"""Products. JAX's factorisations are calls of LAPACK on CPU: tests/hlo/hlo_texts.py has HLO's own."""

import jax
import jax.numpy as jnp
from jax import lax

from jax_functions.data import f, i, p

CASES = [
    ("matmul_vector", jnp.matmul, (f(40, 30), f(30))),
    ("vector_matmul", jnp.matmul, (f(30), f(30, 40))),
    ("matmul_batched", jnp.matmul, (f(3, 40, 30), f(3, 30, 20))),
    ("matmul_broadcast", jnp.matmul, (f(2, 1, 9, 8), f(3, 8, 7))),
    ("matmul_wide", jnp.matmul, (f(130, 260), f(260, 515))),
    ("matmul_transposed", lambda a, b: a.T @ b.T, (f(30, 40), f(20, 30))),
    ("matmul_bf16", lambda a, b: a.astype(jnp.bfloat16) @ b.astype(jnp.bfloat16), (f(40, 30), f(30, 20))),
    ("matmul_f16", lambda a, b: a.astype(jnp.float16) @ b.astype(jnp.float16), (f(40, 30), f(30, 20))),
    ("matmul_f64", lambda a, b: a.astype(jnp.float64) @ b, (f(9, 8), f(8, 7))),
    ("matmul_int8", lambda a, b: lax.dot(a, b, preferred_element_type=jnp.int32), (i(100, 9, 8, dtype="int8"), i(100, 8, 7, dtype="int8"))),
    ("matmul_complex", lambda a, b: (a + 1j) @ (b - 2j), (f(9, 8), f(8, 7))),
    ("matmul_bias_gelu", lambda a, b, c: jax.nn.gelu(a @ b + c), (f(40, 30), f(30, 20), f(20))),
    ("matmul_residual", lambda a, b, c: c + jax.nn.relu(a @ b), (f(40, 30), f(30, 20), f(40, 20))),
    ("matmul_scaled_rows", lambda a, b, s: (s[:, None] * a) @ b, (f(40, 30), f(30, 20), p(40))),
    ("tensordot", lambda a, b: jnp.tensordot(a, b, ((1, 2), (0, 1))), (f(3, 4, 5), f(4, 5, 6))),
    ("einsum_trace", lambda a: jnp.einsum("ii->", a), (f(6, 6),)),
    ("einsum_outer", lambda a, b: jnp.einsum("i,jk->jki", a, b), (f(4), f(3, 5))),
    ("einsum_attention", lambda q, k: jnp.einsum("bqhd,bkhd->bhqk", q, k), (f(2, 6, 3, 8), f(2, 7, 3, 8))),
    ("einsum_chain", lambda a, b, c: jnp.einsum("ij,jk,kl->il", a, b, c), (f(4, 5), f(5, 6), f(6, 3))),
    ("einsum_bilinear", lambda a, w, b: jnp.einsum("bi,ijk,bj->bk", a, w, b), (f(4, 3), f(3, 5, 6), f(4, 5))),
    ("inner_vdot", lambda a, b: (jnp.inner(a, b), jnp.vdot(a, b)), (f(5, 6), f(5, 6))),
    ("cross", jnp.cross, (f(4, 3), f(4, 3))),
    ("multi_dot", lambda a, b, c: jnp.linalg.multi_dot([a, b, c]), (f(4, 5), f(5, 6), f(6, 3))),
    ("matrix_power", lambda a: jnp.linalg.matrix_power(a, 5), (f(4, 4) / 3,)),
    ("pairwise_distance", lambda x, y: jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)), (f(9, 4), f(8, 4))),
    ("cosine_similarity", lambda x, y: (x @ y.T) / (jnp.linalg.norm(x, axis=1)[:, None] * jnp.linalg.norm(y, axis=1)), (f(9, 4), f(8, 4))),
    ("convolve", lambda x, y: jnp.convolve(x, y, mode="full"), (f(20), f(5))),
    ("correlate", lambda x, y: jnp.correlate(x, y, mode="same"), (f(20), f(5))),
    ("power_iteration", lambda x: lax.fori_loop(0, 8, lambda _, v: (x @ v) / jnp.linalg.norm(x @ v), jnp.ones(6, x.dtype)), (f(6, 6),)),
]  # fmt: skip
