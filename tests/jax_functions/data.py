"""Arguments: drawn one after the other, so the same values in every run."""

import numpy as np

_rng = np.random.default_rng(0)


def f(*shape, dtype=np.float32):
    """Normally distributed."""
    return _rng.standard_normal(shape).astype(dtype)


def p(*shape, dtype=np.float32):
    """In [0.1, 1.1)."""
    return (_rng.random(shape) + 0.1).astype(dtype)


def i(high, *shape, dtype=np.int32):
    """Integers in [0, high)."""
    return _rng.integers(0, high, shape).astype(dtype)


def b(*shape):
    """True and False."""
    return _rng.random(shape) < 0.5
