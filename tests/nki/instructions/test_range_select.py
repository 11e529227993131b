import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import (
    BF16,
    FLOATS,
    fp32_to,
    random_array,
    random_shape,
    random_walk,
    refused,
    run,
    same_bits,
    walked,
)

LOWEST = np.float32(np.finfo(np.float32).min)
COMPARISONS = ["equal", "less", "less_equal", "greater", "greater_equal"]


def reference(x, op0, op1, bound0, bound1, start=0):
    index = np.float32(start) + np.arange(x.shape[1], dtype=np.float32)
    inside = getattr(np, op0)(index, bound0) & getattr(np, op1)(index, bound1)
    return np.where(inside, x.astype(np.float32), LOWEST)


def select(op0, op1, view=lambda t: t, **options):
    """Results in dst[:, :N], the row's largest in dst[:, N]."""

    def body(dst, x, low, high):
        n = dst.shape[1] - 1
        nisa.range_select(
            dst[:, :n],
            view(x),
            getattr(nl, op0),
            getattr(nl, op1),
            low,
            high,
            reduce_res=dst[:, n : n + 1],
            **options,
        )

    return body


@pytest.mark.parametrize("op0", COMPARISONS)
@pytest.mark.parametrize("op1", COMPARISONS)
def test_keeps_what_both_comparisons_admit(op0, op1, rng):
    x = rng.standard_normal((32, 40)).astype(np.float32)
    low, high = (rng.integers(-2, 42, (32, 1)).astype(np.float32) for _ in range(2))
    got = run(select(op0, op1), x, low, high, out=(32, 41))
    want = reference(x, op0, op1, low, high)
    same_bits(got[:, :40].copy(), want)
    same_bits(got[:, 40].copy(), want.max(axis=1))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("start", [0, 17, 2**24 - 49])
def test_range_start_counts_from_there(dtype, start, rng):
    x = rng.standard_normal((5, 49)).astype(dtype)
    low = np.full((5, 1), start + 10, np.float32)
    high = np.full((5, 1), start + 20, np.float32)
    got = run(select("greater_equal", "less", range_start=start), x, low, high, out=(5, 50))
    same_bits(got[:, :49].copy(), reference(x, "greater_equal", "less", low, high, start))


def test_narrow_results_hold_minus_infinity_and_the_maximum_does_not():
    x = np.ones((4, 6), np.float32)
    outside = np.full((4, 1), 100, np.float32)

    def body(dst, x, low, high):
        narrow = nl.ndarray(x.shape, nl.bfloat16)
        nisa.range_select(narrow, x, nl.greater, nl.less, low, high, reduce_res=dst[:, 6:7])
        nisa.tensor_copy(dst[:, :6], narrow)

    got = run(body, x, outside, outside, out=(4, 7))
    assert np.all(np.isneginf(got[:, :6]))
    assert np.all(got[:, 6] == LOWEST)


def test_maximum_goes_on_over_tiles(rng):
    x = rng.standard_normal((16, 60)).astype(np.float32)
    low = np.full((16, 1), 5, np.float32)
    high = np.full((16, 1), 50, np.float32)

    def body(dst, x, low, high):
        junk = nl.ndarray((16, 20), nl.float32)
        for i in range(3):
            nisa.range_select(
                junk,
                x[:, 20 * i : 20 * (i + 1)],
                nl.greater_equal,
                nl.less,
                low,
                high,
                reduce_cmd=nisa.reduce_cmd.reduce if i else nisa.reduce_cmd.reset_reduce,
                reduce_res=dst if i == 2 else None,
                range_start=20 * i,
            )

    same_bits(run(body, x, low, high, out=(16, 1)), x[:, 5:50].max(axis=1, keepdims=True))


def test_reset_leaves_the_accumulator_at_its_start():
    x = np.full((4, 8), 3, np.float32)
    bounds = np.zeros((4, 1), np.float32)
    got = run(
        select("greater_equal", "greater_equal", reduce_cmd=nisa.reduce_cmd.reset),
        x,
        bounds,
        bounds,
        out=(4, 9),
    )
    assert np.all(np.isneginf(got[:, 8]))


def test_in_place(rng):
    x = rng.standard_normal((128, 300)).astype(np.float32)
    low, high = (np.full((128, 1), b, np.float32) for b in (30, 250))

    def body(dst, x, low, high):
        nisa.tensor_copy(dst, x)
        nisa.range_select(dst, dst, nl.greater_equal, nl.less, low, high)

    same_bits(
        run(body, x, low, high, out=x.shape), reference(x, "greater_equal", "less", low, high)
    )


@pytest.mark.parametrize("walk", ["every second", "broadcast", "permuted"])
def test_walks(walk, rng):
    width, view, in_numpy = walked(walk, 50)
    x = rng.standard_normal((33, width)).astype(np.float32)
    low, high = (np.full((33, 1), b, np.float32) for b in (7, 30))
    got = run(select("greater", "less_equal", view), x, low, high, out=(33, 51))
    same_bits(got[:, :50].copy(), reference(in_numpy(x), "greater", "less_equal", low, high))


@pytest.mark.parametrize("seed", range(12))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows, n = random_shape(rng)
    width, view, in_numpy = random_walk(rng, n)
    dtype, out_dtype = rng.choice(FLOATS, 2)
    op0, op1 = rng.choice(COMPARISONS, 2)
    start = int(rng.integers(0, 100))
    x = random_array(rng, (rows, width), dtype)
    low, high = (rng.integers(0, 120 + n, (rows, 1)).astype(np.float32) for _ in range(2))

    def body(dst, x, low, high):
        nisa.range_select(
            dst, view(x), getattr(nl, op0), getattr(nl, op1), low, high, range_start=start
        )

    got = run(body, x, low, high, out=(rows, n), out_dtype=out_dtype)
    same_bits(got, fp32_to(out_dtype, reference(in_numpy(x), op0, op1, low, high, start)))


def test_refusals():
    x, bound = np.zeros((4, 8), np.float32), np.zeros((4, 1), np.float32)

    def refusal(op0=nl.less, op1=nl.less, low=bound, out=(4, 8), array=x, **options):
        return refused(
            lambda d, t, a, b: nisa.range_select(d, t, op0, op1, a, b, **options),
            array,
            low,
            bound,
            out=out,
        )

    assert "range_select.comp_op: not_equal" in refusal(op0=nl.not_equal)
    assert "range_select.bound" in refusal(low=np.zeros((4, 2), np.float32))
    assert "bound0 is bf16" in refusal(low=bound.astype(BF16))
    assert "on_true_tile is s32" in refusal(array=x.astype(np.int32))
    assert "range_select.shape" in refusal(out=(4, 9))
    assert "only the lowest fp32" in refusal(on_false_value=0.0)
    assert "range_select.reduce_op: add, allowed are maximum" in refusal(reduce_op=nl.add)
    assert "range_select.range_start" in refusal(range_start=2**24)
    assert "range_select.reduce_cmd: 4" in refusal(reduce_cmd=nisa.reduce_cmd.load_reduce)
