"""Elementwise modules on tiles, against XLA."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check, check_text

SHAPES = [(1,), (16,), (129,), (1000003,), (33, 100), (2, 3, 5000), (300, 2, 2), (3, 4097)]


def normal(rng, *shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("shape", SHAPES)
def test_add_is_exact(shape, rng):
    check(lambda x, y: x + y, normal(rng, *shape), normal(rng, *shape), tolerance=0)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
def test_unary_functions(dtype, rng):
    def function(x):
        p = jnp.abs(x)
        return (p, -x, jnp.exp(x), jnp.tanh(x), jnp.floor(x), jnp.ceil(x), jnp.round(x),
                jnp.sign(x), jnp.sin(x), jnp.cos(x), jnp.sqrt(p), jax.lax.rsqrt(p),
                jax.nn.sigmoid(x), jnp.log(p), jnp.log1p(p), jnp.expm1(x), jax.lax.erf(x),
                jnp.isfinite(x))  # fmt: skip

    check(function, normal(rng, 33, 100, dtype=dtype))


def test_binary_functions(rng):
    def function(x, y):
        return (x - y, x * y, x / y, jnp.maximum(x, y), jnp.minimum(x, y), jax.lax.rem(x, y),
                jnp.arctan2(x, y), jnp.power(jnp.abs(x), y), x < y, x <= y, x == y, x != y,
                x > y, x >= y)  # fmt: skip

    check(function, normal(rng, 33, 100), normal(rng, 33, 100))


def integer_function(x, y):
    return (x + y, x - y, x * y, jax.lax.div(x, y), jax.lax.rem(x, y), jnp.maximum(x, y), x & y,
            x | y, x ^ y, ~x, jax.lax.shift_left(x, y & 7),
            jax.lax.shift_right_arithmetic(x, y & 7),
            jax.lax.shift_right_logical(x, y & 7), -x, jnp.abs(x), x < y, x == y)  # fmt: skip


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_integers(dtype, rng):
    x = rng.integers(-(2**31), 2**31 - 1, (33, 100)).astype(dtype)
    y = rng.integers(1, 2**31 - 1, (33, 100)).astype(dtype)
    program = check(integer_function, x, y)
    assert bool(program.compiled.gpsimd_kernels) == (dtype == np.int64)  # products, quotients


@pytest.mark.parametrize("target", ["float16", "bfloat16", "int32", "int64", "bool", "float64"])
@pytest.mark.parametrize("source", ["float32", "int32", "int64", "bool", "uint8"])
def test_convert(source, target, rng):
    x = (normal(rng, 33, 100) * 100).astype(source)
    check(lambda x: x.astype(target), x)


def test_select_clamp_iota_constant(rng):
    x, y = normal(rng, 33, 100), normal(rng, 33, 100)
    table = np.arange(100, dtype=np.float32)
    check(lambda x, y: jnp.where(x > y, x, y * 2), x, y)
    check(lambda x: jnp.clip(x, -0.5, 0.5), x)
    check(lambda x: jnp.where(jnp.arange(33)[:, None] >= jnp.arange(100), x, -jnp.inf), x)
    check(lambda x: x + table, x)


@pytest.mark.parametrize("chosen", [True, False])
def test_select_by_a_constant(chosen, rng):
    text = f"""HloModule select
ENTRY main {{
  x = f32[3,4] parameter(0)
  y = f32[3,4] parameter(1)
  scalar = pred[] constant({str(chosen).lower()})
  all = pred[3,4] broadcast(scalar), dimensions={{}}
  one = f32[3,4] select(all, x, y)
  ROOT both = f32[3,4] add(one, y)
}}"""
    x, y = normal(rng, 3, 4), normal(rng, 3, 4)
    check_text(text, x, y, tolerance=0)


@pytest.mark.parametrize("place", [[], [1]])
@pytest.mark.parametrize("dtype", [np.float32, np.int32, ml_dtypes.bfloat16])
def test_run_time_scalar(place, dtype, rng):
    x = (normal(rng, 33, 100) * 10).astype(dtype)
    check(lambda x, s: (x * s, s - x, s * s), x, dtype(3), scalars=place)


@pytest.mark.parametrize("axes", [(1, 0), (2, 0, 1), (0, 2, 1), (3, 1, 0, 2)])
def test_transposed_operands(axes, rng):
    shape = (33, 5, 40, 6)[: len(axes)]
    x = normal(rng, *shape)
    check(lambda x: jnp.transpose(x, axes) * 2, x, tolerance=0)


def test_dense_float_programs_hold_no_gpsimd_kernel(rng):
    x = normal(rng, 64, 128)
    program = check(lambda x: jax.nn.gelu(x) * jax.nn.sigmoid(x), x)
    assert program.compiled.gpsimd_kernels == []
