"""Runs one instruction on tiles: arrays are loaded to SBUF (or PSUM), results are stored back."""

import ml_dtypes
import nki.isa as nisa
import nki.language as nl
import numpy as np

import nki

BF16 = np.dtype(ml_dtypes.bfloat16)
F8 = np.dtype(ml_dtypes.float8_e5m2)
FLOATS = [np.dtype(np.float32), np.dtype(np.float16), BF16]
INTEGERS = [np.dtype(t) for t in (np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32)]


def run(body, *arrays, out, out_dtype=np.float32, psum=(), initial=None):
    """body(dst, *tiles); `out` is dst's shape. `psum`: indices of arrays that lie in PSUM, -1: dst.

    `initial` fills dst before. Returns dst as an array.
    """

    def kernel(arrays, initial):
        tiles = [nl.load(array) for array in arrays]
        for i in (i for i in psum if i >= 0):
            moved = nl.ndarray(tiles[i].shape, tiles[i].dtype, nl.psum)
            nisa.tensor_copy(moved, tiles[i])
            tiles[i] = moved
        dst = nl.ndarray(out, out_dtype, nl.psum if -1 in psum else nl.sbuf)
        if initial is not None:
            nisa.tensor_copy(dst, nl.load(initial))
        body(dst, *tiles)
        result = nl.ndarray(out, out_dtype, nl.shared_hbm)
        nl.store(result, dst)
        return result

    return nki.simulate(kernel)(list(arrays), initial)


def refused(body, *arrays, out, **options):
    """The message of the refusal."""
    try:
        run(body, *arrays, out=out, **options)
    except nki.NkiValidationError as error:
        return str(error)
    raise AssertionError("the instruction was accepted")


def fp32_to(dtype, values):
    """fp32 stored to dtype: floats round to nearest even; integers too, saturating, NaN to 0."""
    values = np.asarray(values, np.float32)
    dtype = np.dtype(dtype)
    if dtype.kind not in "iu":
        with np.errstate(over="ignore", invalid="ignore"):
            return values.astype(dtype)
    info = np.iinfo(dtype)
    rounded = np.nan_to_num(np.rint(values.astype(np.float64)), nan=0.0)
    return np.clip(rounded, info.min, info.max).astype(dtype)


def same_bits(got, want):
    want = np.asarray(want)
    assert got.dtype == want.dtype
    assert got.shape == want.shape
    nan = (
        np.isnan(got.astype(np.float32))
        if got.dtype.kind not in "iu"
        else np.zeros(got.shape, bool)
    )
    if nan.any():
        np.testing.assert_array_equal(nan, np.isnan(want.astype(np.float32)))
    bits = f"u{got.dtype.itemsize}"
    np.testing.assert_array_equal(got.view(bits)[~nan], want.view(bits)[~nan])


def special_values(dtype=np.float32):
    """Zeros, ones, halves to round, extremes, infinities, NaN."""
    values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.7, 127.5, 255.5, -128.5, 1e10, -1e10]
    values += [np.inf, -np.inf, np.nan, 1e-40, 3.4e38]
    with np.errstate(over="ignore"):
        return np.array(values, np.float32).astype(dtype).reshape(4, 5)


# Ways to walk a tile of rows with n elements: the width to load, the view on chip and the same in
# NumPy.
WALKS = {
    "dense": (lambda n: n, lambda t, n: t, lambda a, n: a),
    "every second": (lambda n: 2 * n, lambda t, n: t[:, ::2], lambda a, n: a[:, ::2]),
    "part": (lambda n: n + 5, lambda t, n: t[:, 3 : 3 + n], lambda a, n: a[:, 3 : 3 + n]),
    "broadcast": (
        lambda n: 1,
        lambda t, n: t.broadcast(1, n),
        lambda a, n: np.broadcast_to(a, (a.shape[0], n)),
    ),
    "permuted": (
        lambda n: n,
        lambda t, n: t.reshape([t.shape[0], 2, n // 2]).permute([0, 2, 1]) if n % 2 == 0 else t,
        lambda a, n: (
            a.reshape(a.shape[0], 2, n // 2).transpose(0, 2, 1).reshape(a.shape[0], n)
            if n % 2 == 0
            else a
        ),
    ),
}


def walked(walk, n):
    """(width, view on chip, view in NumPy) of one of WALKS."""
    width, on_chip, in_numpy = WALKS[walk]
    return width(n), lambda t: on_chip(t, n), lambda a: in_numpy(a, n)


def random_walk(rng, n):
    return walked(list(WALKS)[rng.integers(len(WALKS))], n)


def random_shape(rng, most=700):
    """Partitions and elements, with the edges likely."""
    rows = int(rng.choice([1, 2, 31, 32, 33, 64, 128]))
    n = int(rng.choice([1, 2, 7, 48, 49, 511, 512, rng.integers(1, most)]))
    return rows, min(n, most)


def random_array(rng, shape, dtype):
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    return (4 * rng.standard_normal(shape)).astype(dtype)
