"""local_gather and nc_n_gather."""

import nki.isa as nisa
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, INTEGERS, random_array, random_walk, refused, run, same_bits

import nki

DTYPES = [*FLOATS, *INTEGERS]


def local_reference(src, index, each=1, valid=None):
    """Core by core, as the public documentation's NumPy example does it."""
    rows = []
    for first in range(0, len(src), 16):
        flat = index[first : first + 16].flatten(order="F")[:valid].astype(int)
        at = (flat[:, None] + np.arange(each)).ravel()
        rows.append(src[first : first + 16][:, at])
    return np.concatenate(rows)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("each", [1, 2, 4, 8, 16, 32])
def test_local_gather(dtype, each, rng):
    src = random_array(rng, (128, 64 * each), dtype)
    index = rng.integers(0, 64, (128, 3)).astype(np.uint16) * np.uint16(each)
    want = local_reference(src, index, each)
    got = run(
        lambda d, s, i: nisa.local_gather(d, s, i, each),
        src,
        index,
        out=want.shape,
        out_dtype=dtype,
    )
    same_bits(got, want)


@pytest.mark.parametrize("rows", [16, 32, 48, 128])
@pytest.mark.parametrize("valid", [1, 15, 16, 33, 64])
def test_local_gather_takes_the_first_valid_indices(rows, valid, rng):
    src = rng.standard_normal((rows, 50)).astype(np.float32)
    index = rng.integers(0, 50, (rows, 4)).astype(np.uint16)
    got = run(lambda d, s, i: nisa.local_gather(d, s, i, 1, valid), src, index, out=(rows, valid))
    same_bits(got, local_reference(src, index, 1, valid))


def n_reference(data, indices):
    return np.take_along_axis(data, indices.astype(np.int64), axis=1)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (128, 7), (33, 1200)])
def test_n_gather(dtype, shape, rng):
    data = random_array(rng, (shape[0], 90), dtype)
    indices = rng.integers(0, 90, shape).astype(np.uint32)
    got = run(nisa.nc_n_gather, data, indices, out=shape, out_dtype=dtype)
    same_bits(got, n_reference(data, indices))


@pytest.mark.parametrize("seed", range(12))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    dtype = rng.choice(DTYPES)
    rows, m, n = 16 * int(rng.integers(1, 9)), int(rng.integers(1, 200)), int(rng.integers(1, 9))
    width, view, in_numpy = random_walk(rng, m)
    data = random_array(rng, (rows, width), dtype)
    walked = np.ascontiguousarray(in_numpy(data))
    index = rng.integers(0, m, (rows, n))
    got = run(
        lambda d, s, i: nisa.nc_n_gather(d, view(s), i),
        data,
        index.astype(np.uint32),
        out=(rows, n),
        out_dtype=dtype,
    )
    same_bits(got, n_reference(walked, index))
    got = run(
        lambda d, s, i: nisa.local_gather(d, view(s), i),
        data,
        index.astype(np.uint16),
        out=(rows, 16 * n),
        out_dtype=dtype,
    )
    same_bits(got, local_reference(walked, index))


def test_in_place(rng):
    data = rng.standard_normal((16, 40)).astype(np.float32)
    indices = rng.integers(0, 40, data.shape).astype(np.uint32)

    def body(dst, data, indices):
        nisa.tensor_copy(dst, data)
        nisa.nc_n_gather(dst, dst, indices)

    same_bits(run(body, data, indices, out=data.shape), n_reference(data, indices))


def test_an_index_beyond_the_row_ends_the_run():
    data = np.zeros((16, 8), np.float32)
    indices = np.zeros((16, 2), np.uint32)
    indices[3, 1] = 8
    with pytest.raises(nki.NkiExecutionError, match=r"index 8 at row 3 is out of bounds \[0, 8\)"):
        run(nisa.nc_n_gather, data, indices, out=(16, 2))
    with pytest.raises(nki.NkiExecutionError, match="index 7 of the core at row 0 takes 2"):
        run(
            lambda d, s, i: nisa.local_gather(d, s, i, 2),
            data,
            np.full((16, 1), 7, np.uint16),
            out=(16, 32),
        )


def test_refusals():
    x, i16, i32 = (np.zeros((16, 8), t) for t in (np.float32, np.uint16, np.uint32))
    local = lambda *a: lambda d, s, i: nisa.local_gather(d, s, i, *a)  # noqa: E731
    assert "index is u32" in refused(local(), x, i32, out=(16, 128))
    assert "expected a multiple of 16" in refused(
        local(), x[:8].copy(), i16[:8].copy(), out=(8, 128)
    )
    assert "3, allowed are 1, 2, 4" in refused(local(3), x, i16, out=(16, 384))
    assert "is 129, allowed are 1 to 128" in refused(local(1, 129), x, i16, out=(16, 129))
    assert "dst has 127 elements per partition, expected 128" in refused(
        local(), x, i16, out=(16, 127)
    )
    assert "local_gather.dtype" in refused(local(), x, i16, out=(16, 128), out_dtype=BF16)
    assert "indices is u16" in refused(nisa.nc_n_gather, x, i16, out=(16, 8))
    assert "nc_n_gather.shape" in refused(nisa.nc_n_gather, x, i32, out=(16, 7))
    assert "nc_n_gather.dtype" in refused(nisa.nc_n_gather, x, i32, out=(16, 8), out_dtype=BF16)
    assert "dst is in psum" in refused(nisa.nc_n_gather, x, i32, out=(16, 8), psum=(-1,))
