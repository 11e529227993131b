import ml_dtypes
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, F8, FLOATS, refused, run, same_bits

import nki


def matmul(dst, stationary, moving):
    nisa.nc_matmul(dst, stationary, moving, accumulate=False)


@pytest.mark.parametrize("dtype", [*FLOATS, F8], ids=str)
@pytest.mark.parametrize("shape", [(128, 128, 512), (1, 1, 1), (97, 64, 33), (128, 1, 512)])
def test_products_of_integers_are_exact(dtype, shape, rng):
    k, m, n = shape
    a = rng.integers(-3, 4, (k, m)).astype(dtype)
    b = rng.integers(-3, 4, (k, n)).astype(dtype)
    got = run(matmul, a, b, out=(m, n), psum=(-1,))
    same_bits(got, a.astype(np.float32).T @ b.astype(np.float32))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_accumulates_in_fp32(dtype, rng):
    a = rng.standard_normal((128, 128)).astype(dtype)
    b = rng.standard_normal((128, 512)).astype(dtype)
    got = run(matmul, a, b, out=(128, 512), psum=(-1,))
    exact = a.astype(np.float64).T @ b.astype(np.float64)
    np.testing.assert_allclose(got, exact, rtol=0, atol=128 * 2.0**-24 * 8)


def test_first_write_overwrites_then_adds(rng):
    a = rng.integers(-3, 4, (64, 32)).astype(np.float32)
    b = rng.integers(-3, 4, (64, 48)).astype(np.float32)

    def three(dst, x, y):
        for _ in range(3):
            nisa.nc_matmul(dst, x, y)

    same_bits(run(three, a, b, out=(32, 48), psum=(-1,)), 3 * (a.T @ b))


def test_mixed_narrow_operands(rng):
    a = rng.integers(-3, 4, (64, 32)).astype(BF16)
    b = rng.integers(-3, 4, (64, 48)).astype(np.float16)
    same_bits(
        run(matmul, a, b, out=(32, 48), psum=(-1,)), a.astype(np.float32).T @ b.astype(np.float32)
    )


def test_free_dimensions_are_flattened(rng):
    a = rng.integers(-3, 4, (32, 4, 8)).astype(np.float32)
    b = rng.integers(-3, 4, (32, 3, 5)).astype(np.float32)
    got = run(
        lambda d, x, y: matmul(d, x.permute([0, 2, 1]), y[:, :, ::2]), a, b, out=(32, 9), psum=(-1,)
    )
    same_bits(got, a.transpose(0, 2, 1).reshape(32, 32).T @ b[:, :, ::2].reshape(32, 9))


@pytest.mark.parametrize("dtype", [np.float32, BF16], ids=str)
def test_transpose_moves_bits(dtype):
    x = np.full((64, 32), np.nan, np.float32).astype(dtype)
    x[1:, 1:] = np.arange(63 * 31).reshape(63, 31)
    x[2] = np.inf
    identity = np.eye(64).astype(dtype)
    got = run(
        lambda d, t, i: nisa.nc_matmul(d, t, i, is_transpose=True),
        x,
        identity,
        out=(32, 64),
        out_dtype=dtype,
        psum=(-1,),
    )
    same_bits(got, np.ascontiguousarray(x.T))


@pytest.mark.trn2
def test_refusals(monkeypatch):
    def message(stationary, moving, out, dtype=np.float32, psum=(-1,)):
        arrays = [np.zeros(s, dtype) for s in (stationary, moving)]
        return refused(matmul, *arrays, out=out, psum=psum)

    assert "M is 129" in message((8, 129), (8, 16), (128, 16))
    assert "N is 513, allowed are 1 to 512" in message((8, 16), (8, 513), (16, 513))
    assert "nc_matmul.contraction" in message((8, 16), (9, 16), (16, 16))
    assert "expected [M, N] = [16, 24]" in message((8, 16), (8, 24), (16, 16))
    assert "the Tensor engine writes psum only" in message((8, 16), (8, 16), (16, 16), psum=()) or (
        "expected psum" in message((8, 16), (8, 16), (16, 16), psum=())
    )
    assert "expected floating point" in message((8, 16), (8, 16), (16, 16), np.int32)
    assert "exist from trn3 on" in message(
        (8, 16), (8, 16), (16, 16), np.dtype(ml_dtypes.float8_e4m3fn)
    )


