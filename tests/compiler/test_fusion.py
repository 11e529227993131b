"""Modules of many operations: what is fused, and that the numbers stay."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiler.harness import check


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def test_dot_epilogue_stays_on_chip(rng):
    def function(a, w, b, r):
        return jax.nn.gelu(a @ w + b) + r

    arguments = normal(rng, 64, 128), normal(rng, 128, 256), normal(rng, 256), normal(rng, 64, 256)
    program = check(function, *arguments, tolerance=1e-4)
    assert program.compiled.scratch_bytes == 0


def test_attention(rng):
    def function(q, k, v):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) * 0.125
        scores = jnp.where(jnp.arange(64)[:, None] >= jnp.arange(64), scores, -jnp.inf)
        return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(scores), v)

    program = check(function, *(normal(rng, 2, 4, 64, 32) for _ in range(3)), tolerance=1e-4)
    assert program.compiled.gpsimd_kernels == []


def test_training_step_of_an_mlp(rng):
    def step(w1, b1, w2, b2, x, y):
        def loss(parameters):
            w1, b1, w2, b2 = parameters
            logits = jnp.tanh(x @ w1 + b1) @ w2 + b2
            return -(jax.nn.log_softmax(logits) * jax.nn.one_hot(y, 10)).sum(-1).mean()

        parameters = (w1, b1, w2, b2)
        value, gradients = jax.value_and_grad(loss)(parameters)
        return value, *(p - 0.1 * g for p, g in zip(parameters, gradients, strict=True))

    labels = rng.integers(0, 10, 32)
    check(step, normal(rng, 64, 128), normal(rng, 128), normal(rng, 128, 10), normal(rng, 10),
          normal(rng, 32, 64), labels, tolerance=1e-4)  # fmt: skip


def test_wide_integers_on_vector(rng):
    x = rng.integers(-(2**40), 2**40, (33, 100))
    y = x[::-1].copy()
    y[5] = x[5]

    def function(x, y):
        return (x + y, x - y, x < y, x <= y, x > y, x >= y, x == y, x != y,
                jnp.where(x > y, x, y), x + 7, x - (1 << 33), x < 5, x >= -1)  # fmt: skip

    assert check(function, x, y).compiled.gpsimd_kernels == []


def test_more_live_values_than_sbuf_holds(rng):
    x = normal(rng, 4, 6000)

    def function(x):
        parts = [jnp.sin(x * i) for i in range(12)]
        normalised = [p / p.sum(-1, keepdims=True) for p in parts]
        return sum(p * n for p, n in zip(parts, reversed(normalised), strict=True))

    check(function, x, tolerance=2e-3)


def test_scalars_of_arguments_do_not_part_a_kernel():
    def lerp(start, end, weight):
        difference = end - start
        near = start + weight * difference
        far = end - difference * (1 - weight)
        return jnp.where(jnp.abs(weight) < 0.5, near, far), 1 - weight

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((300, 700)).astype(np.float32) for _ in range(2))
    program = check(lerp, a, b, np.float32(0.1), scalars=[2])
    assert program.compiled.scratch_bytes == 0


def test_readers_of_one_value_share_a_kernel():
    def gelu_gradient(x, grad):
        cdf = 0.5 * (1 + jax.lax.erf(x * np.float32(0.5**0.5)))
        pdf = jnp.exp(-0.5 * x * x) * np.float32((2 * np.pi) ** -0.5)
        return grad * (cdf + x * pdf)

    rng = np.random.default_rng(0)
    x, grad = (rng.standard_normal((300, 700)).astype(np.float32) for _ in range(2))
    program = check(gelu_gradient, x, grad, tolerance=1e-5)
    assert program.compiled.scratch_bytes == 0
