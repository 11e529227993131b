import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, INTEGERS, random_array, random_walk, refused, run, same_bits

DTYPES = [np.dtype(np.float32), BF16, *INTEGERS]


def reference(dst, src, mask):
    want = dst.copy()
    for row in range(len(dst)):
        if mask[row % 32] != 255:
            want[row] = src[row // 32 * 32 + mask[row % 32]]
    return want


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("rows", [32, 64, 96, 128])
def test_permutes_each_quadrant(rows, dtype, rng):
    x = random_array(rng, (rows, 37), dtype)
    mask = [int(i) for i in rng.permutation(32)]
    got = run(lambda d, t: nisa.nc_stream_shuffle(d, t, mask), x, out=x.shape, out_dtype=dtype)
    same_bits(got, reference(np.zeros_like(x), x, mask))


def test_255_leaves_a_partition_alone(rng):
    x = rng.standard_normal((64, 9)).astype(np.float32)
    old = rng.standard_normal((64, 9)).astype(np.float32)
    mask = [255 if i % 3 else 31 - i for i in range(32)]
    got = run(lambda d, t: nisa.nc_stream_shuffle(d, t, mask), x, out=x.shape, initial=old)
    same_bits(got, reference(old, x, mask))


def test_in_place(rng):
    x = rng.standard_normal((96, 5)).astype(np.float32)
    mask = [(i + 1) % 32 for i in range(32)]

    def body(dst, x):
        nisa.tensor_copy(dst, x)
        nisa.nc_stream_shuffle(dst, dst, mask)

    same_bits(run(body, x, out=x.shape), reference(x, x, mask))


@pytest.mark.parametrize("rows", [1, 7, 32])
def test_one_partition_to_many(rows, rng):
    x = rng.standard_normal((1, 30)).astype(np.float32)
    got = run(lambda d, t: nisa.nc_stream_shuffle(d, t, [0] * 32), x, out=(rows, 30))
    same_bits(got, np.repeat(x, rows, axis=0))


def test_to_another_quadrant_and_psum(rng):
    x = rng.standard_normal((32, 8)).astype(np.float32)
    mask = list(range(31, -1, -1))

    def body(dst, x):
        wide = nl.zeros((128, 8), nl.float32)
        nisa.nc_stream_shuffle(wide[64:96], x, mask)
        nisa.tensor_copy(dst, wide[64:96])

    for psum in ((), (0,), (-1,)):
        same_bits(run(body, x, out=x.shape, psum=psum), x[::-1].copy())


@pytest.mark.parametrize("seed", range(10))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows = int(rng.choice([1, 5, 32, 40, 64, 70, 128]))
    n = int(rng.choice([1, 2, 49, 300]))
    dtype = rng.choice(DTYPES)
    width, view, in_numpy = random_walk(rng, n)
    x = random_array(rng, (rows, width), dtype)
    old = random_array(rng, (rows, n), dtype)
    last = (rows - 1) % 32 + 1  # rows that every quadrant has
    mask = [255 if rng.random() < 0.2 else int(rng.integers(last)) for _ in range(32)]
    got = run(
        lambda d, t: nisa.nc_stream_shuffle(d, view(t), mask),
        x,
        out=(rows, n),
        out_dtype=dtype,
        initial=old,
    )
    same_bits(got, reference(old, np.ascontiguousarray(in_numpy(x)), mask))


def test_refusals():
    x = np.zeros((32, 8), np.float32)
    shuffle = lambda mask: lambda d, t: nisa.nc_stream_shuffle(d, t, mask)  # noqa: E731
    assert "the number of its entries is 31" in refused(shuffle([0] * 31), x, out=x.shape)
    assert "an entry is 32, allowed are 0 to 31" in refused(shuffle([32] * 32), x, out=x.shape)
    assert "takes row 9 of src, which has 4" in refused(shuffle([9] * 32), x[:4].copy(), out=(4, 8))
    assert "nc_stream_shuffle.dtype" in refused(shuffle([0] * 32), x, out=x.shape, out_dtype=BF16)
    assert "dst has 7 elements" in refused(shuffle([0] * 32), x, out=(32, 7))

    def misplaced(dst, x):
        wide = nl.ndarray((128, 8), nl.float32)
        nisa.nc_stream_shuffle(wide[32:96], x, [0] * 32)

    assert "multiples of 64" in refused(misplaced, np.zeros((64, 8), np.float32), out=(64, 8))
