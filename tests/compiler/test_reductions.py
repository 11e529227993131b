"""Reductions along rows, columns and whole tensors, against XLA."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check, compile_function


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
        ((100, 12288), (1,)),
        ((6, 4096, 5), (1, 2)),
        ((256, 64, 1024), (0, 1, 2)),
        ((16777216 * 3 // 2,), (0,)),
        ((9000, 300), (0,)),
        ((64, 3, 40, 40), (0, 2, 3)),
        ((50, 64, 16), (0, 2)),
    ],
)
def test_reduce(shape, axes, rng):
    x = rng.standard_normal(shape).astype(np.float32)
    check(lambda x: (x.sum(axes), (x * 2).mean(axes)), x, tolerance=2e-3)
    check(lambda x: (x.max(axes), x.min(axes), (x > 3).any(axes), (x > -9).all(axes)), x)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
@pytest.mark.parametrize("shape", [(4096, 1024), (40, 3, 64, 64), (1 << 26,)])
def test_what_a_long_row_is_computed_from_is_not_stored(shape, dtype, rng):
    x = rng.standard_normal(shape).astype(dtype)
    program = check(lambda x: jnp.square(x.astype(jnp.float32)).mean(), x, tolerance=1e-4)
    chunks = x.size // 4096
    assert program.compiled.scratch_bytes <= 2 * 4 * chunks


@pytest.mark.parametrize("shape", [(8, 4096), (4, 8192), (2, 3, 4096), (1, 4096 * 4096 * 2)])
def test_chunks_are_reduced_in_the_one_order(shape, rng):
    """Bit by bit: 16 lanes in chunks of 4096, chunks' results a row of their own."""

    def ordered(row):
        chunks = [row[i : i + 4096] for i in range(0, len(row), 4096)]
        sums = np.empty(len(chunks), np.float32)
        for i, chunk in enumerate(chunks):
            padded = np.pad(chunk, (0, -len(chunk) % 16)).reshape(-1, 16)
            lanes = np.add.accumulate(padded, axis=0, dtype=np.float32)[-1]
            for half in (8, 4, 2, 1):
                lanes = lanes[:half] + lanes[half : 2 * half]
            sums[i] = lanes[0]
        return sums[0] if len(sums) == 1 else ordered(sums)

    x = rng.standard_normal(shape).astype(np.float32)
    (got,) = compile_function(lambda x: x.sum(), x)(x)
    assert got == ordered(x.reshape(-1))


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
