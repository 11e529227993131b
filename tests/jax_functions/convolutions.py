# ruff: noqa: E501  a table with a row per function
"""Convolutions, their gradients, pooling."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import f


def _conv(x, w, **keywords):
    return lax.conv_general_dilated(
        x, w, **{"window_strides": (1, 1), "padding": "SAME"} | keywords
    )


def _pool(x, init, op, size, strides, padding="VALID"):
    return lax.reduce_window(x, init, op, (1, 1, *size), (1, 1, *strides), padding)


def _mean_pool(x, size):
    return _pool(x, 0.0, lax.add, size, size) / np.prod(size)


def _gradient(**keywords):
    return jax.grad(lambda x, w: (_conv(x, w, **keywords) ** 2).sum() / 2, (0, 1))


_X, _W = f(2, 6, 9, 9), f(8, 6, 3, 3)

CASES = [
    ("pointwise", lambda x, w: _conv(x, w), (_X, f(8, 6, 1, 1))),
    ("valid", lambda x, w: _conv(x, w, padding="VALID"), (_X, _W)),
    ("stride_two", lambda x, w: _conv(x, w, window_strides=(2, 2)), (_X, _W)),
    ("dilated", lambda x, w: _conv(x, w, rhs_dilation=(2, 2)), (_X, _W)),
    ("five_by_five", lambda x, w: _conv(x, w), (_X, f(4, 6, 5, 5))),
    ("asymmetric", lambda x, w: _conv(x, w, padding=((0, 2), (3, 1))), (_X, f(4, 6, 2, 3))),
    ("groups", lambda x, w: _conv(x, w, feature_group_count=3), (_X, f(9, 2, 3, 3))),
    ("depthwise_multiplier", lambda x, w: _conv(x, w, feature_group_count=6), (_X, f(12, 1, 3, 3))),
    ("transposed", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME", dimension_numbers=("NCHW", "IOHW", "NCHW")), (_X, f(6, 4, 3, 3))),
    ("nhwc", lambda x, w: _conv(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC")), (f(2, 8, 8, 5), f(3, 3, 5, 7))),
    ("one_dimension", lambda x, w: lax.conv(x, w, (1,), "SAME"), (f(2, 4, 20), f(6, 4, 5))),
    ("causal_1d", lambda x, w: lax.conv_general_dilated(x, w, (1,), [(4, 0)]), (f(2, 4, 20), f(6, 4, 5))),
    ("three_dimensions", lambda x, w: lax.conv(x, w, (1, 1, 1), "SAME"), (f(1, 3, 5, 6, 7), f(4, 3, 3, 3, 3))),
    ("bfloat16", lambda x, w: _conv(x.astype(jnp.bfloat16), w.astype(jnp.bfloat16)), (_X, _W)),
    ("bias_relu", lambda x, w, b: jax.nn.relu(_conv(x, w) + b[:, None, None]), (_X, _W, f(8))),
    ("gradient", _gradient(), (_X / 4, _W / 4)),
    ("gradient_strided", _gradient(window_strides=(2, 2)), (_X / 4, _W / 4)),
    ("gradient_groups", _gradient(feature_group_count=3), (_X / 4, f(9, 2, 3, 3) / 4)),
    ("gradient_dilated", _gradient(rhs_dilation=(2, 2)), (_X / 4, _W / 4)),
    ("max_pool", lambda x: _pool(x, -jnp.inf, lax.max, (2, 2), (2, 2)), (_X,)),
    ("max_pool_overlapping", lambda x: _pool(x, -jnp.inf, lax.max, (3, 3), (2, 2), "SAME"), (_X,)),
    ("max_pool_gradient", jax.grad(lambda x: (_pool(x, -jnp.inf, lax.max, (2, 2), (2, 2)) ** 2).sum()), (_X,)),
    ("mean_pool", lambda x: _mean_pool(x, (3, 3)), (_X,)),
    ("mean_pool_gradient", jax.grad(lambda x: (_mean_pool(x, (3, 3)) ** 2).sum()), (_X,)),
    ("global_mean", lambda x: x.mean((2, 3)), (_X,)),
    ("window_product", lambda x: _pool(x, np.float32(1), lax.mul, (2, 2), (1, 1)), (_X,)),
    ("resize_nearest", lambda x: jax.image.resize(x, (2, 6, 18, 18), "nearest"), (_X,)),
    ("resize_bilinear", lambda x: jax.image.resize(x, (2, 6, 5, 13), "bilinear"), (_X,)),
    ("patches", lambda x: lax.conv_general_dilated_patches(x, (3, 3), (3, 3), "VALID"), (_X,)),
    ("patch_embedding", lambda x, w: _conv(x, w, window_strides=(3, 3), padding="VALID").reshape(2, 16, 9).transpose(0, 2, 1), (_X, f(16, 6, 3, 3))),
]  # fmt: skip
