"""Gathers and scatters of slices by indirect DMA against XLA."""

import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check
from jax import lax

RNG = np.random.default_rng(0)


def normal(*shape, dtype=np.float32):
    return (RNG.standard_normal(shape) * 9).astype(dtype)


def indices(high, *shape):
    return RNG.integers(-3, high + 5, (*shape, 1)).astype(np.int32)


def gather(offset, dim, sizes):
    numbers = lax.GatherDimensionNumbers(offset, (dim,), (dim,))
    return lambda x, i: lax.gather(x, i, numbers, sizes, mode="clip")


def scatter(combine, window, dim):
    numbers = lax.ScatterDimensionNumbers(window, (dim,), (dim,))
    return lambda x, i, u: combine(x, i, u, numbers, mode="drop")


GATHERS = {
    "rows": (gather((1,), 0, (1, 40)), normal(50, 40), indices(50, 300)),
    "rows_2d": (gather((2,), 0, (1, 40)), normal(50, 40), indices(50, 30, 20)),
    "columns": (gather((0,), 1, (50, 1)), normal(50, 40), indices(40, 30)),
    "middle": (gather((0, 3), 1, (4, 1, 6)), normal(4, 9, 6), indices(9, 5, 7)),
    "elements": (gather((), 0, (1,)), normal(500), indices(500, 77)),
    "bfloat16": (
        gather((1,), 0, (1, 40)), normal(50, 40, dtype=ml_dtypes.bfloat16), indices(50, 30)),
    "int64": (gather((1,), 0, (1, 40)), normal(50, 40, dtype=np.int64), indices(50, 30)),
}  # fmt: skip


@pytest.mark.parametrize("case", GATHERS)
def test_gather(case):
    function, x, index = GATHERS[case]
    program = check(function, x, index, tolerance=0)
    assert program.compiled.gpsimd_kernels == []


@pytest.mark.parametrize(
    "dtype", [np.float32, np.float64, np.int32, np.int64, np.float16, ml_dtypes.bfloat16]
)
@pytest.mark.parametrize("place", [[], [2]])
def test_scatter_of_a_run_time_scalar(dtype, place):
    """DMA reads the scalar as memory, in its own dtype, where instructions read a register."""
    numbers = lax.ScatterDimensionNumbers((), (0,), (0,))
    x, index = normal(40).astype(dtype), np.array([[7]], np.int32)
    check(
        lambda x, i, s: lax.scatter(x, i, lax.reshape(s, (1,)), numbers, mode="drop"),
        x, index, dtype(-8.5), scalars=place, tolerance=0,
    )  # fmt: skip


UNIQUE = RNG.permutation(50)[:20, None].astype(np.int32)
SCATTERS = {
    "add_rows": (scatter(lax.scatter_add, (1,), 0), normal(50, 40), indices(50, 300),
                 normal(300, 40)),
    "add_elements": (scatter(lax.scatter_add, (), 0), normal(500), indices(500, 777), normal(777)),
    "add_columns": (scatter(lax.scatter_add, (0,), 1), normal(50, 40), indices(40, 30),
                    normal(50, 30)),
    "add_integers": (scatter(lax.scatter_add, (1,), 0), normal(50, 40, dtype=np.int32),
                     indices(50, 30), normal(30, 40, dtype=np.int32)),
    "set_rows": (scatter(lax.scatter, (1,), 0), normal(50, 40), UNIQUE, normal(20, 40)),
}  # fmt: skip


@pytest.mark.parametrize("case", SCATTERS)
def test_scatter(case):
    function, *arguments = SCATTERS[case]
    program = check(function, *arguments, tolerance=1e-5)
    assert program.compiled.gpsimd_kernels == []


def test_other_combiners_are_a_gpsimd_kernel():
    program = check(
        scatter(lax.scatter_max, (1,), 0), normal(50, 40), indices(50, 30), normal(30, 40)
    )
    assert program.compiled.gpsimd_kernels == ["scatter_general"]
