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
)

PREDICATES = [np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.uint16)]
NARROW = [*FLOATS, *PREDICATES]


def reference(predicate, on_true, on_false, reverse=False):
    chosen = (predicate != 0) != reverse
    return np.where(chosen, on_true.astype(np.float32), np.float32(on_false))


@pytest.mark.parametrize("predicate_dtype", PREDICATES, ids=str)
@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("reverse", [False, True])
def test_selects(predicate_dtype, dtype, reverse, rng):
    x = random_array(rng, (32, 50), dtype)
    predicate = rng.integers(-1 if predicate_dtype.kind == "i" else 0, 2, x.shape)
    predicate = predicate.astype(predicate_dtype)
    got = run(
        lambda d, p, t: nisa.select_reduce(d, p, t, -2.5, reverse_pred=reverse),
        predicate,
        x,
        out=x.shape,
    )
    same_bits(got, reference(predicate, x, -2.5, reverse))


@pytest.mark.parametrize("n", [1, 48, 49, 1025])
def test_reduces_to_the_maximum(n, rng):
    x = rng.standard_normal((128, n)).astype(np.float32)
    predicate = rng.integers(0, 2, x.shape).astype(np.uint8)
    fill = rng.standard_normal((128, 1)).astype(np.float32)

    def body(dst, predicate, x, fill):
        nisa.select_reduce(
            dst[:, :n],
            predicate,
            x,
            fill,
            reduce_res=dst[:, n : n + 1],
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )

    got = run(body, predicate, x, fill, out=(128, n + 1))
    want = reference(predicate, x, fill)
    same_bits(got[:, :n].copy(), want)
    same_bits(got[:, n].copy(), want.max(axis=1))


def test_maximum_goes_on_and_is_of_unrounded_results(rng):
    x = (1 + rng.integers(0, 99, (4, 64)) * 2.0**-12).astype(np.float32)
    ones = np.ones(x.shape, np.uint8)

    def body(dst, ones, x):
        rounded = nl.ndarray((4, 32), nl.bfloat16)
        for i, command in enumerate(("reset_reduce", "reduce")):
            half = slice(32 * i, 32 * i + 32)
            nisa.select_reduce(
                rounded,
                ones[:, half],
                x[:, half],
                0.0,
                reduce_res=dst,
                reduce_cmd=nisa.reduce_cmd[command],
            )

    same_bits(run(body, ones, x, out=(4, 1)), x.max(axis=1, keepdims=True))


def test_psum_operands_and_in_place(rng):
    x = rng.standard_normal((64, 30)).astype(np.float32)
    predicate = rng.integers(0, 2, x.shape).astype(np.int16)

    def body(dst, predicate, x):
        nisa.tensor_copy(dst, x)
        nisa.select_reduce(dst, predicate, dst, 0.0)

    want = reference(predicate, x, 0)
    same_bits(run(body, predicate, x, out=x.shape), want)
    got = run(
        lambda d, p, t: nisa.select_reduce(d, p, t, 0.0), predicate, x, out=x.shape, psum=(1, -1)
    )
    same_bits(got, want)


@pytest.mark.parametrize("seed", range(12))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows, n = random_shape(rng)
    width, view, in_numpy = random_walk(rng, n)
    dtype = rng.choice([d for d in NARROW])
    out_dtype = rng.choice([*NARROW, np.dtype(np.int32)])
    predicate = rng.integers(0, 2, (rows, n)).astype(rng.choice(PREDICATES))
    x = random_array(rng, (rows, width), dtype)
    reverse = bool(rng.integers(2))
    got = run(
        lambda d, p, t: nisa.select_reduce(d, p, view(t), 1.5, reverse_pred=reverse),
        predicate,
        x,
        out=(rows, n),
        out_dtype=out_dtype,
    )
    same_bits(got, fp32_to(out_dtype, reference(predicate, in_numpy(x), 1.5, reverse)))


def test_refusals():
    x, p = np.zeros((4, 8), np.float32), np.zeros((4, 8), np.uint8)

    def refusal(predicate=p, on_true=x, on_false=0.0, psum=(), **options):
        return refused(
            lambda d, a, b: nisa.select_reduce(d, a, b, on_false, **options),
            predicate,
            on_true,
            out=(4, 8),
            psum=psum,
        )

    assert "predicate is s32" in refusal(predicate=p.astype(np.int32))
    assert "predicate is f32" in refusal(predicate=x)
    assert "on_true is u32" in refusal(on_true=x.astype(np.uint32))
    assert "select_reduce.shape" in refusal(predicate=p[:, :7].copy())
    assert "select_reduce.psum" in refusal(psum=(0, 1))
    assert "allowed are maximum" in refusal(reduce_op=nl.minimum)
    assert "select_reduce.reduce_cmd: 4" in refusal(reduce_cmd=nisa.reduce_cmd.load_reduce)
    assert "on_false has 8 elements" in refused(
        lambda d, a, b: nisa.select_reduce(d, a, b, b), p, x.astype(BF16), out=(4, 8)
    )
