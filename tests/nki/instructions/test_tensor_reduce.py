import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, fp32_to, refused, run, same_bits


def reduce(op, axis, negate=False):
    return lambda d, t: nisa.tensor_reduce(d, getattr(nl, op), t, axis=axis, negate=negate)


def sum_in_order(row):
    """The order that the reduction contract fixes: 4096 elements per chunk, 16 lanes, a tree."""
    row = np.asarray(row, np.float32)
    if row.size > 4096:
        return sum_in_order([sum_in_order(row[i : i + 4096]) for i in range(0, row.size, 4096)])
    lanes = np.zeros(16, np.float32)
    for start in range(0, row.size, 16):
        part = row[start : start + 16]
        lanes[: part.size] += part
    for half in (8, 4, 2, 1):
        lanes[:half] += lanes[half : 2 * half]
    return lanes[0]


@pytest.mark.parametrize("n", [1, 5, 16, 17, 100, 4096, 5000, 9000])
def test_order_of_addition(n, rng):
    x = rng.standard_normal((3, n)).astype(np.float32)
    got = run(reduce("add", 1), x, out=(3, 1))
    same_bits(got, np.array([[sum_in_order(row)] for row in x], np.float32))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("op", "function"), [("maximum", np.max), ("minimum", np.min)], ids=["max", "min"]
)
def test_extremes(op, function, dtype, rng):
    x = rng.standard_normal((128, 200)).astype(dtype)
    want = function(x.astype(np.float32), axis=1, keepdims=True)
    same_bits(run(reduce(op, 1), x, out=(128, 1), out_dtype=dtype), want.astype(dtype))
    x[5, 7] = np.nan
    assert np.isnan(run(reduce(op, 1), x, out=(128, 1))[5, 0])


def test_several_axes_of_a_strided_tile(rng):
    x = rng.integers(-9, 9, (10, 4, 6, 5)).astype(np.float32)
    got = run(lambda d, t: nisa.tensor_reduce(d, nl.add, t[:, :, ::2], axis=(2, 3)), x, out=(10, 4))
    same_bits(got, x[:, :, ::2].sum(axis=(2, 3)))


def test_dimension_order_is_the_views(rng):
    x = rng.integers(-9, 9, (10, 4, 6)).astype(np.float32)
    got = run(
        lambda d, t: nisa.tensor_reduce(d, nl.add, t.permute([0, 2, 1]), axis=2), x, out=(10, 6)
    )
    same_bits(got, x.sum(axis=1))


def test_negate_and_rounding(rng):
    x = rng.standard_normal((7, 64)).astype(BF16)
    want = [[-sum_in_order(row.astype(np.float32))] for row in x]
    got = run(reduce("add", 1, negate=True), x, out=(7, 1), out_dtype=BF16)
    same_bits(got, fp32_to(BF16, want))


def test_integers_are_exact(rng):
    x = rng.integers(-(2**31), 2**31, (5, 77), np.int32)
    want = x.sum(axis=1, keepdims=True, dtype=np.int64).astype(np.int32)
    same_bits(run(reduce("add", 1), x, out=(5, 1), out_dtype=np.int32), want)
    bits = np.bitwise_xor.reduce(x, axis=1, keepdims=True)
    same_bits(run(reduce("bitwise_xor", 1), x, out=(5, 1), out_dtype=np.int32), bits)


def test_refusals():
    x = np.zeros((4, 6, 5), np.float32)
    assert "tensor_reduce.axes" in refused(reduce("add", 0), x, out=(4, 1))
    assert "tensor_reduce.axes" in refused(reduce("add", 1), x, out=(4, 5))
    assert "the dimensions kept have 6" in refused(reduce("add", 2), x, out=(4, 5))
    assert "is no reduction operator" in refused(reduce("equal", 2), x, out=(4, 6))
    assert "average is legal in tensor_partition_reduce only" in refused(
        reduce("average", 2), x, out=(4, 6)
    )
