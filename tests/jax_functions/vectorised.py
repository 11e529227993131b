# ruff: noqa: E501  a table with a row per function
"""vmap over what has no batch dimension of its own."""

import jax
import jax.numpy as jnp
from jax import lax

from jax_functions.data import f, i, p

_vmap = jax.vmap

CASES = [
    ("dot", _vmap(jnp.dot), (f(6, 9), f(6, 9))),
    ("matmul_one_side", _vmap(jnp.matmul, (0, None)), (f(6, 4, 9), f(9, 5))),
    ("matmul_other_side", _vmap(jnp.matmul, (None, 0)), (f(4, 9), f(6, 9, 5))),
    ("outer", _vmap(jnp.outer), (f(6, 4), f(6, 5))),
    ("in_axes", _vmap(lambda x, y: x * y.sum(), (1, 0), 1), (f(5, 6), f(6, 3))),
    ("nested", _vmap(_vmap(lambda x, y: x * y, (None, 0)), (0, None)), (f(4), f(5))),
    ("index", _vmap(lambda x, k: x[k]), (f(6, 9), i(9, 6))),
    ("set", _vmap(lambda x, k, v: x.at[k].set(v)), (f(6, 9), i(9, 6), f(6))),
    ("dynamic_update", _vmap(lambda x, u, k: lax.dynamic_update_slice(x, u, (k,))), (f(6, 9), f(6, 3), i(6, 6))),
    ("sort", _vmap(jnp.sort), (f(6, 9),)),
    ("argmax", _vmap(jnp.argmax), (f(6, 9),)),
    ("softmax", _vmap(jax.nn.softmax, 1, 1), (f(9, 6),)),
    ("cond", _vmap(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x)), (f(9),)),
    ("while", _vmap(lambda x: lax.while_loop(lambda v: v < 10, lambda v: v * 1.5, x)), (p(9),)),
    ("scan", _vmap(lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.float32(0), x)), (f(4, 7),)),
    ("grad", _vmap(jax.grad(lambda w, x: jnp.tanh(w @ x).sum()), (None, 0)), (f(4, 5), f(6, 5))),
    ("conv", _vmap(lambda x, w: lax.conv(x[None], w, (1, 1), "SAME")[0], (0, None)), (f(3, 2, 6, 6), f(4, 2, 3, 3))),
    ("conv_batched_filters", _vmap(lambda x, w: lax.conv(x[None], w, (1, 1), "SAME")[0]), (f(3, 2, 6, 6), f(3, 4, 2, 3, 3))),
    ("cumsum", _vmap(jnp.cumsum), (f(4, 7),)),
    ("polyfit_row", _vmap(lambda x: jnp.vander(x, 3) @ jnp.ones(3)), (f(4, 7),)),
    ("roll_by", _vmap(jnp.roll), (f(4, 7), i(7, 4))),
    ("interp", _vmap(lambda x: jnp.interp(x, jnp.arange(4.0), jnp.array([0.0, 1.0, 4.0, 9.0]))), (p(5, 6),)),
    ("searchsorted", _vmap(jnp.searchsorted, (None, 0)), (jnp.sort(f(20)), f(4, 7))),
]  # fmt: skip
