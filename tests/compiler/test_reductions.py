"""Reductions along rows, columns and whole tensors, against XLA."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        ((33, 100), (1,)),
        ((33, 100), (0,)),
        ((33, 100), (0, 1)),
        ((5, 7, 11), (1,)),
        ((5, 7, 11), (0, 2)),
        ((64, 8, 9), (0, 2)),
        ((1000, 1000), (1,)),
        ((128, 4096), (1,)),
        ((3, 8192), (1,)),
        ((16,), (0,)),
        ((1000003,), (0,)),
        ((4, 20000), (1,)),
        ((100, 20000), (1,)),
        ((9000, 300), (0,)),
        ((64, 3, 40, 40), (0, 2, 3)),
        ((50, 64, 16), (0, 2)),
    ],
)
def test_reduce(shape, axes, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    check(lambda x: (x.sum(axes), (x * 2).mean(axes)), x, tolerance=2e-3)
    check(lambda x: (x.max(axes), x.min(axes), (x > 3).any(axes), (x > -9).all(axes)), x)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.uint8])
def test_integer_reduce(dtype, rng):
    x = rng.integers(0, 200, (33, 100)).astype(dtype)
    check(lambda x: (x.sum(1), x.max(0), x.sum(), x.prod(0)), x)


@pytest.mark.parametrize("shape", [(33, 100), (333, 10), (4, 8, 33, 64), (300, 128), (2, 5000)])
def test_normalisations_are_one_kernel(shape, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    softmax = check(jax.nn.softmax, x, tolerance=1e-5)
    assert softmax.compiled.scratch_bytes == 0
    check(jax.nn.log_softmax, x, tolerance=1e-5)

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)

    check(norm, x, tolerance=1e-4)


@pytest.mark.parametrize("axis", [0, 1])
def test_argmax(axis, rng):
    x = rng.integers(0, 30, (33, 100)).astype(np.float32)
    check(lambda x: (x.argmax(axis), x.argmin(axis)), x)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize(
    ("shape", "axes"), [((1000, 48), 0), ((4, 256, 384), (0, 1)), ((130, 600), 0)]
)
def test_relaxed_column_sums_run_on_the_tensor_engine(shape, axes, dtype):
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype)
    program = check(
        lambda x: jnp.sum(x.astype(jnp.float32), axis=axes), x, tolerance=2e-4, relaxed=True
    )
    assert "nc_matmul" in program.compiled.opcodes
    assert not {"tensor_reduce", "dma_transpose"} & set(program.compiled.opcodes)


@pytest.mark.parametrize("reduce", [jnp.sum, jnp.max, jnp.prod])
def test_extents_of_one_before_a_row(reduce):
    # Adaptive pooling of [1, 1, 1, 6] to [1, 2] in one kernel: only the last reduction has a row.
    def function(x):
        once = reduce(x.reshape(1, 1, 1, 1, 6), axis=3) / 2.0
        return once, reduce(once.reshape(1, 1, 1, 2, 3), axis=4) / 3.0

    check(function, np.array([[[[0.0, -0.0, 2.0, 3.0, 4.0, 5.0]]]], np.float32))
