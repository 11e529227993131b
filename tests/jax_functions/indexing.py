# ruff: noqa: E501  a table with a row per function
"""Gathers, scatters, searches, sorts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import b, f, i

CASES = [
    ("take_axis1", lambda x, k: jnp.take(x, k, axis=1), (f(4, 9), i(9, 5))),
    ("take_clip", lambda x, k: jnp.take(x, k + 5, axis=0, mode="clip"), (f(9, 3), i(9, 5))),
    ("take_wrap", lambda x, k: jnp.take(x, k + 5, axis=0, mode="wrap"), (f(9, 3), i(9, 5))),
    ("negative_indices", lambda x, k: x[k - 4], (f(9, 3), i(4, 5))),
    ("row_and_column", lambda x, r, c: x[r[:, None], c], (f(9, 8), i(9, 4), i(8, 3))),
    ("ellipsis_index", lambda x, k: x[..., k], (f(3, 4, 8), i(8, 5))),
    ("index_middle", lambda x, k: x[:, k], (f(3, 7, 8), i(7, 2, 2))),
    ("scalar_index", lambda x, k: x[k], (f(9, 4), np.int32(3))),
    ("dynamic_index_in_dim", lambda x, k: lax.dynamic_index_in_dim(x, k, 1), (f(4, 9), np.int32(20))),
    ("dynamic_slice_3d", lambda x, a, c: lax.dynamic_slice(x, (a, np.int32(0), c), (2, 5, 3)), (f(6, 5, 7), np.int32(1), np.int32(4))),
    ("dynamic_update_row", lambda x, u, k: lax.dynamic_update_index_in_dim(x, u, k, 0), (f(6, 5), f(5), np.int32(2))),
    ("boolean_where", lambda x, m: jnp.where(m, x, -x), (f(6, 5), b(6, 5))),
    ("at_set_slice", lambda x, y: x.at[1:4, ::2].set(y), (f(6, 5), f(3, 3))),
    ("at_add_scalar", lambda x: x.at[2].add(1.5), (f(6, 5),)),
    ("at_multiply", lambda x, k, y: x.at[k].multiply(y), (f(6, 5), np.int32([0, 3]), f(2, 5))),
    ("at_min", lambda x, k, y: x.at[k].min(y), (f(6, 5), i(6, 4), f(4, 5))),
    ("at_apply", lambda x, k: x.at[k].apply(jnp.exp), (f(6, 5), np.int32([1, 4]))),
    ("at_get_fill", lambda x, k: x.at[k + 3].get(mode="fill", fill_value=0), (f(6, 5), i(6, 4))),
    ("at_set_drop", lambda x, k: x.at[k + 3].set(1.0, mode="drop"), (f(6, 5), np.int32([0, 2, 5]))),
    ("scatter_int", lambda x, k: x.at[k].add(1), (i(9, 8), i(8, 30))),
    ("one_hot_matmul", lambda k, w: jax.nn.one_hot(k, 6) @ w, (i(6, 10), f(6, 4))),
    ("embedding_lookup", lambda w, k: w[k].sum(1), (f(20, 8), i(20, 4, 3))),
    ("searchsorted", lambda x, v: jnp.searchsorted(jnp.sort(x), v), (f(20), f(7))),
    ("digitize", lambda x: jnp.digitize(x, jnp.array([-1.0, 0.0, 1.0])), (f(20),)),
    ("sort_descending", lambda x: -jnp.sort(-x, axis=-1), (f(4, 20),)),
    ("argsort_stable", lambda x: jnp.argsort(x, stable=True), (i(5, 30),)),
    ("lexsort", lambda x, y: jnp.lexsort((x, y)), (i(5, 30), i(4, 30))),
    ("top_k", lambda x: lax.top_k(x, 5), (f(4, 20),)),
    ("sort_key_value", lambda k, v: lax.sort_key_val(k, v), (i(99, 20), f(20))),
    ("take_along_axis0", lambda x, k: jnp.take_along_axis(x, k, 0), (f(7, 5), i(7, 3, 5))),
    ("put_along_axis", lambda x, k: jnp.put_along_axis(x, k, 9.0, 1, inplace=False), (f(4, 6), np.int32([[0, 1], [2, 3], [4, 5], [1, 5]]))),
    ("nonzero_fixed", lambda x: jnp.nonzero(x > 0, size=6, fill_value=-1), (f(20),)),
    ("unique_fixed", lambda x: jnp.unique(x, size=9, fill_value=-1), (i(9, 30),)),
    ("isin", lambda x: jnp.isin(x, jnp.array([1, 3, 5])), (i(9, 30),)),
    ("select_many", lambda x: jnp.select([x < -1, x < 0, x < 1], [x, 2 * x, 3 * x], 0.0), (f(30),)),
    ("choose", lambda k, x: jnp.choose(k, list(x), mode="clip"), (i(3, 5), f(3, 5))),
    ("gather_nd", lambda x, k: x[tuple(k.T)], (f(4, 5, 6), i(4, 7, 2))),
    ("batched_dynamic_slice", jax.vmap(lambda x, k: lax.dynamic_slice(x, (k,), (3,))), (f(4, 9), i(7, 4))),
    ("interp", lambda x: jnp.interp(x, jnp.array([-1.0, 0.0, 2.0]), jnp.array([3.0, 1.0, 2.0])), (f(20),)),
    ("argwhere_fixed", lambda x: jnp.argwhere(x > 0, size=5), (f(3, 4),)),
]  # fmt: skip
