"""Prefix scans: a reduce-window over everything up to here, against XLA."""

import numpy as np
import pytest
from compiler.harness import check
from jax import lax


def scan(x, dim, backward=False, op=lax.add, init=0):
    n = x.shape[dim]
    window = [n if d == dim else 1 for d in range(x.ndim)]
    own = (0, n - 1) if backward else (n - 1, 0)
    padding = [own if d == dim else (0, 0) for d in range(x.ndim)]
    return lax.reduce_window(x, np.array(init, x.dtype), op, window, [1] * x.ndim, padding)


@pytest.mark.parametrize("shape", [(33, 100), (5, 130, 7), (10000,), (300, 1)])
@pytest.mark.parametrize("backward", [False, True])
def test_sums_and_extremes(shape, backward):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for dim in range(len(shape)):
        program = check(lambda x, d=dim: scan(x, d, backward), x, tolerance=1e-3)
        assert program.compiled.gpsimd_kernels == []
        check(lambda x, d=dim: scan(x, d, backward, lax.max, -np.inf), x)


def test_products_and_integers():
    rng = np.random.default_rng(0)
    x = 1 + 0.01 * rng.standard_normal((33, 100)).astype(np.float32)
    check(lambda x: scan(x, 1, op=lax.mul, init=1), x, tolerance=1e-4)
    check(lambda x: scan(x, 1), rng.integers(-1000, 1000, (33, 100)).astype(np.int32))
