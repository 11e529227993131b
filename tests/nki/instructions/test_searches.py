"""sequence_bounds, nonzero_with_count, topk."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, refused, run, same_bits


def bounds_reference(ids):
    n = len(ids)
    want = np.empty((2, n), np.int64)
    for i in range(n):
        if ids[i] == 0:
            want[:, i] = n, -1
            continue
        first = last = i
        while first > 0 and ids[first - 1] == ids[i]:
            first -= 1
        while last + 1 < n and ids[last + 1] == ids[i]:
            last += 1
        want[:, i] = first, last + 1
    return want


@pytest.mark.parametrize("dtype", [np.float32, np.int32], ids=str)
@pytest.mark.parametrize("out_dtype", [np.float32, np.int32], ids=str)
@pytest.mark.parametrize("n", [1, 2, 17, 5000])
def test_sequence_bounds(n, dtype, out_dtype, rng):
    ids = np.repeat(rng.integers(0, 4, n), rng.integers(1, 5, n))[:n].astype(dtype)
    got = run(nisa.sequence_bounds, ids[None], out=(1, 2, n), out_dtype=out_dtype)
    same_bits(got, bounds_reference(ids)[None].astype(out_dtype))


def test_segments_that_come_again_are_others():
    ids = np.array([5, 5, 0, 0, 5, 7, 7, 7, 0], np.int32)
    got = run(nisa.sequence_bounds, ids[None], out=(1, 2, 9), out_dtype=np.int32)
    same_bits(
        got[0], np.array([[0, 0, 9, 9, 4, 5, 5, 5, 9], [2, 2, -1, -1, 5, 8, 8, 8, -1]], np.int32)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int32], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (16, 9), (128, 600), (33, 48)])
@pytest.mark.parametrize(("offset", "padding"), [(0, -1), (16, 77)])
def test_nonzero_with_count(shape, dtype, offset, padding, rng):
    x = (rng.integers(-2, 3, shape) * rng.integers(0, 2, shape)).astype(dtype)
    if dtype == np.float32:
        x[:, 0] = -0.0
    old = rng.integers(0, 9, (shape[0], shape[1] + 1)).astype(np.int32)
    want = old.copy()
    for row in range(0, shape[0], 16):
        found = np.flatnonzero(x[row]) + offset
        want[row] = padding
        want[row, : len(found)] = found
        want[row, -1] = len(found)
    got = run(
        lambda d, t: nisa.nonzero_with_count(d, t, offset, padding),
        x,
        out=old.shape,
        out_dtype=np.int32,
        initial=old,
    )
    same_bits(got, want)


def test_nonzero_of_the_documented_example():
    x = np.array([[0, 1, 1, 0, 0, 1, 0, 0]], np.int32)
    got = run(
        lambda d, t: nisa.nonzero_with_count(d, t, index_offset=16),
        x,
        out=(1, 9),
        out_dtype=np.int32,
    )
    same_bits(got, np.array([[17, 18, 21, -1, -1, -1, -1, -1, 3]], np.int32))


def snake(row, columns):
    """A sequence as 16 partitions hold it: element j in partition j % 16, column j // 16."""
    padded = np.zeros(16 * columns, row.dtype)
    padded[: len(row)] = row
    return padded.reshape(columns, 16).T


@pytest.mark.parametrize("n", [8, 17, 100, 3000])
@pytest.mark.parametrize("k", [1, 8, 16, 33])
@pytest.mark.parametrize("groups", [1, 8])
def test_topk(n, k, groups, rng):
    k = min(k, n)
    columns = -(-n // 16) + 1
    # Distinct numbers, so that the order leaves no choice.
    rows = [rng.permutation(np.arange(n) - n // 2).astype(np.float32) for _ in range(groups)]
    if n <= 256:
        rows = [r.astype(BF16).astype(np.float32) for r in rows]
    else:  # bf16 has 8 bits: take its own numbers instead
        values = np.arange(0x3F80, 0x3F80 + n, dtype=np.uint16).view(BF16).astype(np.float32)
        rows = [rng.permutation(values) for _ in range(groups)]
    src = np.concatenate([snake(r, columns) for r in rows]).astype(BF16)
    src[:, -1] = 1e30  # beyond n: ignored

    def body(dst, src):
        values, index = (
            nl.zeros((16 * groups, k), nl.bfloat16),
            nl.zeros((16 * groups, k), nl.uint32),
        )
        nisa.topk(values, index, src, n)
        nisa.tensor_copy(dst[:, :k], values)
        nisa.tensor_copy(dst[:, k:], index)

    got = run(body, src, out=(16 * groups, 2 * k))
    used = -(-k // 16)
    for g, row in enumerate(rows):
        part = got[16 * g : 16 * (g + 1)]
        values, index = (part[:, c : c + used].T.ravel()[:k] for c in (0, k))
        order = np.argsort(row)[-k:]
        np.testing.assert_array_equal(values, row[order])
        np.testing.assert_array_equal(index.astype(int), order)
        assert not part[:, used:k].any()  # further columns are not written


def test_topk_of_equal_values_takes_the_first():
    src = np.concatenate([snake(np.full(40, 2, np.float32), 3)]).astype(BF16)

    def body(dst, src):
        values, index = nl.zeros((16, 8), nl.bfloat16), nl.zeros((16, 8), nl.uint32)
        nisa.topk(values, index, src, 40, sorted=True)
        nisa.tensor_copy(dst, index)

    got = run(body, src, out=(16, 8))[:8, 0]
    assert sorted(got) == list(range(8))


def test_refusals():
    x = np.zeros((16, 8), np.float32)
    assert "the number of partitions is 16" in refused(nisa.sequence_bounds, x, out=(16, 16))
    assert "dst has 15 elements per partition, expected 16" in refused(
        nisa.sequence_bounds, x[:1].copy(), out=(1, 15)
    )
    assert "segment_ids is bf16" in refused(nisa.sequence_bounds, x[:1].astype(BF16), out=(1, 16))
    assert "dst is f32" in refused(nisa.nonzero_with_count, x, out=(16, 9))
    assert "expected 9" in refused(nisa.nonzero_with_count, x, out=(16, 8), out_dtype=np.int32)

    def topk(n, k=8, rows=16, columns=8):
        def body(dst, src):
            values, index = nl.ndarray((rows, k), BF16), nl.ndarray((rows, k), nl.uint32)
            nisa.topk(values, index, src, n)

        return refused(body, np.zeros((rows, columns), BF16), out=(rows, 8))

    assert "n is 7, allowed are 8 to 65535" in topk(7, 1)
    assert "n is 129, allowed are 8 to 128" in topk(129)
    assert "k is 9, allowed are 1 to 8" in topk(8, 9)
    assert "expected a multiple of 16" in topk(8, rows=8)
    assert "src is f32" in refused(
        lambda d, t: nisa.topk(nl.ndarray((16, 8), BF16), nl.ndarray((16, 8), nl.uint32), t, 8),
        x,
        out=(16, 8),
    )
