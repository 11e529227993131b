"""iota, affine_select, tensor_partition_reduce."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import refused, run, same_bits

import nki


def affine(partitions, pattern, offset, multiplier):
    value = offset + multiplier * np.arange(partitions, dtype=np.int64)
    for step, count in pattern:
        value = np.add.outer(value, step * np.arange(count))
    return value.reshape(partitions, -1)


@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.uint8], ids=str)
@pytest.mark.parametrize(
    ("pattern", "offset", "multiplier"),
    [([[1, 20]], 0, 0), ([[1, 20]], -7, 3), ([[-2, 3], [5, 4]], 100, -1), ([[0, 6]], 9, 1)],
)
def test_iota(pattern, offset, multiplier, dtype):
    want = affine(16, pattern, offset, multiplier)
    got = run(lambda d: nisa.iota(d, pattern, offset, multiplier), out=want.shape, out_dtype=dtype)
    if dtype == np.float32 or np.issubdtype(dtype, np.int32):
        same_bits(got, want.astype(dtype))
    else:
        same_bits(got, want.astype(np.int32).astype(dtype))


def test_iota_offset_at_run_time():
    def kernel(start):
        tile = nl.ndarray((4, 5), nl.int32)
        nisa.iota(tile, [[1, 5]], nisa.scalar_load(start, least=0, most=99) * 2, 10)
        out = nl.ndarray((4, 5), nl.int32, nl.shared_hbm)
        nl.store(out, tile)
        return out

    got = nki.simulate(kernel)(np.array([21], np.int32))
    same_bits(got, affine(4, [[1, 5]], 42, 10).astype(np.int32))


@pytest.mark.parametrize(
    "op", ["equal", "not_equal", "greater", "greater_equal", "less", "less_equal"]
)
def test_affine_select(op, rng):
    x = rng.standard_normal((32, 32)).astype(np.float32)
    got = run(
        lambda d, t: nisa.affine_select(d, [[-1, 32]], 1, t, -9.0, getattr(nl, op), 2),
        x,
        out=x.shape,
    )
    value = affine(32, [[-1, 32]], 2, 1)
    same_bits(got, np.where(getattr(np, op)(value, 0), x, np.float32(-9)))


REDUCTIONS = {
    "add": lambda x: x.sum(axis=0),
    "average": lambda x: x.mean(axis=0),
    "maximum": lambda x: x.max(axis=0),
}


@pytest.mark.parametrize("op", REDUCTIONS)
@pytest.mark.parametrize("partitions", [1, 16, 128])
def test_partition_reduce(op, partitions, rng):
    x = rng.integers(-64, 64, (partitions, 50)).astype(np.float32)
    got = run(lambda d, t: nisa.tensor_partition_reduce(d, getattr(nl, op), t), x, out=(1, 50))
    same_bits(got, REDUCTIONS[op](x).astype(np.float32)[None])


@pytest.mark.parametrize("op", ["bitwise_or", "bitwise_and"])
def test_partition_reduce_of_bits(op, rng):
    x = rng.integers(0, 2**31, (9, 50), np.int32)
    got = run(
        lambda d, t: nisa.tensor_partition_reduce(d, getattr(nl, op), t),
        x,
        out=(1, 50),
        out_dtype=np.int32,
    )
    same_bits(got, getattr(np, op).reduce(x, axis=0)[None])


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "counts multiply to 7, dst has 8" in refused(
        lambda d: nisa.iota(d, [[1, 7]]), out=(4, 8)
    )
    psum = refused(lambda d: nisa.iota(d, [[1, 8]]), out=(4, 8), psum=(-1,))
    assert "dst is in psum, expected sbuf" in psum
    assert "add is no comparison" in refused(
        lambda d, t: nisa.affine_select(d, [[1, 8]], 0, t, 0.0, nl.add), x, out=x.shape
    )
    assert "allowed are add, average" in refused(
        lambda d, t: nisa.tensor_partition_reduce(d, nl.minimum, t), x, out=(1, 8)
    )
    assert "expected [1, 8]" in refused(
        lambda d, t: nisa.tensor_partition_reduce(d, nl.add, t), x, out=(2, 8)
    )
