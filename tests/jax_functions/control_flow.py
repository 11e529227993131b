# ruff: noqa: E501  a table with a row per function
"""Loops and branches."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import b, f, i, p


def _newton(a):
    def far(state):
        x, n = state
        return (jnp.abs(x * x - a).max() > 1e-4) & (n < 50)

    return lax.while_loop(far, lambda s: (0.5 * (s[0] + a / s[0]), s[1] + 1), (a, 0))


def _swap(x, y):
    return lax.fori_loop(0, 5, lambda _, s: (s[1], s[0] + s[1]), (x, y))


def _nested(x):
    def row(k, total):
        return lax.fori_loop(0, k + 1, lambda j, t: t + x[k, j], total)

    return lax.fori_loop(0, 6, row, jnp.float32(0))


def _bubble(x):
    def inner(j, v):
        a, c = v[j], v[j + 1]
        return v.at[j].set(jnp.minimum(a, c)).at[j + 1].set(jnp.maximum(a, c))

    return lax.fori_loop(0, 7, lambda k, v: lax.fori_loop(0, 7 - k, inner, v), x)


def _rnn(x, h, w, u):
    def step(h, row):
        h = jnp.tanh(row @ w + h @ u)
        return h, h

    return lax.scan(step, h, x)


def _running_maximum(x):
    return lax.scan(lambda m, v: (jnp.maximum(m, v), jnp.argmax(jnp.stack([m, v]))), x[0], x)


CASES = [
    ("while_newton", _newton, (p(6),)),
    ("while_never", lambda x: lax.while_loop(lambda v: v.sum() > 1e9, lambda v: v * 2, x), (p(6),)),
    ("while_array_state", lambda x: lax.while_loop(lambda v: v.sum() < 100, lambda v: v * 2, x), (p(6),)),
    ("while_tuple_state", lambda x: lax.while_loop(lambda s: s["n"] < 4, lambda s: {"n": s["n"] + 1, "x": (s["x"][0] * 2, s["x"][1])}, {"n": 0, "x": (x, x + 1)}), (p(6),)),
    ("while_batched", jax.vmap(lambda n: lax.while_loop(lambda v: v < 50, lambda v: v * 3, n)), (1 + i(9, 7),)),
    ("fori_swap", _swap, (f(4), f(4))),
    ("fori_nested", _nested, (f(6, 6),)),
    ("fori_bubble_sort", _bubble, (f(8),)),
    ("fori_dynamic_bound", lambda n, x: lax.fori_loop(0, n, lambda k, v: v + k, x), (np.int32(5), f(4))),
    ("fori_update_rows", lambda x: lax.fori_loop(0, 4, lambda k, v: v.at[k].set(v[k] * k), x), (f(4, 5),)),
    ("fori_invariant_matrix", lambda x, w: lax.fori_loop(0, 3, lambda _, v: jnp.tanh(v @ w), x), (f(5, 6), f(6, 6))),
    ("fori_transposed_invariant", lambda x, w: lax.fori_loop(0, 3, lambda _, v: v @ w.T, x), (f(5, 6), f(6, 6))),
    ("scan_cumulative", lambda x: lax.scan(lambda c, v: (c + v, c), jnp.zeros(5), x), (f(6, 5),)),
    ("scan_reverse", lambda x: lax.scan(lambda c, v: (c * 0.5 + v, c), jnp.zeros(5), x, reverse=True), (f(6, 5),)),
    ("scan_no_inputs", lambda x: lax.scan(lambda c, _: (c * 1.1, c.sum()), x, None, length=5), (f(5),)),
    ("scan_two_inputs", lambda x, y: lax.scan(lambda c, v: (c + v[0] * v[1], c), jnp.float32(0), (x, y)), (f(6), f(6))),
    ("scan_unrolled", lambda x: lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(5), x, unroll=2), (f(6, 5),)),
    ("scan_rnn", _rnn, (f(7, 3, 4), f(3, 5), f(4, 5), f(5, 5) / 3)),
    ("scan_maximum", _running_maximum, (f(9),)),
    ("scan_gradient", jax.grad(lambda w, x: lax.scan(lambda c, v: (jnp.tanh(c @ w + v), None), x[0], x)[0].sum()), (f(4, 4) / 2, f(5, 3, 4))),
    ("scan_checkpointed", jax.grad(lambda x: lax.scan(jax.checkpoint(lambda c, v: (jnp.sin(c * v), None)), x[0], x)[0].sum()), (f(5, 3),)),
    ("map_rows", lambda x: lax.map(lambda r: r / r.sum(), x), (p(4, 5),)),
    ("map_batched", lambda x: lax.map(lambda r: r * 2, x, batch_size=2), (p(5, 3),)),
    ("cond_true", lambda x: lax.cond(x[0] > -99, jnp.exp, jnp.log, x), (p(6),)),
    ("cond_false", lambda x: lax.cond(x[0] < -99, jnp.exp, jnp.log, x), (p(6),)),
    ("cond_two_operands", lambda x, y: lax.cond(x.sum() > y.sum(), lambda a, c: a - c, lambda a, c: c - a, x, y), (f(6), f(6))),
    ("cond_tuple_result", lambda x: lax.cond(x[0] > 0, lambda v: (v, v.sum()), lambda v: (-v, v.min()), x), (f(6),)),
    ("cond_constant_branch", lambda x: lax.cond(x[0] > 0, lambda v: jnp.zeros_like(v), lambda v: v, x), (f(6),)),
    ("cond_nested", lambda x: lax.cond(x[0] > 0, lambda v: lax.cond(v[1] > 0, jnp.sin, jnp.cos, v), jnp.tan, x), (f(6),)),
    ("cond_gradient", jax.grad(lambda x: lax.cond(x[0] > 0, lambda v: (v * v).sum(), lambda v: (v * v * v).sum(), x)), (f(6),)),
    ("cond_in_scan", lambda x: lax.scan(lambda c, v: (lax.cond(v > 0, lambda a: a + v, lambda a: a * 0.5, c), c), jnp.float32(1), x), (f(9),)),
    ("switch_first", lambda x: lax.switch(0, [jnp.sin, jnp.cos, jnp.tan], x), (f(6),)),
    ("switch_dynamic", lambda k, x: lax.switch(k, [jnp.sin, jnp.cos, jnp.tan, jnp.exp], x), (np.int32(3), f(6))),
    ("switch_clamped", lambda k, x: lax.switch(k, [jnp.sin, jnp.cos, jnp.tan], x), (np.int32(-7), f(6))),
    ("switch_in_loop", lambda x: lax.fori_loop(0, 6, lambda k, v: lax.switch(k % 3, [lambda a: a + 1, lambda a: a * 2, lambda a: -a], v), x), (f(6),)),
    ("select_by_mask", lambda m, x, y: lax.select(m, x, y), (b(6), f(6), f(6))),
    ("associative_scan_matmul", lambda x: lax.associative_scan(jnp.matmul, x), (f(6, 3, 3) / 2,)),
    ("associative_scan_linear", lambda a, x: lax.associative_scan(lambda s, r: (s[0] * r[0], r[0] * s[1] + r[1]), (a, x)), (p(9), f(9))),
    ("runge_kutta", lambda y: lax.fori_loop(0, 10, lambda _, v: v + 0.1 * jnp.sin(v + 0.05 * jnp.sin(v)), y), (f(6),)),
    ("game_of_life", lambda x: lax.fori_loop(0, 3, lambda _, g: ((sum(jnp.roll(g, (a, c), (0, 1)) for a in (-1, 0, 1) for c in (-1, 0, 1)) - g == 3) | ((g == 1) & (sum(jnp.roll(g, (a, c), (0, 1)) for a in (-1, 0, 1) for c in (-1, 0, 1)) - g == 2))).astype(jnp.int32), x), (i(2, 8, 8),)),
]  # fmt: skip
