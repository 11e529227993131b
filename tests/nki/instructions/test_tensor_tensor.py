import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import FLOATS, INTEGERS, fp32_to, refused, run, same_bits, special_values

ARITHMETIC = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "divide": np.divide,
}
COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
}
BITVEC = {
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
}


def instruction(op, engine=nisa.engine.unknown):
    return lambda dst, a, b: nisa.tensor_tensor(dst, a, b, getattr(nl, op), engine=engine)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", ARITHMETIC)
def test_float_rounds_once(op, dtype, rng):
    a = rng.standard_normal((128, 96)).astype(dtype)
    b = rng.standard_normal((128, 96)).astype(dtype)
    got = run(instruction(op), a, b, out=a.shape, out_dtype=dtype)
    same_bits(got, fp32_to(dtype, ARITHMETIC[op](a.astype(np.float32), b.astype(np.float32))))


@pytest.mark.parametrize("op", ARITHMETIC)
def test_special_values(op):
    values = special_values().reshape(-1)
    a, b = (np.ascontiguousarray(x) for x in np.meshgrid(values, values))
    with np.errstate(all="ignore"):
        want = ARITHMETIC[op](a, b)
    got = run(instruction(op), a, b, out=a.shape)
    if op in ("maximum", "minimum"):  # which of two zeros is returned is left open
        np.testing.assert_array_equal(got, want)
    else:
        same_bits(got, want)


@pytest.mark.parametrize("op", COMPARISONS)
def test_comparisons_give_one_and_zero(op):
    values = special_values().reshape(-1)
    a, b = (np.ascontiguousarray(x) for x in np.meshgrid(values, values))
    want = COMPARISONS[op](a, b)
    same_bits(run(instruction(op), a, b, out=a.shape), want.astype(np.float32))
    same_bits(run(instruction(op), a, b, out=a.shape, out_dtype=np.uint8), want.astype(np.uint8))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("op", ["add", "subtract", "multiply", "maximum", *BITVEC, *COMPARISONS])
def test_integers_are_exact_and_wrap(op, dtype, rng):
    info = np.iinfo(dtype)
    a = rng.integers(info.min, info.max, (7, 33), dtype, endpoint=True)
    b = rng.integers(info.min, info.max, (7, 33), dtype, endpoint=True)
    function = (ARITHMETIC | BITVEC | COMPARISONS)[op]
    want = function(a.astype(np.int64), b.astype(np.int64)).astype(dtype)
    for engine in (nisa.engine.vector, nisa.engine.gpsimd):
        same_bits(run(instruction(op, engine), a, b, out=a.shape, out_dtype=dtype), want)


@pytest.mark.parametrize("out_dtype", [np.int8, np.uint8, np.int32], ids=str)
def test_float_to_integer_rounds_to_even_and_saturates(out_dtype):
    a = special_values()
    got = run(instruction("add"), a, np.zeros_like(a), out=a.shape, out_dtype=out_dtype)
    same_bits(got, fp32_to(out_dtype, a))


def test_one_input_in_psum(rng):
    a = rng.standard_normal((128, 64)).astype(np.float32)
    same_bits(run(instruction("add"), a, a, out=a.shape, psum=(1,)), a + a)
    same_bits(run(instruction("add"), a, a, out=a.shape, psum=(0, -1)), a + a)


def test_broadcast_along_the_free_dimension(rng):
    a = rng.standard_normal((16, 6, 5)).astype(np.float32)
    b = rng.standard_normal((16, 6, 1)).astype(np.float32)
    got = run(
        lambda d, x, y: nisa.tensor_tensor(d, x, y.broadcast(2, 5), nl.add), a, b, out=a.shape
    )
    same_bits(got, a + b)


def test_refusals():
    a = np.zeros((4, 8), np.float32)
    bits = np.zeros((4, 8), np.int32)
    both = refused(instruction("add"), a, a, out=a.shape, psum=(0, 1))
    assert "tensor_tensor.psum: data1 and data2 are both in PSUM" in both
    wide = np.zeros((4, 9), np.float32)
    assert "data2 has 9 elements" in refused(instruction("add"), a, wide, out=a.shape)
    tall = np.zeros((5, 8), np.float32)
    assert "data2 has 5 partitions" in refused(instruction("add"), a, tall, out=a.shape)
    assert "needs integer tiles" in refused(instruction("bitwise_and"), a, a, out=a.shape)
    assert "is unary" in refused(instruction("abs"), a, a, out=a.shape)
    assert "cannot run on engine scalar" in refused(
        instruction("add", nisa.engine.scalar), bits, bits, out=a.shape, out_dtype=np.int32
    )
