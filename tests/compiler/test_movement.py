"""Concatenate, pad, slices, updates, reshapes: equal bits."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiler.harness import check


@pytest.fixture(params=[np.float32, np.int64, np.uint8])
def x(request):
    return np.random.default_rng(0).integers(0, 200, (33, 100)).astype(request.param)


def test_concatenate(x):
    check(lambda x: (jnp.concatenate([x, x + 1], 0), jnp.concatenate([x, x], 1)), x, tolerance=0)
    check(lambda x: jnp.stack([x, x * 2, jnp.ones_like(x)], 1), x, tolerance=0)


@pytest.mark.parametrize(
    "padding", [[(1, 2, 0), (0, 3, 1)], [(-1, 2, 0), (-3, -4, 2)], [(0, 0, 0), (-100, 5, 0)]]
)
def test_pad(x, padding):
    check(lambda x: jax.lax.pad(x, x[0, 0], padding), x, tolerance=0)
    check(lambda x: jax.lax.pad(x, np.array(3, x.dtype), padding), x, tolerance=0)


def test_slice_and_reverse(x):
    check(lambda x: (x[3:20:2, 10:], x[::-1, ::3], jnp.flip(x, (0, 1))), x, tolerance=0)


@pytest.mark.parametrize("start", [np.int32(7), np.int64(40), np.int32(-3)])
def test_dynamic_slices(x, start):
    def function(x, i):
        update = jax.lax.dynamic_update_slice(x, x[:4, :4] * 2, (i, i))
        return jax.lax.dynamic_slice(x, (i, i + 1), (5, 7)), update, update + 1

    check(function, x, start, tolerance=0)


def test_reshape_over_strides_that_do_not_nest(x):
    check(lambda x: (x.reshape(11, 300) * 2, x.T.reshape(11, 300), x.T.reshape(300, 11) + 1), x,
          tolerance=0)  # fmt: skip


def test_transposes(x):
    check(lambda x: (x.T, (x + 1).T, x.reshape(3, 11, 10, 10).transpose(2, 0, 3, 1)), x,
          tolerance=0)  # fmt: skip