@pytest.mark.trn2
def test_trn3_takes_wide_moving_tiles(monkeypatch):
    def kernel(a, b):
        psum = nl.ndarray((16, 1024), nl.float32, nl.psum)
        nisa.nc_matmul(psum, nl.load(a), nl.load(b))

    arrays = (np.zeros((8, 16), np.float32), np.zeros((8, 1024), np.float32))
    with pytest.raises(nki.NkiValidationError, match="nc_matmul"):
        nki.jit(kernel).trace(*arrays)
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn3")
    assert nki.jit(kernel).trace(*arrays).instructions["nc_matmul"] == 1


E4, E5, E4FN = (
    np.dtype(t) for t in (ml_dtypes.float8_e4m3, ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn)
)
FP8_PAIRS = [
    *[(a, b) for a in (E4, E5) for b in (E4, E5)],
    *[
        pytest.param(a, b, marks=pytest.mark.trn3)
        for a, b in ((E4FN, E4FN), (E4FN, E5), (E5, E4FN))
    ],
]


def double_row(dst, stationary, moving, accumulate=False):
    nisa.nc_matmul(
        dst,
        stationary,
        moving,
        accumulate=accumulate,
        perf_mode=nisa.matmul_perf_mode.double_row,
    )


@pytest.mark.parametrize(("left", "right"), FP8_PAIRS, ids=str)
@pytest.mark.parametrize(("m", "n"), [((128,), (512,)), ((1,), (1,)), ((3, 5), (2, 3, 7))], ids=str)
@pytest.mark.parametrize("times", [1, 3])
def test_double_row_contracts_both_halves(left, right, m, n, times, rng):
    a = rng.integers(-3, 4, (128, 2, *m)).astype(left)
    b = rng.integers(-3, 4, (128, 2, *n)).astype(right)
    m, n = int(np.prod(m)), int(np.prod(n))

    def body(dst, x, y):
        for i in range(times):
            double_row(dst, x, y, accumulate=i > 0)

    got = run(body, a, b, out=(m, n), psum=(-1,))
    a, b = (t.astype(np.float32).reshape(128, 2, -1) for t in (a, b))
    same_bits(got, times * np.einsum("phm,phn->mn", a, b))


def test_double_row_of_strided_halves(rng):
    a = rng.integers(-3, 4, (128, 2, 48)).astype(E4)
    b = rng.integers(-3, 4, (128, 20, 2)).astype(E5)
    got = run(
        lambda d, x, y: double_row(d, x[:, :, 8:40], y.permute([0, 2, 1])),
        a,
        b,
        out=(32, 20),
        psum=(-1,),
    )
    a, b = a.astype(np.float32)[:, :, 8:40], b.astype(np.float32)
    same_bits(got, np.einsum("phm,pnh->mn", a, b))


def test_double_row_refusals():
    def message(a=(128, 2, 16), b=(128, 2, 24), dtype=E4, body=double_row):
        arrays = [np.zeros(shape, dtype) for shape in (a, b)]
        return refused(body, *arrays, out=(16, 24), psum=(-1,))

    assert "double_row takes [128, 2, F]" in message((128, 32), (128, 48))
    assert "double_row takes [128, 2, F]" in message((128, 4, 8), (128, 2, 24))
    assert "64 partitions; double_row contracts 256" in message((64, 2, 16), (64, 2, 24))
    assert "double_row needs fp8 operands" in message(dtype=BF16)
    columns = {"tile_position": (0, 0), "tile_size": (128, 32), "perf_mode": "double_row"}
    assert "all columns of the array" in message(
        body=lambda d, x, y: nisa.nc_matmul(d, x, y, accumulate=False, **columns)
    )


