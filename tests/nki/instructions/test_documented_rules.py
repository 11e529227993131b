"""Documented rules of operands, engines and commands, one refusal each, and what stays legal."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import refused, run, same_bits

import nki

X = np.ones((4, 8), np.float32)


def tf32(tile):
    return tile.view(nl.tfloat32)


REFUSALS = {
    "tensor_tensor.engine: power runs on gpsimd alone": lambda d, x: nisa.tensor_tensor(
        d, x, x, nl.power, nisa.engine.vector
    ),
    "tensor_scalar.operand: op0 abs is unary": lambda d, x: nisa.tensor_scalar(d, x, nl.abs, 2.0),
    "tensor_scalar.operand: op0 rsqrt is unary": lambda d, x: nisa.tensor_scalar(
        d, x, nl.rsqrt, x[:, :1]
    ),
    "activation.reduce_cmd: reduce_cmd is 4": lambda d, x: nisa.activation(
        d, nl.copy, x, reduce_op=nl.add, reduce_cmd=nisa.reduce_cmd.load_reduce
    ),
    "activation: bias is tf32": lambda d, x: nisa.activation(d, nl.copy, x, tf32(x[:, :1])),
    "activation_reduce: bias is tf32": lambda d, x: nisa.activation_reduce(
        d, nl.copy, x, nl.add, nl.ndarray((4, 1), nl.float32), tf32(x[:, :1])
    ),
}


TRN3 = {"activate2", "exponential", "rand2"}
ADD, MULTIPLY = nl.add, nl.multiply
# dst is a column short.
SHAPES = {
    "activate2": lambda d, x: nisa.activate2(d, nl.copy, x, 1.0, 0.0, MULTIPLY, ADD),
    "activation_reduce": lambda d, x: nisa.activation_reduce(d, nl.copy, x, ADD, row()),
    "affine_select": lambda d, x: nisa.affine_select(d, [[1, 7]], 0, x, 0.0),
    "dma_compute": lambda d, x: nisa.dma_compute(d, [x], ADD),
    "dma_transpose": lambda d, x: nisa.dma_transpose(d, x),
    "dropout": lambda d, x: nisa.dropout(d, x, 0.5),
    "nc_find_index8": lambda d, x: nisa.nc_find_index8(d.view(nl.uint32), x, x),
    "nc_transpose": lambda d, x: nisa.nc_transpose(d, x),
    "reciprocal": lambda d, x: nisa.reciprocal(d, x),
    "scalar_tensor_tensor": lambda d, x: nisa.scalar_tensor_tensor(d, x, ADD, 1.0, ADD, x),
    "tensor_copy_predicated": lambda d, x: nisa.tensor_copy_predicated(d, x, x.view(nl.uint32)),
    "tensor_scalar": lambda d, x: nisa.tensor_scalar(d, x, ADD, 1.0),
    "tensor_scalar_cumulative": lambda d, x: nisa.tensor_scalar_cumulative(
        d, x, MULTIPLY, ADD, 1.0
    ),
    "tensor_scalar_reduce": lambda d, x: nisa.tensor_scalar_reduce(d, x, ADD, 1.0, ADD),
    "tensor_tensor_scan": lambda d, x: nisa.tensor_tensor_scan(d, x, x, 0.0, MULTIPLY, ADD),
}
# What is one value per partition has two.
OPERANDS = {
    "activation_reduce": lambda d, x: nisa.activation_reduce(
        d, nl.copy, x, ADD, row(), bias=x[:, :2]
    ),
    "exponential": lambda d, x: nisa.exponential(d, x, x[:, :2]),
    "rand2": lambda d, x: nisa.rand2(d, x[:, :2], 1.0),
    "scalar_tensor_tensor": lambda d, x: nisa.scalar_tensor_tensor(d, x, ADD, x[:, :2], ADD, x),
    "tensor_scalar_cumulative": lambda d, x: nisa.tensor_scalar_cumulative(
        d, x, MULTIPLY, ADD, x[:, :2]
    ),
    "tensor_scalar_reduce": lambda d, x: nisa.tensor_scalar_reduce(d, x, ADD, x[:, :2], ADD),
    "tensor_tensor_scan": lambda d, x: nisa.tensor_tensor_scan(d, x, x, x[:, :2], MULTIPLY, ADD),
}


def row():
    return nl.ndarray((4, 1), nl.float32)


def of_its_chip(table):
    return [pytest.param(name, marks=[pytest.mark.trn3] if name in TRN3 else []) for name in table]


@pytest.mark.parametrize("mnemonic", of_its_chip(SHAPES))
def test_shapes_agree(mnemonic):
    assert f"{mnemonic}.shape" in refused(SHAPES[mnemonic], X, out=(4, 7))


@pytest.mark.parametrize("mnemonic", of_its_chip(OPERANDS))
def test_a_scalar_operand_is_one_per_partition(mnemonic):
    assert f"{mnemonic}.operand" in refused(OPERANDS[mnemonic], X, out=X.shape)


def in_psum(shape=(4, 8), dtype=nl.float32):
    return nl.ndarray(shape, dtype, nl.psum)


MORE = {
    "activate2.reduce_cmd": lambda d, x: nisa.activate2(
        d,
        nl.copy,
        x,
        1.0,
        0.0,
        MULTIPLY,
        ADD,
        reduce_op=ADD,
        reduce_cmd=nisa.reduce_cmd.load_reduce,
    ),
    "affine_select.pattern": lambda d, x: nisa.affine_select(d, [[1, 9]], 0, x, 0.0),
    "nc_matmul.dst": lambda d, x: nisa.nc_matmul(
        in_psum((8, 8), nl.float16), x, x, accumulate=False
    ),
    "nc_stream_shuffle.start": lambda d, x: nisa.nc_stream_shuffle(
        nl.ndarray((64, 8), nl.float32)[32:64], nl.ndarray((64, 8), nl.float32), [255] * 32
    ),
    "nonzero_with_count.integer": lambda d, x: nisa.nonzero_with_count(
        nl.ndarray((128, 9), nl.int32), nl.ndarray((128, 8), nl.float32), 2**40
    ),
    "tensor_copy_predicated.psum": lambda d, x: nisa.tensor_copy_predicated(
        d, in_psum(), in_psum(dtype=nl.uint32)
    ),
    "tensor_scalar_reduce.reduce_cmd": lambda d, x: nisa.tensor_scalar_reduce(
        d, x, ADD, 1.0, ADD, reduce_cmd=7
    ),
    "tensor_tensor_scan.psum": lambda d, x: nisa.tensor_tensor_scan(
        d, in_psum(), in_psum(), 0.0, MULTIPLY, ADD
    ),
}


@pytest.mark.parametrize(
    "label",
    [
        pytest.param(label, marks=[pytest.mark.trn3] if label.split(".")[0] in TRN3 else [])
        for label in MORE
    ],
)
def test_rule(label):
    assert f"{label}:" in refused(MORE[label], X, out=X.shape)


@pytest.mark.trn2
@pytest.mark.parametrize("function", ["rand_get_state", "rand_set_state"])
def test_vectors_random_state_is_of_trn3(function):
    words = refused(
        lambda d, x: getattr(nisa, function)(nl.ndarray((4, 24), nl.uint32), nisa.engine.vector),
        X,
        out=X.shape,
    )
    assert f"{function}.engine" in words


@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_engines_give_the_same(engine, rng):
    x = rng.integers(-9, 9, (5, 33)).astype(np.float32)
    where = nisa.engine[engine]
    same_bits(run(lambda d: nisa.memset(d, 3, where), out=(5, 33)), np.full((5, 33), 3, np.float32))
    got = run(lambda d, t: nisa.tensor_reduce(d, ADD, t, 1, engine=where), x, out=(5, 1))
    same_bits(got, x.sum(axis=1, keepdims=True))
    got = run(
        lambda d, t: nisa.scalar_tensor_tensor(d, t, MULTIPLY, 2.0, ADD, t, engine=where),
        x,
        out=x.shape,
    )
    same_bits(got, 3 * x)


@pytest.mark.parametrize("negate", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_tensor_scalar_reduce_reverses_and_negates(negate, reverse, rng):
    x = rng.integers(-9, 9, (5, 33)).astype(np.float32)

    def body(dst, t):
        nisa.tensor_scalar_reduce(
            nl.ndarray(x.shape, nl.float32),
            t,
            nl.subtract,
            1.0,
            ADD,
            dst,
            reverse,
            reduce_res_negate=negate,
        )

    want = (1 - x if reverse else x - 1).sum(axis=1, keepdims=True)
    same_bits(run(body, x, out=(5, 1)), -want if negate else want)


@pytest.mark.parametrize("reverse0", [False, True])
@pytest.mark.parametrize("reverse1", [False, True])
def test_scan_reverses_operands(reverse0, reverse1, rng):
    a, b = (rng.integers(-3, 4, (5, 12)).astype(np.float32) for _ in range(2))
    got = run(
        lambda d, x, y: nisa.tensor_tensor_scan(
            d, x, y, 2.0, nl.subtract, nl.subtract, reverse0, reverse1
        ),
        a,
        b,
        out=a.shape,
    )
    want, state = np.empty_like(a), np.full(5, 2, np.float32)
    for i in range(a.shape[1]):
        inner = state - a[:, i] if reverse0 else a[:, i] - state
        state = b[:, i] - inner if reverse1 else inner - b[:, i]
        want[:, i] = state
    same_bits(got, want)


def test_activation_reduce_adds_a_bias(rng):
    x = rng.integers(-9, 9, (5, 33)).astype(np.float32)
    bias = rng.integers(-9, 9, (5, 1)).astype(np.float32)

    def body(dst, t, p):
        nisa.activation_reduce(
            nl.ndarray(x.shape, nl.float32), nl.copy, t, ADD, dst, bias=p, scale=2.0
        )

    same_bits(run(body, x, bias, out=(5, 1)), (2 * x + bias).sum(axis=1, keepdims=True))


@pytest.mark.parametrize("words", REFUSALS)
def test_refusal(words):
    assert words in refused(REFUSALS[words], X, out=X.shape)


@pytest.mark.parametrize("operand0", [None, 0, 0.0])
def test_a_unary_operator_takes_no_operand(operand0):
    got = run(lambda d, x: nisa.tensor_scalar(d, x, nl.abs, operand0), -X, out=X.shape)
    same_bits(got, X)


def test_power_goes_to_gpsimd_by_itself():
    x = np.array([[1.5, 2, 3, 4]], np.float32)
    got = run(lambda d, a: nisa.tensor_tensor(d, a, a, nl.power), x, out=x.shape)
    np.testing.assert_allclose(got, x**x, rtol=1e-6)


@pytest.mark.parametrize("flag", ["is_stationary_onezero", "is_moving_onezero"])
def test_onezero_operands_multiply_faster(flag, rng):
    a, b = (rng.integers(0, 2, (128, n)).astype(np.float32) for n in (128, 512))
    cycles = {}
    for said in (False, True):

        def body(dst, x, y, said=said):
            for _ in range(40):
                nisa.nc_matmul(dst, x, y, accumulate=False, **{flag: said})

        same_bits(run(body, a, b, out=(128, 512), psum=(-1,)), a.T @ b)
        cycles[said] = tensor_ns(body, a, b)
    assert cycles[True] == pytest.approx(cycles[False] / 2, rel=0.01)


def tensor_ns(body, *arrays):
    """What the Tensor engine is busy with."""

    def kernel(a, b):
        dst = nl.ndarray((128, 512), nl.float32, nl.psum)
        body(dst, nl.load(a), nl.load(b))
        out = nl.ndarray((128, 512), nl.float32, nl.shared_hbm)
        nl.store(out, dst)
        return out

    return nki.jit(kernel).trace(*arrays).busy_ns["tensor"]
