"""dma_copy, dma_transpose, dma_compute."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, fp32_to, same_bits, special_values

import nki


def through(body, *arrays, out, out_dtype=np.float32):
    """body(dst in HBM, *arrays in HBM)."""

    def kernel(arrays):
        dst = nl.ndarray(out, out_dtype, nl.shared_hbm)
        body(dst, *arrays)
        return dst

    return nki.simulate(kernel)(list(arrays))


@pytest.mark.parametrize("src", FLOATS, ids=str)
@pytest.mark.parametrize("dst", [*FLOATS, np.dtype(np.int8)], ids=str)
def test_copy_converts(src, dst):
    x = special_values(src)
    got = through(nisa.dma_copy, x, out=x.shape, out_dtype=dst)
    same_bits(got, x if src == dst else fp32_to(dst, x.astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint8, np.float32], ids=str)
def test_copy_moves_bits(dtype, rng):
    x = rng.integers(0, 200, (300, 70)).astype(dtype) * dtype(3)
    same_bits(through(nisa.dma_copy, x, out=x.shape, out_dtype=dtype), x)


def test_copy_to_any_partition(rng):
    x = rng.standard_normal((100, 6)).astype(np.float32)

    def body(dst, x):
        tile = nl.zeros((128, 6), nl.float32)
        nisa.dma_copy(tile[17:117], x)
        nisa.dma_copy(dst, tile[17:117])

    same_bits(through(body, x, out=x.shape), x)


def test_row_is_spread_over_partitions(rng):
    x = rng.standard_normal(1024).astype(np.float32)

    def body(dst, x):
        tile = nl.ndarray((64, 16), nl.float32)
        nisa.dma_copy(tile, x.reshape([64, 16]))
        nisa.dma_copy(dst, tile)

    same_bits(through(body, x, out=(64, 16)), x.reshape(64, 16))


def test_row_is_repeated_in_every_partition(rng):
    x = rng.standard_normal((1, 16)).astype(np.float32)

    def body(dst, x):
        tile = nl.ndarray((128, 16), nl.float32)
        nisa.dma_copy(tile, x.broadcast(0, 128))
        nisa.dma_copy(dst, tile)

    same_bits(through(body, x, out=(128, 16)), np.repeat(x, 128, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, BF16, np.int32, np.uint16], ids=str)
@pytest.mark.parametrize("shape", [(16, 16), (200, 128), (3, 7)])
def test_transpose(shape, dtype, rng):
    x = rng.integers(0, 99, shape).astype(dtype)

    def body(dst, x):
        tile = nl.ndarray(shape[::-1], dtype)
        nisa.dma_transpose(tile, x)
        nisa.dma_copy(dst, tile)

    same_bits(through(body, x, out=shape[::-1], out_dtype=dtype), np.ascontiguousarray(x.T))


def test_transpose_of_three_and_four_dimensions(rng):
    for shape, axes in (((4, 5, 6), (2, 1, 0)), ((4, 5, 3, 6), (3, 1, 2, 0))):
        x = rng.standard_normal(shape).astype(np.float32)
        want = np.ascontiguousarray(x.transpose(axes))

        def body(dst, x, want=want, axes=axes):
            tile = nl.ndarray(want.shape, nl.float32)
            nisa.dma_transpose(tile, x, axes=axes)
            nisa.dma_copy(dst, tile)

        same_bits(through(body, x, out=want.shape), want)


@pytest.mark.parametrize("count", [1, 2, 16])
def test_compute_adds_in_fp32(count, rng):
    arrays = [rng.integers(-9, 9, (40, 30)).astype(BF16) for _ in range(count)]
    got = through(
        lambda d, *srcs: nisa.dma_compute(d, srcs, nl.add), *arrays, out=(40, 30), out_dtype=BF16
    )
    total = sum(a.astype(np.float32) for a in arrays)
    same_bits(got, fp32_to(BF16, total))


def test_skipped_rows_leave_the_destination(rng):
    table = rng.standard_normal((5, 8)).astype(np.float32)
    rows = np.array([[4], [-1], [5], [0]], np.int32)

    def body(dst, table, rows):
        tile = nl.zeros((4, 8), nl.float32)
        nisa.dma_copy(tile, table.vector_select(0, nl.load(rows)), oob_mode=nisa.oob_mode.skip)
        nisa.dma_copy(dst, tile)

    want = np.zeros((4, 8), np.float32)
    want[0], want[3] = table[4], table[0]
    same_bits(through(body, table, rows, out=(4, 8)), want)


def refused(body, *arrays, out=(4, 8)):
    with pytest.raises(nki.NkiValidationError) as caught:
        through(body, *arrays, out=out)
    return str(caught.value)


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "dma_copy.shape" in refused(nisa.dma_copy, x, out=(4, 9))
    assert "no conversion from s64 to f32" in refused(nisa.dma_copy, x.astype(np.int64))

    def from_psum(dst, x):
        nisa.dma_copy(dst, nl.ndarray((4, 8), nl.float32, nl.psum))

    assert "src is in psum" in refused(from_psum, x)

    def bytes_transposed(dst, x):
        nisa.dma_transpose(nl.ndarray((8, 4), nl.uint8), x)

    assert "dma_transpose.dtype" in refused(bytes_transposed, x.astype(np.uint8))
    assert "only add is legal" in refused(lambda d, s: nisa.dma_compute(d, [s], nl.maximum), x)
    assert "is 17, allowed are 1 to 16" in refused(lambda d, s: nisa.dma_compute(d, [s] * 17), x)
    assert "only 1.0 is legal" in refused(lambda d, s: nisa.dma_compute(d, [s], scales=[2.0]), x)