def tiled(position, size):
    return lambda d, x, y: nisa.nc_matmul(
        d, x, y, accumulate=False, tile_position=position, tile_size=size
    )


@pytest.mark.parametrize("rows", [32, 64, 128])
@pytest.mark.parametrize("columns", [32, 64, 128])
def test_tiles_of_the_array_change_no_value(rows, columns, rng):
    a = rng.integers(-3, 4, (rows, columns)).astype(np.float32)
    b = rng.integers(-3, 4, (rows, 40)).astype(np.float32)
    got = run(tiled((0, 0), (rows, columns)), a, b, out=(columns, 40), psum=(-1,))
    same_bits(got, a.T @ b)


def test_tiling_refusals():
    def message(body, k=32, m=16):
        arrays = [np.zeros((k, width), np.float32) for width in (m, 24)]
        return refused(body, *arrays, out=(m, 24), psum=(-1,))

    assert "lies in partitions 0 to 32, the tile's rows are 96 to 128" in message(
        tiled((96, 0), (32, 128))
    )
    assert "lies in partitions 0 to 64, the tile's rows are 0 to 32" in message(
        tiled((0, 0), (32, 32)), k=64
    )
    assert "M is 40, the tile has 32 columns" in message(tiled((0, 0), (32, 32)), m=40)
    assert "a row tile of 48 at 0" in message(tiled((0, 0), (48, 32)))
    assert "a column tile of 64 at 32" in message(tiled((0, 32), (32, 64)))
    assert "go together" in message(tiled((0, 0), None))


def test_e4m3_formats_do_not_mix():
    body = matmul
    arrays = [np.zeros((8, 16), E4FN), np.zeros((8, 24), E4)]
    words = refused(body, *arrays, out=(16, 24), psum=(-1,))
    assert "do not mix" in words or "exist from trn3 on" in words


@pytest.mark.parametrize("dtype", [E4, E5], ids=str)
@pytest.mark.parametrize("by", ["nc_transpose", "nc_matmul"])
def test_fp8_transposes_to_16_bits(dtype, by, rng):
    x = rng.integers(0, 256, (48, 20)).astype(np.uint8).view(dtype)

    def body(dst, data, identity):
        if by == "nc_transpose":
            nisa.nc_transpose(dst, data)
        else:
            nisa.nc_matmul(dst, data, identity, is_transpose=True)

    got = run(body, x, np.eye(48).astype(dtype), out=(20, 48), out_dtype=np.uint16, psum=(-1,))
    same_bits(got, np.ascontiguousarray(x.view(np.uint8).T.astype(np.uint16)))


@pytest.mark.trn2
@pytest.mark.parametrize("by", ["nc_transpose", "nc_matmul"])
def test_one_instruction_writes_within_a_bank(by):
    def write(dst, data):
        if by == "nc_transpose":
            nisa.nc_transpose(dst, data)
        else:
            nisa.nc_matmul(dst, data, data, accumulate=False)

    def at(offset):
        def kernel(x):
            psum = nl.ndarray((64, 1024), nl.float32, nl.psum)
            write(psum[:, offset : offset + 64], nl.load(x))

        return kernel

    def at_steps_of(step, count):
        def kernel(x):
            tile = nl.load(x)
            psum = nl.ndarray((64, 1024), nl.float32, nl.psum)

            def body(i):
                write(psum[:, nl.ds(i * step, 64)], tile)

            nl.fori_loop(0, count, body)

        return kernel

    x = np.zeros((64, 64), np.float32)
    for legal in (at(0), at(448), at(512), at_steps_of(64, 16), at_steps_of(128, 8)):
        nki.jit(legal).trace(x)
    for crossing in (at(449), at(511), at_steps_of(96, 10), at_steps_of(100, 9)):
        with pytest.raises(nki.NkiValidationError, match=rf"{by}\.bank"):
            nki.jit(crossing).trace(x)
