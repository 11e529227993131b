import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import (
    FLOATS,
    fp32_to,
    random_array,
    random_shape,
    random_walk,
    refused,
    run,
    same_bits,
)

NARROW = [*FLOATS, *(np.dtype(t) for t in (np.int8, np.uint8, np.int16, np.uint16))]
START = {
    "add": 0.0,
    "subtract": 0.0,
    "multiply": 1.0,
    "maximum": -np.inf,
    "minimum": np.inf,
}


def reference(x, op0, op1, imm0, start=None):
    """r = op1(op0(x, imm0), r), element after element in fp32."""
    r = np.full(x.shape[0], START[op1] if start is None else start, np.float32)
    first = getattr(np, op0)(x.astype(np.float32), np.float32(imm0))
    want = np.empty(x.shape, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(x.shape[1]):
            r = getattr(np, op1)(first[:, i], r)
            want[:, i] = r
    return want


def cumulative(op0, op1, imm0, imm1=None, view=lambda t: t, **options):
    return lambda d, t: nisa.tensor_scalar_cumulative(
        d, view(t), getattr(nl, op0), getattr(nl, op1), imm0, imm1, **options
    )


@pytest.mark.parametrize("op1", START)
@pytest.mark.parametrize("op0", ["add", "multiply", "subtract", "maximum"])
@pytest.mark.parametrize("n", [1, 49, 200])
def test_operators(op0, op1, n, rng):
    x = rng.uniform(-1.5, 1.5, (32, n)).astype(np.float32)
    got = run(cumulative(op0, op1, 0.75), x, out=x.shape)
    same_bits(got, reference(x, op0, op1, 0.75))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("out_dtype", NARROW, ids=str)
def test_dtypes_round_only_what_they_store(dtype, out_dtype, rng):
    x = rng.integers(0, 9, (16, 40)).astype(dtype)
    got = run(cumulative("multiply", "add", 0.3), x, out=x.shape, out_dtype=out_dtype)
    same_bits(got, fp32_to(out_dtype, reference(x, "multiply", "add", 0.3)))


def test_cumulative_sum_is_numpys(rng):
    x = rng.integers(-9, 9, (128, 5000)).astype(np.float32)
    same_bits(run(cumulative("add", "add", 0.0), x, out=x.shape), np.cumsum(x, 1, np.float32))


def test_unary_first_operator(rng):
    x = rng.standard_normal((4, 30)).astype(np.float32)
    got = run(
        lambda d, t: nisa.tensor_scalar_cumulative(d, t, nl.abs, nl.maximum, None), x, out=x.shape
    )
    same_bits(got, np.maximum.accumulate(np.abs(x), axis=1))


def test_accumulator_goes_on(rng):
    x = rng.integers(-9, 9, (32, 90)).astype(np.float32)
    start = rng.integers(-9, 9, (32, 1)).astype(np.float32)

    def body(dst, x, start):
        for i in range(3):
            part = slice(30 * i, 30 * (i + 1))
            nisa.tensor_scalar_cumulative(
                dst[:, part],
                x[:, part],
                nl.multiply,
                nl.add,
                2.0,
                None if i else start,
                reduce_cmd=nisa.reduce_cmd.reduce if i else nisa.reduce_cmd.load_reduce,
            )

    got = run(body, x, start, out=x.shape)
    same_bits(got, reference(x, "multiply", "add", 2, start[:, 0]))


def test_accumulator_is_shared_with_tensor_scalar_reduce(rng):
    x = rng.integers(-9, 9, (8, 40)).astype(np.float32)

    def body(dst, x):
        nisa.tensor_scalar_cumulative(dst[:, :40], x, nl.add, nl.add, 0.0)
        junk = nl.ndarray(x.shape, nl.float32)
        nisa.tensor_scalar_reduce(
            junk, x, nl.add, 0.0, nl.add, dst[:, 40:41], reduce_cmd=nisa.reduce_cmd.reduce
        )

    got = run(body, x, out=(8, 41))
    same_bits(got[:, 40].copy(), 2 * x.sum(axis=1))


def test_in_place(rng):
    x = rng.integers(-9, 9, (8, 40)).astype(np.float32)

    def body(dst, x):
        nisa.tensor_copy(dst, x)
        nisa.tensor_scalar_cumulative(dst, dst, nl.add, nl.add, 1.0)

    same_bits(run(body, x, out=x.shape), reference(x, "add", "add", 1))


@pytest.mark.parametrize("seed", range(12))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows, n = random_shape(rng)
    width, view, in_numpy = random_walk(rng, n)
    dtype, out_dtype = rng.choice(NARROW, 2)
    op0, op1 = str(rng.choice(["add", "subtract"])), str(rng.choice(list(START)))
    x = random_array(rng, (rows, width), dtype)
    got = run(cumulative(op0, op1, 0.5, view=view), x, out=(rows, n), out_dtype=out_dtype)
    same_bits(got, fp32_to(out_dtype, reference(in_numpy(x), op0, op1, 0.5)))


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    refusal = lambda *a, array=x, **o: refused(cumulative(*a, **o), array, out=x.shape)  # noqa: E731
    assert "op1" not in refusal("add", "add", 0.0, 1.0)
    assert "imm1 is given; it goes with load_reduce alone" in refusal("add", "add", 0.0, 1.0)
    assert "allowed are add, subtract, multiply, maximum, minimum" in refusal("add", "power", 0.0)
    assert "bitwise_and is no arithmetic operator" in refusal("bitwise_and", "add", 0.0)
    assert "src is s32" in refusal("add", "add", 0.0, array=x.astype(np.int32))
    assert "tensor_scalar_cumulative.reduce_cmd: 0" in refusal(
        "add", "add", 0.0, reduce_cmd=nisa.reduce_cmd.idle
    )
