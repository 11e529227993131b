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

pytestmark = pytest.mark.trn3

PAIRS = [
    ("multiply", "add"),
    ("multiply", "subtract"),
    ("multiply", "bypass"),
    ("add", "bypass"),
    ("subtract", "bypass"),
    ("bypass", "bypass"),
]


def scaled(x, imm0, imm1, op0, op1, reverse0=False, reverse1=False):
    x = x.astype(np.float32)
    for op, imm, reverse in ((op0, imm0, reverse0), (op1, imm1, reverse1)):
        if op != "bypass":
            imm = np.float32(imm)
            x = getattr(np, op)(imm, x) if reverse else getattr(np, op)(x, imm)
    return x


@pytest.mark.parametrize(("op0", "op1"), PAIRS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_scalar_stage(op0, op1, reverse, dtype, rng):
    x = rng.standard_normal((32, 60)).astype(dtype)
    reverse0, reverse1 = reverse and op0 != "bypass", reverse and op1 != "bypass"
    got = run(
        lambda d, t: nisa.activate2(
            d,
            nl.copy,
            t,
            1.5,
            -0.25,
            getattr(nl, op0),
            getattr(nl, op1),
            reverse0=reverse0,
            reverse1=reverse1,
        ),
        x,
        out=x.shape,
        out_dtype=dtype,
    )
    same_bits(got, fp32_to(dtype, scaled(x, 1.5, -0.25, op0, op1, reverse0, reverse1)))


def test_immediates_per_partition(rng):
    x = rng.standard_normal((128, 33)).astype(np.float32)
    imm0, imm1 = (rng.standard_normal((128, 1)).astype(np.float32) for _ in range(2))
    got = run(
        lambda d, t, a, b: nisa.activate2(d, nl.square, t, a, b, nl.multiply, nl.subtract),
        x,
        imm0,
        imm1,
        out=x.shape,
    )
    same_bits(got, np.square(x * imm0 - imm1))


@pytest.mark.parametrize("vector", [False, True])
def test_prelu_takes_its_slope(vector, rng):
    x = rng.standard_normal((16, 20)).astype(np.float32)
    slope = rng.uniform(0, 1, (16, 1)).astype(np.float32)
    got = run(
        lambda d, t, s: nisa.activate2(
            d, nl.prelu, t, 2.0, 0.0, nl.multiply, nl.bypass, relu_param=s if vector else 0.125
        ),
        x,
        slope,
        out=x.shape,
    )
    same_bits(got, np.where(2 * x < 0, 2 * x * (slope if vector else np.float32(0.125)), 2 * x))


REDUCTIONS = {
    "add": lambda x: x.sum(axis=1),
    "maximum": lambda x: x.max(axis=1),
    "minimum": lambda x: x.min(axis=1),
    "abs_max": lambda x: np.abs(x).max(axis=1),
    "abs_min": lambda x: np.abs(x).min(axis=1),
}


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reductions(op, rng):
    x = rng.integers(-50, 50, (64, 70)).astype(np.float32)
    x[x == 0] = 7

    def body(dst, x):
        nisa.activate2(
            dst[:, :70],
            nl.copy,
            x,
            2.0,
            0.0,
            nl.multiply,
            nl.bypass,
            reduce_op=getattr(nl, op),
            reduce_res=dst[:, 70:71],
            reduce_cmd=nisa.reduce_cmd.reset_reduce,
        )

    got = run(body, x, out=(64, 71))
    same_bits(got[:, :70].copy(), 2 * x)
    same_bits(got[:, 70].copy(), REDUCTIONS[op](2 * x))


def test_reduction_goes_on_and_is_shared_with_activation(rng):
    x = rng.integers(-9, 9, (8, 60)).astype(np.float32)

    def body(dst, x):
        junk = nl.ndarray((8, 20), nl.float32)
        common = {"reduce_op": nl.add}
        nisa.activation(junk, nl.copy, x[:, :20], reduce_cmd=nisa.reduce_cmd.reset_reduce, **common)
        nisa.activate2(
            junk,
            nl.copy,
            x[:, 20:40],
            0.0,
            0.0,
            nl.bypass,
            nl.bypass,
            reduce_cmd=nisa.reduce_cmd.reduce,
            **common,
        )
        nisa.activation(
            junk,
            nl.copy,
            x[:, 40:],
            reduce_cmd=nisa.reduce_cmd.reduce,
            reduce_res=dst,
            **common,
        )

    same_bits(run(body, x, out=(8, 1)), x.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(12))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows, n = random_shape(rng)
    width, view, in_numpy = random_walk(rng, n)
    dtype, out_dtype = rng.choice(FLOATS, 2)
    op0, op1 = PAIRS[rng.integers(len(PAIRS))]
    imm0, imm1 = rng.standard_normal(2).astype(np.float32)
    x = random_array(rng, (rows, width), dtype)
    got = run(
        lambda d, t: nisa.activate2(
            d, nl.relu, view(t), imm0, imm1, getattr(nl, op0), getattr(nl, op1)
        ),
        x,
        out=(rows, n),
        out_dtype=out_dtype,
    )
    want = np.maximum(scaled(in_numpy(x), imm0, imm1, op0, op1), np.float32(0))
    same_bits(got + out_dtype.type(0), fp32_to(out_dtype, want) + out_dtype.type(0))


def test_refusals():
    x = np.zeros((4, 8), np.float32)

    def refusal(op0=nl.multiply, op1=nl.add, imm0=1.0, imm1=0.0, **options):
        return refused(
            lambda d, t: nisa.activate2(d, nl.copy, t, imm0, imm1, op0, op1, **options),
            x,
            out=x.shape,
        )

    assert "activate2.alu: (add, add)" in refusal(op0=nl.add)
    assert "activate2.alu: (bypass, add)" in refusal(op0=nl.bypass)
    assert "reverse0 needs op0" in refusal(op0=nl.bypass, op1=nl.bypass, reverse0=True)
    assert "reverse1 needs op1" in refusal(op1=nl.bypass, reverse1=True)
    assert "activate2.reduce_op: reduce_cmd and reduce_res need" in refusal(
        reduce_cmd=nisa.reduce_cmd.reduce
    )
    assert "activate2.reduce_op: multiply, allowed are add" in refusal(
        reduce_op=nl.multiply, reduce_cmd=nisa.reduce_cmd.reset_reduce
    )
    assert "need one dtype" in refused(
        lambda d, t, a, b: nisa.activate2(d, nl.copy, t, a, b, nl.multiply, nl.add),
        x,
        x[:, :1].copy(),
        x[:, :1].astype(BF16),
        out=x.shape,
    )
