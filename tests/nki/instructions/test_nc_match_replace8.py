import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, random_walk, refused, run, same_bits

ABSENT = 2**32 - 1


def reference(data, vals, imm):
    """vals from the last to the first, each takes the first place that is left."""
    out, at = data.copy(), np.full(vals.shape, ABSENT, np.uint32)
    for row in range(len(data)):
        taken = np.zeros(data.shape[1], bool)
        for j in range(7, -1, -1):
            places = np.flatnonzero((data[row] == vals[row, j]) & ~taken)
            if len(places):
                taken[places[0]] = True
                at[row, j] = places[0]
        out[row, taken] = imm
    return out, at


def replace(imm, view=lambda t: t):
    """dst[:, :N] results, dst[:, N:] indices as numbers."""

    def body(dst, data, vals):
        n = dst.shape[1] - 8
        index = nl.ndarray((dst.shape[0], 8), nl.uint32)
        nisa.nc_match_replace8(dst[:, :n], view(data), vals, imm, index)
        nisa.tensor_copy(dst[:, n:], index)

    return body


def check(got, data, vals, imm):
    out, at = reference(data, vals, imm)
    n = data.shape[1]
    same_bits(got[:, :n].copy(), out.astype(np.float32))
    same_bits(got[:, n:].copy(), at.astype(np.float32))


@pytest.mark.parametrize("n", [8, 9, 100, 5000])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_replaces_what_it_finds(n, dtype, rng):
    data = rng.integers(0, 4 * n, (16, n)).astype(np.float32).clip(-200, 200).astype(dtype)
    vals = np.take_along_axis(data, rng.integers(0, n, (16, 8)), axis=1)
    vals[:, 2] = dtype.type(-9)  # not there
    check(run(replace(-1.0), data, vals, out=(16, n + 8)), data, vals, -1)


def test_equal_values_take_descending_positions():
    data = np.array([[7, 1, 7, 7, 2, 1, 0, 7]], np.float32)
    vals = np.array([[7, 7, 1, 7, 7, 1, 7, 2]], np.float32)
    got = run(replace(-1.0), data, vals, out=(1, 16))
    same_bits(got[:, :8].copy(), np.array([[-1, -1, -1, -1, -1, -1, 0, -1]], np.float32))
    want = np.array([[ABSENT, 7, 5, 3, 2, 1, 0, 4]], np.uint32)
    same_bits(got[:, 8:].copy(), want.astype(np.float32))


def test_replacement_is_not_found_again():
    data = np.array([[1, 2, 3, 4, 5, 6, 7, 8, 9]], np.float32)
    vals = np.array([[9, 1, 1, 1, 1, 1, 1, 1]], np.float32)
    check(run(replace(9.0), data, vals, out=(1, 17)), data, vals, 9)


def test_top_16_in_two_rounds(rng):
    data = rng.permuted(np.arange(640, dtype=np.float32).reshape(8, 80), axis=1)

    def body(dst, data):
        work = nl.ndarray(data.shape, nl.float32)
        nisa.max8(dst[:, :8], data)
        nisa.nc_match_replace8(work, data, dst[:, :8], float("-inf"))
        nisa.max8(dst[:, 8:], work)

    same_bits(run(body, data, out=(8, 16)), -np.sort(-data, axis=1)[:, :16])


def test_in_place_and_without_indices(rng):
    data = rng.integers(0, 50, (128, 60)).astype(np.float32)
    vals = data[:, :8].copy()

    def body(dst, data, vals):
        nisa.tensor_copy(dst, data)
        nisa.nc_match_replace8(dst, dst, vals, 0.5)

    same_bits(run(body, data, vals, out=data.shape), reference(data, vals, 0.5)[0])


def test_32_bit_integers_are_exact():
    data = np.arange(2**30, 2**30 + 16, dtype=np.int32)[None]
    vals = data[:, 3:11].copy()
    got = run(
        lambda d, t, v: nisa.nc_match_replace8(d, t, v, -1.0),
        data,
        vals,
        out=data.shape,
        out_dtype=np.int32,
    )
    same_bits(got, reference(data, vals, -1)[0])


@pytest.mark.parametrize("seed", range(12))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows, n = int(rng.choice([1, 33, 128])), int(rng.integers(4, 300)) * 2
    width, view, in_numpy = random_walk(rng, n)
    data = rng.integers(-5, 9, (rows, width)).astype(rng.choice(FLOATS))
    vals = rng.integers(-5, 12, (rows, 8)).astype(data.dtype)
    got = run(replace(-100.0, view), data, vals, out=(rows, n + 8))
    check(got, np.ascontiguousarray(in_numpy(data)), vals, -100)


def test_refusals():
    x, vals = np.zeros((4, 9), np.float32), np.zeros((4, 8), np.float32)

    def refusal(data=x, values=vals, out=(4, 9), index=None):
        def body(d, t, v):
            nisa.nc_match_replace8(d, t, v, 0.0, index and nl.ndarray(*index))

        return refused(body, data, values, out=out)

    assert "is 7, allowed are 8 to 16384" in refusal(x[:, :7].copy(), out=(4, 7))
    assert "vals has 9 elements per partition, expected 8" in refusal(values=x)
    assert "nc_match_replace8.shape" in refusal(out=(4, 8))
    assert "dst_idx is bf16" in refusal(index=((4, 8), BF16))
    assert "dst_idx has 4 elements" in refusal(index=((4, 4), np.uint16))
