# ruff: noqa: E501  a table with a row per function
"""Sums, extrema, statistics, scans."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import b, f, i, p

_REDUCTIONS = ["sum", "prod", "max", "min", "mean", "var", "std", "ptp"]
_AXES = {"all": None, "first": 0, "last": -1, "outer_two": (0, 1), "ends": (0, 2)}

CASES = (
    [(f"{name}_{label}", lambda x, op=name, a=axis: getattr(jnp, op)(x, axis=a), (p(3, 5, 17),))
     for name in _REDUCTIONS for label, axis in _AXES.items()]
    + [
        ("sum_keepdims", lambda x: x.sum(1, keepdims=True) + x, (f(3, 4, 5),)),
        ("sum_where", lambda x, m: x.sum(1, where=m), (f(6, 9), b(6, 9))),
        ("sum_bfloat16", lambda x: x.astype(jnp.bfloat16).sum(-1), (f(6, 40),)),
        ("sum_long_row", lambda x: x.sum(), (f(3, 9000),)),
        ("count_nonzero", lambda x: jnp.count_nonzero(x > 0, axis=1), (f(6, 9),)),
        ("nansum", lambda x: jnp.nansum(jnp.where(x > 1, jnp.nan, x), 0), (f(6, 9),)),
        ("nanmax", lambda x: jnp.nanmax(jnp.where(x > 1, jnp.nan, x), 1), (f(6, 9),)),
        ("median", lambda x: jnp.median(x, 1), (f(6, 9),)),
        ("quantile", lambda x: jnp.quantile(x, 0.25, axis=1), (f(6, 9),)),
        ("average", lambda x, w: jnp.average(x, 0, w), (f(6, 9), p(6))),
        ("cov", jnp.cov, (f(4, 20),)),
        ("corrcoef", jnp.corrcoef, (f(4, 20),)),
        ("cumsum_reverse", lambda x: lax.cumsum(x, 1, reverse=True), (f(4, 20),)),
        ("cumlogsumexp", lambda x: lax.cumlogsumexp(x, 1), (f(4, 20),)),
        ("cummin", lambda x: lax.cummin(x, 0), (f(4, 20),)),
        ("logsumexp", lambda x: jax.nn.logsumexp(x, -1), (f(4, 20),)),
        ("argmax_flat", jnp.argmax, (f(4, 20),)),
        ("nanargmin", lambda x: jnp.nanargmin(x, 1), (f(4, 20),)),
        ("linalg_norm", lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, axis=1), jnp.linalg.norm(x, 1, axis=0)), (f(4, 20),)),
        ("trace_diagonal", lambda x: (jnp.trace(x), jnp.diagonal(x)), (f(6, 6),)),
        ("histogram_fixed", lambda x: jnp.histogram(x, bins=8, range=(0, 1))[0], (p(40),)),
        ("bincount_fixed", lambda x: jnp.bincount(x, length=7), (i(7, 40),)),
        ("segment_sum", lambda x, s: jax.ops.segment_sum(x, s, 5), (f(20, 3), i(5, 20))),
        ("segment_max", lambda x, s: jax.ops.segment_max(x, s, 5), (f(20, 3), np.int32([0, 1, 2, 3, 4] * 4))),
        ("any_all_axes", lambda x: (x.any((0, 2)), x.all(1)), (b(3, 4, 5),)),
        ("int_minmax", lambda x: (x.max(0), x.min(1), x.sum()), (i(1000, 7, 9),)),
        ("uint8_sum", lambda x: x.sum(0), (i(250, 7, 9, dtype=np.uint8),)),
        ("reduce_and", lambda x: lax.reduce(x, np.int32(-1), lax.bitwise_and, (1,)), (i(9999, 7, 9),)),
    ]
)  # fmt: skip
