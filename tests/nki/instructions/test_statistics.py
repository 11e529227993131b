"""bn_stats, bn_aggr, max8, nc_find_index8."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, refused, run, same_bits


@pytest.mark.parametrize("n", [1, 2, 7, 64, 512])
def test_bn_stats_of_even_and_odd_elements(n, rng):
    x = (3 + rng.standard_normal((32, n))).astype(np.float32)
    got = run(nisa.bn_stats, x, out=(32, 6)).astype(np.float64)
    for first, half in ((0, x[:, ::2]), (3, x[:, 1::2])):
        count = half.shape[1]
        np.testing.assert_array_equal(got[:, first], count)
        if count == 0:
            continue
        exact = half.astype(np.float64)
        np.testing.assert_allclose(got[:, first + 1], exact.mean(axis=1), rtol=1e-6)
        np.testing.assert_allclose(
            got[:, first + 2], exact.var(axis=1) * count, rtol=1e-4, atol=1e-5
        )


def test_bn_aggr_joins_chunks(rng):
    x = (3 + rng.standard_normal((128, 1500))).astype(np.float32)

    def body(dst, tile):
        stats = nl.ndarray((128, 3, 6), nl.float32)
        for i in range(3):
            nisa.bn_stats(stats[:, i], tile[:, i * 500 : (i + 1) * 500])
        nisa.bn_aggr(dst, stats)

    got = run(body, x, out=(128, 2))
    np.testing.assert_allclose(got[:, 0], x.astype(np.float64).mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(got[:, 1], x.astype(np.float64).var(axis=1), rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
@pytest.mark.parametrize("n", [8, 9, 1000])
def test_max8_is_the_head_of_a_sort(n, dtype, rng):
    x = rng.standard_normal((16, n)).astype(dtype)
    want = -np.sort(-x.astype(np.float32), axis=1)[:, :8]
    same_bits(run(nisa.max8, x, out=(16, 8), out_dtype=dtype), want.astype(dtype))


def test_max8_keeps_duplicates():
    x = np.array([[1, 5, 5, 2, 5, 0, 3, 3, 4]], np.float32)
    same_bits(run(nisa.max8, x, out=(1, 8)), np.array([[5, 5, 5, 4, 3, 3, 2, 1]], np.float32))


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32], ids=str)
def test_find_index8(dtype, rng):
    x = rng.permuted(np.arange(640, dtype=np.float32).reshape(8, 80), axis=1)
    at = rng.integers(0, 80, (8, 8))
    vals = np.take_along_axis(x, at, axis=1)
    vals[:, 3] = -1  # not there
    at[:, 3] = np.iinfo(dtype).max
    # A value asked for twice is found once.
    for row in range(8):
        for j in range(8):
            if vals[row, j] in vals[row, :j]:
                at[row, j] = np.iinfo(dtype).max
    same_bits(run(nisa.nc_find_index8, x, vals, out=(8, 8), out_dtype=dtype), at.astype(dtype))


def test_find_index8_gives_duplicates_ascending_positions():
    x = np.array([[7, 1, 7, 7, 2, 1, 0, 7]], np.float32)
    vals = np.array([[7, 7, 1, 7, 7, 1, 7, 2]], np.float32)
    none = 2**32 - 1
    want = np.array([[0, 2, 1, 3, 7, 5, none, 4]], np.uint32)
    same_bits(run(nisa.nc_find_index8, x, vals, out=(1, 8), out_dtype=np.uint32), want)


def test_refusals():
    x = np.zeros((4, 600), np.float32)
    assert "is 600, allowed are 1 to 512" in refused(nisa.bn_stats, x, out=(4, 6))
    assert "dst's elements per partition is 5" in refused(
        nisa.bn_stats, x[:, :9].copy(), out=(4, 5)
    )
    assert "expected a multiple of 3" in refused(nisa.bn_aggr, x[:, :10].copy(), out=(4, 2))
    assert "is 7, allowed are 8 to 16384" in refused(nisa.max8, x[:, :7].copy(), out=(4, 8))
    eight = np.zeros((4, 8), np.float32)
    assert "dst is f32" in refused(nisa.nc_find_index8, x, eight, out=(4, 8))
    assert "takes at most 3" in refused(
        lambda d, t: nisa.max8(d, t.reshape([4, 5, 5, 6, 4])[:, ::2, ::2, ::2, ::2]), x, out=(4, 8)
    )
    assert "walks 5 free dimensions" in refused(
        lambda d, t: nisa.max8(d, t.reshape([4, 2, 3, 4, 5, 5])[:, :, ::2, ::2, ::2, ::2]),
        x,
        out=(4, 8),
    )
