"""tensor_copy, tensor_copy_predicated, memset, nc_transpose."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, F8, FLOATS, INTEGERS, fp32_to, refused, run, same_bits, special_values


@pytest.mark.parametrize("src", [*FLOATS, F8], ids=str)
@pytest.mark.parametrize("dst", [*FLOATS, F8, np.dtype(np.int8), np.dtype(np.uint16)], ids=str)
def test_conversions(src, dst):
    x = special_values(src)
    got = run(nisa.tensor_copy, x, out=x.shape, out_dtype=dst)
    same_bits(got, x if src == dst else fp32_to(dst, x.astype(np.float32)))


@pytest.mark.parametrize("src", INTEGERS, ids=str)
@pytest.mark.parametrize("dst", INTEGERS, ids=str)
def test_integers_are_truncated(src, dst, rng):
    info = np.iinfo(src)
    x = rng.integers(info.min, info.max, (9, 40), src, endpoint=True)
    same_bits(run(nisa.tensor_copy, x, out=x.shape, out_dtype=dst), x.astype(dst))


@pytest.mark.parametrize("engine", ["vector", "scalar", "gpsimd"])
def test_engines_and_quadrants(engine, rng):
    x = rng.standard_normal((32, 20)).astype(np.float32)

    def shift(dst, tile):
        wide = nl.ndarray((128, 20), nl.float32)
        nisa.tensor_copy(wide[96:128], tile, engine=nisa.engine[engine])
        nisa.tensor_copy(dst, wide[96:128], engine=nisa.engine[engine])

    same_bits(run(shift, x, out=x.shape), x)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, BF16, np.int32], ids=str)
def test_predicated(reverse, dtype, rng):
    old = rng.integers(0, 9, (16, 30)).astype(dtype)
    new = rng.integers(10, 19, (16, 30)).astype(dtype)
    mask = rng.integers(0, 2, (16, 30)).astype(np.uint8)
    got = run(
        lambda d, s, m: nisa.tensor_copy_predicated(d, s, m, reverse_pred=reverse),
        new,
        mask,
        out=old.shape,
        out_dtype=dtype,
        initial=old,
    )
    same_bits(got, np.where((mask != 0) != reverse, new, old))


def test_predicated_scalar(rng):
    old = rng.standard_normal((16, 30)).astype(np.float32)
    mask = rng.integers(0, 2, (16, 30)).astype(np.uint32)
    got = run(
        lambda d, m: nisa.tensor_copy_predicated(d, -np.inf, m), mask, out=old.shape, initial=old
    )
    same_bits(got, np.where(mask != 0, np.float32(-np.inf), old))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
def test_memset(dtype):
    for value in (0, 7, 100):
        got = run(lambda d, value=value: nisa.memset(d, value), out=(5, 13), out_dtype=dtype)
        same_bits(got, np.full((5, 13), value, dtype))


@pytest.mark.parametrize("dtype", [np.float32, BF16, np.int32], ids=str)
@pytest.mark.parametrize("shape", [(128, 128), (5, 77), (1, 1)])
def test_tensor_engine_transposes_bits(dtype, shape, rng):
    x = rng.integers(-99, 99, shape).astype(dtype)
    got = run(nisa.nc_transpose, x, out=shape[::-1], out_dtype=dtype, psum=(-1,))
    same_bits(got, np.ascontiguousarray(x.T))


def test_vector_engine_transposes_small_tiles(rng):
    x = rng.integers(0, 255, (32, 20)).astype(np.uint8)
    got = run(nisa.nc_transpose, x, out=(20, 32), out_dtype=np.uint8)
    same_bits(got, np.ascontiguousarray(x.T))


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "tensor_copy.shape" in refused(nisa.tensor_copy, x, out=(4, 9))
    assert "1.5 is no integer" in refused(
        lambda d: nisa.memset(d, 1.5), out=(2, 2), out_dtype=np.int32
    )
    mask = np.zeros((4, 8), np.float32)
    assert "predicate is f32" in refused(nisa.tensor_copy_predicated, x, mask, out=x.shape)
    assert "src is bf16, dst f32" in refused(
        nisa.tensor_copy_predicated, x.astype(BF16), x.astype(np.uint8), out=x.shape
    )
    wide = np.zeros((33, 8), np.float32)
    assert "allowed are 1 to 32" in refused(nisa.nc_transpose, wide, out=(8, 33))
    assert "a transpose moves bits" in refused(nisa.nc_transpose, x, out=(8, 4), out_dtype=BF16)
