"""Modules of hlo::Builder (tests/hlo/example_modules.h) in XLA, against their NumPy formulas."""

import ml_dtypes
import neuron_testing
import numpy as np
import pytest
import xla_oracle

_rng = np.random.default_rng(3)


def _elementwise(x, s):
    chosen = np.where(x > 0, np.clip(x * s, -1, 1), s).astype(np.float32)
    rounded = x.astype(ml_dtypes.bfloat16).astype(np.float32)
    return chosen, chosen.view(np.int32), rounded, x.astype(np.float16).astype(np.float32), -x


def _movement(x, i):
    padded = np.full((6, 5), 9, np.float32)
    padded[1::2, :3] = x[:, 1:]
    updated = x.copy()
    updated[i : i + 2, 1:3] *= -1
    return (
        np.broadcast_to(x[1], (2, 3, 4)),
        x.T[::-1],
        padded,
        np.concatenate([x, x[:, ::2]], 1),
        x[i : i + 2, 1:3],
        updated,
        np.broadcast_to(np.arange(4, dtype=np.float32), (3, 4)),
    )


def _reductions(x):
    windows = x.reshape(3, 2, 2)
    pooled = windows.max((0, 2))[None]
    back = np.where(windows == pooled[0][None, :, None], windows, 0).reshape(3, 4)
    return (x.sum(0), x.prod(), x.max(1), np.trunc(x).astype(np.int32).min(1),
            (x > 0).all(1), (x > 0).any(0), pooled, back)  # fmt: skip


def _contractions(x, y):
    narrow = [a.astype(ml_dtypes.bfloat16).astype(np.float32) for a in (x, y)]
    kernel = y[:, :, :3].reshape(6, 2, 2, 1)[:, :, 0, 0]
    return x @ y, narrow[0] @ narrow[1], np.einsum("oc,chw->ohw", kernel, x)[None]


def _indexing(x, i):
    sums = np.zeros_like(x)
    np.add.at(sums, i[:, 0], x[i[:, 0]])
    order = np.argsort(x, 1, kind="stable").astype(np.int32)
    return x[i[:, 0]], sums, np.take_along_axis(x, order, 1), order


def _control(n, x):
    doubled = x * np.float32(2) ** n
    return doubled, -doubled if n > 2 else np.abs(x), -x


def _irregular(a, y):
    lower = np.linalg.cholesky(a)
    return lower, np.linalg.solve(lower, y), np.fft.rfft(a).real.astype(np.float32), None


_SPD = np.array([[4, 1, 0.5], [1, 3, 0.2], [0.5, 0.2, 2]], np.float32)


def _normal(*shape):
    return _rng.standard_normal(shape).astype(np.float32)


EXPECTED = {
    "elementwise": (_elementwise, [_normal(3, 4), np.float32(0.7)]),
    "movement": (_movement, [_normal(3, 4), np.int32(1)]),
    "reductions": (_reductions, [_normal(3, 4)]),
    "contractions": (_contractions, [_normal(2, 3, 4), _normal(2, 4, 5)]),
    "indexing": (_indexing, [_normal(6, 4), np.int32([[1], [5], [0], [1], [2]])]),
    "control": (_control, [np.int32(3), _normal(3)]),
    "irregular": (_irregular, [_SPD, _normal(3, 2)]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_xla_runs_what_the_builder_makes(name):
    formula, arguments = EXPECTED[name]
    results = xla_oracle.run(neuron_testing.hlo.builder_examples()[name], arguments)
    want = formula(*arguments)
    assert len(results) == len(want)
    for got, expected in zip(results, want, strict=True):
        if expected is not None:  # random bits: XLA's algorithm is its own
            np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-6)


def test_every_example_has_a_formula():
    assert set(neuron_testing.hlo.builder_examples()) == set(EXPECTED)
