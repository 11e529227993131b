"""Dots through the emulator against XLA."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check
from jax import lax


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


SIZES = [(4, 5, 6), (1, 64, 100), (130, 257, 515), (1000, 3, 1), (1, 1, 1), (5, 4100, 7)]
LAYOUTS = {
    "nn": (lambda a, b: a @ b, lambda m, k, n: ((m, k), (k, n))),
    "nt": (lambda a, b: a @ b.T, lambda m, k, n: ((m, k), (n, k))),
    "tn": (lambda a, b: a.T @ b, lambda m, k, n: ((k, m), (k, n))),
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_matrices(size, layout):
    function, shapes = LAYOUTS[layout]
    lhs, rhs = shapes(*size)
    scale = np.float32(size[1] ** -0.5)
    program = check(function, normal(*lhs), normal(*rhs, seed=1) * scale, tolerance=1e-5)
    assert program.compiled.gpsimd_kernels == []


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("result", [None, jnp.float32])
def test_half_precision_accumulates_in_fp32(dtype, result):
    a, b = normal(130, 70, dtype=dtype), normal(70, 90, dtype=dtype, seed=1)
    program = check(
        lambda a, b: lax.dot(a, b, preferred_element_type=result), a, b,
        tolerance=2e-2 if result is None else 1e-5,
    )  # fmt: skip
    assert program.compiled.gpsimd_kernels == []


EINSUMS = {
    "bij,bjk->bik": ((7, 20, 30), (7, 30, 11)),
    "bthd,bshd->bhts": ((2, 17, 3, 8), (2, 19, 3, 8)),
    "bhts,bshd->bthd": ((2, 3, 17, 19), (2, 19, 3, 8)),
    "btk,btn->kn": ((2, 70, 33), (2, 70, 45)),
    "abcd,cbe->ade": ((4, 3, 5, 6), (5, 3, 7)),
    "ab,b->a": ((40, 50), (50,)),
    "b,b->": ((50,), (50,)),
    "a,b->ab": ((50,), (60,)),
    "abcij,abcjk->abcik": ((2, 3, 2, 4, 5), (2, 3, 2, 5, 6)),
}


@pytest.mark.parametrize("equation", EINSUMS)
def test_any_dimension_numbers(equation):
    lhs, rhs = EINSUMS[equation]
    program = check(
        lambda a, b: jnp.einsum(equation, a, b), normal(*lhs), normal(*rhs, seed=1), tolerance=2e-5
    )
    assert program.compiled.gpsimd_kernels == []


def test_empty_contraction():
    check(lambda a, b: a @ b, normal(3, 0), normal(0, 4))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.float64, np.complex64])
def test_wide_numbers_and_integers(dtype):
    a, b = (normal(2, 5, 7) * 10).astype(dtype), (normal(2, 7, 3, seed=1) * 10).astype(dtype)
    program = check(lambda a, b: jnp.einsum("bij,bjk->bik", a, b), a, b, tolerance=1e-4)
    assert program.compiled.gpsimd_kernels == ["wide_dot"]
