"""Pooling on Vector against XLA."""

import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check
from jax import lax


def normal(*shape, dtype=np.float32):
    return (np.random.default_rng(list(shape)).standard_normal(shape) * 9).astype(dtype)


def window(init, operator, *arguments, **options):
    return lambda x: lax.reduce_window(x, np.array(init, x.dtype), operator, *arguments, **options)


CASES = {
    "max": (window(-np.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), normal(2, 3, 8, 8)),
    "padded_max": (
        window(-np.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME"), normal(20, 30, 33, 35)),
    "average": (window(0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "SAME"), normal(2, 3, 9, 8)),
    "channels_last": (window(0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), normal(2, 9, 8, 70)),
    "min_1d": (window(np.inf, lax.min, (1, 5), (1, 1), "SAME"), normal(3, 900)),
    "no_other_dimension": (window(0, lax.add, (5,), (2,), "VALID"), normal(900)),
    "spread_out": (
        window(0, lax.add, (1, 3, 3), (1, 1, 1), ((0, 0), (2, 2), (1, 2)),
               base_dilation=(1, 2, 2)), normal(4, 9, 8)),
    "dilated": (
        window(0, lax.add, (1, 3, 3), (1, 1, 1), "VALID", window_dilation=(1, 2, 3)),
        normal(4, 19, 18)),
    "initial_value": (window(2.5, lax.max, (1, 3), (1, 1), "SAME"), normal(4, 19)),
    "integers": (window(0, lax.add, (1, 3), (1, 1), "SAME"), normal(4, 19, dtype=np.int32)),
    "three_dimensions": (
        window(0, lax.add, (1, 2, 2, 2), (1, 2, 2, 2), "VALID"), normal(4, 6, 6, 6)),
    "wide_stride": (window(0, lax.add, (1, 9, 9), (1, 9, 9), "VALID"), normal(3, 400, 400)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_on_vector(case):
    function, x = CASES[case]
    program = check(function, x, tolerance=1e-4)
    assert program.compiled.gpsimd_kernels == []


def test_narrow_sums_round_once():
    x = normal(4, 19, dtype=ml_dtypes.bfloat16)
    check(window(0, lax.add, (1, 3), (1, 1), "SAME"), x, tolerance=2e-2)
