"""Modules of many operations: what is fused, and that the numbers stay."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check, compile_function


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


def test_a_scalar_of_arguments_in_several_kernels(rng):
    """The first reader of `low` makes it, but is not the first kernel that needs it."""

    def function(s, x, y):
        low = jnp.cos(s)
        high = low + low
        first = jnp.exp(x)
        second = y * low
        return first, second, first * high, first * (high * high - low)

    check(function, np.float32(0.7), normal(rng, 64), normal(rng, 128), tolerance=1e-5)


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


def test_the_gradient_of_gelu_is_one_activation():
    """As PyTorch's lowering writes it, and to the same bits as the chain of instructions."""

    def gradient(x, grad, half):
        cdf = half(jax.lax.erf(x * np.float32(0.5**0.5)) + np.float32(1))
        pdf = jnp.exp(x * x * np.float32(-0.5)) * np.float32((2 * np.pi) ** -0.5)
        return grad * (cdf + x * pdf)

    x = np.linspace(-20, 20, 210_000, dtype=np.float32).reshape(300, 700)
    grad = np.ones_like(x)
    times = check(lambda x, g: gradient(x, g, lambda y: y * np.float32(0.5)), x, grad)
    divided = compile_function(lambda x, g: gradient(x, g, lambda y: y / np.float32(2)), x, grad)
    assert times.compiled.disassembly.count("gelu_dx") > 0
    assert divided.compiled.disassembly.count("gelu_dx") == 0
    assert times(x, grad)[0].tobytes() == divided(x, grad)[0].tobytes()


def test_what_meets_in_one_sum_is_one_kernel(rng):
    """The products read nothing in common: each would open a kernel of its own."""

    def function(a, b, c, d, e, f):
        return a * b + c * d - jnp.exp(e) * f, ((c + d) * (e - f)).sum(-1)

    program = check(function, *(normal(rng, 64, 96) for _ in range(6)), tolerance=1e-5)
    assert program.compiled.scratch_bytes == 0


def test_a_kernel_that_another_one_needs_first_stays_before_it(rng):
    def function(a, b, c):
        p = a * b
        q = (p @ c) @ c
        return p.sum(-1, keepdims=True) + q * c + p

    check(function, *(normal(rng, 64, 64) for _ in range(3)), tolerance=1e-3)


FULL, ROW, ONE = (40, 300), (40, 1), (1, 1)


@pytest.mark.parametrize("groups", ["1", "0"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    "shapes",
    [(ONE, FULL, FULL), (ROW, FULL, FULL), (FULL, ROW, FULL), (FULL, FULL, ONE), (ROW, FULL, ROW),
     (ONE, ROW, FULL), (FULL, ROW, ONE)],
)  # fmt: skip
def test_selections_by_and_of_one_value_per_row(rng, shapes, dtype, groups, monkeypatch):
    """Between other work on the rows, which such a selection must not part."""
    monkeypatch.setenv("TORCHNEURON_INSTRUCTION_GROUPS", groups)
    p, a, b = (rng.integers(-9, 9, shape) for shape in shapes)

    def function(p, a, b):
        a, b = a + a, jnp.negative(b)
        return jnp.where(p > 0, a, b) * jnp.asarray(3, dtype)

    check(function, p.astype(np.int32), a.astype(dtype), b.astype(dtype), tolerance=0)
