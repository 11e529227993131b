# ruff: noqa: E501  a table with a row per function
"""jax.nn and losses."""

import jax
import jax.numpy as jnp
from jax import lax

from jax_functions.data import b, f, i, p

_ACTIVATIONS = ["celu", "elu", "gelu", "glu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "leaky_relu", "log_sigmoid", "log_softmax",
                "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softmax", "softplus", "sparse_plus", "squareplus", "standardize"]  # fmt: skip


def _batch_norm(x, g, c):
    mean, var = x.mean((0, 2, 3), keepdims=True), x.var((0, 2, 3), keepdims=True)
    return (x - mean) * lax.rsqrt(var + 1e-5) * g[:, None, None] + c[:, None, None]


def _rms_norm(x, g):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g


def _rotary(x):
    half = x.shape[-1] // 2
    angle = jnp.arange(x.shape[1])[:, None] * (100.0 ** (-jnp.arange(half) / half))
    sin, cos = jnp.sin(angle)[:, None], jnp.cos(angle)[:, None]
    a, c = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - c * sin, c * cos + a * sin], -1)


CASES = (
    [(name, getattr(jax.nn, name), (f(6, 40),)) for name in _ACTIVATIONS]
    + [(f"{name}_bfloat16", lambda x, op=name: getattr(jax.nn, op)(x.astype(jnp.bfloat16)), (f(6, 40),))
       for name in ("gelu", "relu", "silu", "softmax")]
    + [
        ("gelu_exact", lambda x: jax.nn.gelu(x, approximate=False), (f(6, 40),)),
        ("softmax_masked", lambda x, m: jax.nn.softmax(x, where=m), (f(6, 40), b(6, 40))),
        ("softmax_first_axis", lambda x: jax.nn.softmax(x, axis=0), (f(6, 40),)),
        ("dot_product_attention", jax.nn.dot_product_attention, (f(2, 9, 3, 8), f(2, 9, 3, 8), f(2, 9, 3, 8))),
        ("causal_attention", lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), (f(2, 9, 4, 8), f(2, 9, 2, 8), f(2, 9, 2, 8))),
        ("batch_norm", _batch_norm, (f(4, 5, 6, 6), p(5), f(5))),
        ("batch_norm_gradient", jax.grad(lambda x, g, c: (_batch_norm(x, g, c) ** 3).sum(), (0, 1, 2)), (f(4, 5, 6, 6), p(5), f(5))),
        ("rms_norm", _rms_norm, (f(6, 40), p(40))),
        ("group_norm", lambda x: jax.nn.standardize(x.reshape(2, 3, 2, 5, 5), axis=(2, 3, 4)).reshape(2, 6, 5, 5), (f(2, 6, 5, 5),)),
        ("rotary", _rotary, (f(2, 7, 3, 8),)),
        ("cross_entropy", lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean(), (f(12, 30), i(30, 12))),
        ("cross_entropy_gradient", jax.grad(lambda x, y: -jnp.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()), (f(12, 30), i(30, 12))),
        ("binary_cross_entropy", lambda x, y: (jax.nn.softplus(x) - x * y).mean(), (f(40), p(40))),
        ("huber", lambda x: jnp.where(jnp.abs(x) < 1, 0.5 * x * x, jnp.abs(x) - 0.5).mean(), (f(40),)),
        ("kl_divergence", lambda x, y: (jax.nn.softmax(x) * (jax.nn.log_softmax(x) - jax.nn.log_softmax(y))).sum(-1), (f(6, 20), f(6, 20))),
        ("label_smoothing", lambda x, y: -(jax.nn.log_softmax(x) * (0.9 * jax.nn.one_hot(y, 9) + 0.1 / 9)).sum(-1), (f(6, 9), i(9, 6))),
        ("swiglu", lambda x, a, c, d: (jax.nn.silu(x @ a) * (x @ c)) @ d, (f(9, 8), f(8, 16), f(8, 16), f(16, 8))),
        ("mixture_of_two", lambda x, g, a, c: (jax.nn.softmax(x @ g)[:, :, None] * jnp.stack([x @ a, x @ c], 1)).sum(1), (f(9, 8), f(8, 2), f(8, 5), f(8, 5))),
        ("global_norm_clip", lambda x, y: [v * jnp.minimum(1, 1 / jnp.sqrt((x**2).sum() + (y**2).sum())) for v in (x, y)], (f(6, 5), f(7))),
        ("sgd_momentum", lambda w, g, m: (w - 0.1 * (0.9 * m + g), 0.9 * m + g), (f(6, 5), f(6, 5), f(6, 5))),
    ]
)  # fmt: skip
