"""What runs as GpSimd kernels: each HLO op against XLA."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program, check, check_text
from jax import lax


def normal(*shape, dtype=np.float32):
    return np.random.default_rng(list(shape)).standard_normal(shape).astype(dtype)


X = normal(5, 40)
INDEX = np.array([3, 1, 4, 1], np.int32)
ROWS, POSITIVE = normal(4, 40), normal(3, 6, 6)
POSITIVE = POSITIVE @ POSITIVE.transpose(0, 2, 1) + 6 * np.eye(6, dtype=np.float32)


def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


CASES = {
    "sort": (lambda x: jnp.sort(x, axis=0), [X], "sort"),
    "sort_integers": (lambda x: jnp.sort(x, axis=1), [(X * 100).astype(np.int64)], "sort"),
    "argsort": (lambda x: jnp.argsort(x, axis=1), [X], "sort"),
    "sort_two_keys": (
        lambda x, y: lax.sort((x, y), num_keys=2), [(X * 3).astype(np.int32), X], "sort"),
    "gather": (
        lambda x, i: jnp.take_along_axis(x, i, axis=1),
        [X, np.random.default_rng(0).integers(0, 40, (5, 7))], "gather_general"),
    "scatter_multiply": (
        lambda x, i, u: x.at[i].multiply(u), [X, INDEX, ROWS], "scatter_general"),
    "fft": (jnp.fft.fft, [normal(3, 12).astype(np.complex64)], "fft"),
    "rfft2": (jnp.fft.rfft2, [normal(3, 12, 10)], "fft"),
    "irfft": (jnp.fft.irfft, [normal(3, 12).astype(np.complex64)], "fft"),
    "fft_of_a_prime": (jnp.fft.fft, [normal(3, 101).astype(np.complex64)], "fft"),
    "fft_of_a_large_prime_double": (
        jnp.fft.fft, [normal(2, 331, dtype=np.float64).astype(np.complex128)], "fft"),
    "ifftn": (jnp.fft.ifftn, [normal(3, 12, 10).astype(np.complex64)], "fft"),
    "rfft_of_an_odd_length": (jnp.fft.rfft, [normal(3, 45)], "fft"),
    "irfft_of_an_odd_length": (
        lambda x: jnp.fft.irfft(x, 45), [normal(3, 23).astype(np.complex64)], "fft"),
    "rfftn_double": (jnp.fft.rfftn, [normal(3, 4, 10, dtype=np.float64)], "fft"),
    "fft_gradient": (
        jax.grad(lambda x: jnp.sum(jnp.abs(jnp.fft.rfft(x)) ** 2 * jnp.arange(8))),
        [normal(3, 15)], "fft"),
    "sum_pool_of_wide": (
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3), (1, 2), "SAME"),
        [normal(5, 40, dtype=np.float64)], "reduce_window_wide"),
    "running_sum_of_wide": (
        lambda x: lax.cumsum(x, axis=1), [(X * 100).astype(np.int64)], "reduce_window_wide"),
    "max_pool_gradient": (
        lambda x, g: jax.vjp(max_pool, x)[1](g), [normal(2, 3, 8, 8), normal(2, 3, 4, 4)],
        "select_and_scatter_general"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_against_xla(case):
    function, arguments, kernel = CASES[case]
    program = check(function, *arguments, tolerance=1e-4)
    assert kernel in program.compiled.gpsimd_kernels


@pytest.mark.parametrize("value", [1 + 2j, 2.0**60 + 256, 3.0])
def test_fill_with_a_wide_number(value):
    """A fill is made of words, and each is the number's own: the imaginary part too."""
    dtype = np.complex64 if isinstance(value, complex) else np.int64
    value = value if dtype == np.complex64 else int(value) + 1
    check(lambda x: (jnp.full((3, 5), value, dtype), x), X, tolerance=0)


@pytest.mark.parametrize("words", [2, 3])
def test_rng_bit_generator(words):
    text = f"""HloModule rng
ENTRY main {{
  state = u64[{words}] parameter(0)
  all = (u64[{words}], u32[70,3]) rng-bit-generator(state), algorithm=rng_philox
  next = u64[{words}] get-tuple-element(all), index=0
  bits = u32[70,3] get-tuple-element(all), index=1
  ROOT out = (u64[{words}], u32[70,3]) tuple(next, bits)
}}"""
    program = check_text(text, np.array([3, 2**64 - 5, 9][:words], np.uint64))
    assert program.compiled.gpsimd_kernels == ["philox_bits"]


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transpose", ["NO_TRANSPOSE", "TRANSPOSE"])
def test_triangular_solve(left, transpose):
    dims = "3,6,4" if left else "3,4,6"
    text = f"""HloModule solve
ENTRY main {{
  a = f32[3,6,6] parameter(0)
  b = f32[{dims}] parameter(1)
  ROOT x = f32[{dims}] triangular-solve(a, b), left_side={str(left).lower()}, lower=true,
    unit_diagonal=false, transpose_a={transpose}
}}"""
    b = normal(*map(int, dims.split(",")))
    program = check_text(text, POSITIVE, b, tolerance=1e-4)
    assert program.compiled.gpsimd_kernels == ["triangular_solve"]


def test_cholesky():
    text = """HloModule cholesky
ENTRY main {
  a = f32[3,6,6] parameter(0)
  ROOT l = f32[3,6,6] cholesky(a), lower=true
}"""
    program = Program(xla_oracle.proto_of_text(text))
    (got,) = program(POSITIVE)
    np.testing.assert_allclose(got, np.linalg.cholesky(POSITIVE), rtol=1e-5, atol=1e-5)
