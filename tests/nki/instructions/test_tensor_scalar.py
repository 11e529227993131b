import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import FLOATS, fp32_to, refused, run, same_bits, special_values


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_two_operators_round_once(dtype, rng):
    x = rng.standard_normal((128, 77)).astype(dtype)
    got = run(
        lambda d, t: nisa.tensor_scalar(d, t, nl.multiply, 1.7, op1=nl.subtract, operand1=0.3),
        x,
        out=x.shape,
        out_dtype=dtype,
    )
    want = x.astype(np.float32) * np.float32(1.7) - np.float32(0.3)
    same_bits(got, fp32_to(dtype, want))


@pytest.mark.parametrize("reverse0", [False, True])
@pytest.mark.parametrize("reverse1", [False, True])
def test_reversed_sides(reverse0, reverse1, rng):
    x = rng.standard_normal((8, 10)).astype(np.float32)
    got = run(
        lambda d, t: nisa.tensor_scalar(d, t, nl.subtract, 2.0, reverse0, nl.divide, 3.0, reverse1),
        x,
        out=x.shape,
    )
    first = np.float32(2) - x if reverse0 else x - np.float32(2)
    same_bits(got, np.float32(3) / first if reverse1 else first / np.float32(3))


def test_one_scalar_per_partition(rng):
    x = rng.standard_normal((128, 40)).astype(np.float32)
    a = rng.standard_normal((128, 1)).astype(np.float32)
    b = rng.standard_normal((128, 1)).astype(np.float32)
    got = run(
        lambda d, t, s, o: nisa.tensor_scalar(d, t, nl.multiply, s, op1=nl.add, operand1=o),
        x,
        a,
        b,
        out=x.shape,
    )
    same_bits(got, x * a + b)


UNARY = {
    "abs": np.abs,
    "square": np.square,
    "relu": lambda x: np.maximum(x, 0),
    "negate": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round_even": np.rint,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    "is_finite": np.isfinite,
    "logical_not": lambda x: x == 0,
}


@pytest.mark.parametrize("op", UNARY)
def test_unary_operators(op):
    x = special_values()
    with np.errstate(all="ignore"):
        want = UNARY[op](x).astype(np.float32)
    got = run(lambda d, t: nisa.tensor_scalar(d, t, getattr(nl, op), 0), x, out=x.shape)
    np.testing.assert_array_equal(got, want)


def test_integer_immediates_are_exact(rng):
    x = rng.integers(-(2**31), 2**31, (5, 31), np.int32)
    got = run(
        lambda d, t: nisa.tensor_scalar(d, t, nl.add, 123456789),
        x,
        out=x.shape,
        out_dtype=np.int32,
    )
    same_bits(got, x + np.int32(123456789))


def test_shifts(rng):
    x = rng.integers(-(2**31), 2**31, (5, 31), np.int32)
    for op, want in (
        ("left_shift", x << 5),
        ("right_shift", (x.view(np.uint32) >> 5).view(np.int32)),
        ("arith_right_shift", x >> 5),
    ):
        got = run(
            lambda d, t, op=op: nisa.tensor_scalar(d, t, getattr(nl, op), 5),
            x,
            out=x.shape,
            out_dtype=np.int32,
        )
        same_bits(got, want)


def test_scalar_engine_takes_multiply_and_add(rng):
    x = rng.standard_normal((16, 9)).astype(np.float32)
    got = run(
        lambda d, t: nisa.tensor_scalar(
            d, t, nl.multiply, 2.0, op1=nl.add, operand1=1.0, engine=nisa.engine.scalar
        ),
        x,
        out=x.shape,
    )
    same_bits(got, x * np.float32(2) + np.float32(1))


def test_refusals():
    x = np.zeros((4, 8), np.float32)

    def message(*args, tiles=(), **kwargs):
        body = lambda d, t, *more: nisa.tensor_scalar(d, t, *args, *more, **kwargs)  # noqa: E731
        return refused(body, x, *tiles, out=x.shape)

    assert "needs integer tiles" in message(nl.left_shift, 1)
    assert "needs operand1" in message(nl.add, 1.0, op1=nl.multiply)
    wide = np.zeros((4, 8), np.float32)
    assert "a tile operand holds one scalar for each" in message(nl.add, tiles=[wide])
    few = np.zeros((3, 1), np.float32)
    assert "operand0 has 3 partitions" in message(nl.add, tiles=[few])
    assert "is no ALU operator" in message(nl.exp, 0)


@pytest.mark.trn2
def test_scalar_of_trn2_takes_few_operators():
    x = np.zeros((4, 8), np.float32)
    assert "tensor_scalar.engine" in refused(
        lambda d, t: nisa.tensor_scalar(d, t, nl.subtract, 1.0, engine=nisa.engine.scalar),
        x,
        out=x.shape,
    )
