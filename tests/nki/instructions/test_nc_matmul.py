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
