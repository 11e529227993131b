"""What the table accepts also loads and runs: each operator on each instruction and dtype.

A refusal belongs to the table, with the kernel's line; a program that was accepted must not fail
when the emulator decodes it.
"""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, F8, INTEGERS, run

import nki
from nki import _core

DTYPES = [np.dtype(np.float32), np.dtype(np.float16), BF16, F8, *INTEGERS]
ALU = [name for name, *_ in _core.alu_operators()]
FUNCTIONS = [name for name, *_ in _core.activation_functions()]


def engines(function, *names):
    """One body per engine."""
    return [lambda *a, e=name: function(*a, nisa.engine[e]) for name in names]


def selecting(dst, x, _, op):
    predicate = nl.ndarray(x.shape, nl.uint8)
    nisa.memset(predicate, 1)
    nisa.select_reduce(
        dst, predicate, x, 0.5, reduce_op=op, reduce_cmd=nisa.reduce_cmd.reset_reduce
    )


WORDS = [np.dtype(np.int32), np.dtype(np.uint32)]
# Documented: these do not take 32-bit integers.
NONE = {(name, dtype) for name in ("select_reduce", "tensor_scalar_cumulative") for dtype in WORDS}
BODIES = {
    "tensor_tensor": engines(
        lambda d, x, y, op, e: nisa.tensor_tensor(d, x, y, op, e), "vector", "gpsimd"
    ),
    "tensor_scalar": engines(
        lambda d, x, y, op, e: nisa.tensor_scalar(d, x, op, 2.0, engine=e),
        "vector",
        "scalar",
        "gpsimd",
    )
    + engines(
        lambda d, x, y, op, e: nisa.tensor_scalar(d, x, op, None, engine=e), "vector", "gpsimd"
    ),
    "tensor_scalar, second": [
        lambda d, x, y, op: nisa.tensor_scalar(d, x, nl.add, 1.0, op1=op, operand1=2.0),
        lambda d, x, y, op: nisa.tensor_scalar(d, x, nl.bitwise_or, 1, op1=op, operand1=2),
    ],
    "scalar_tensor_tensor": [
        lambda d, x, y, op: nisa.scalar_tensor_tensor(d, x, op, 2.0, nl.add, y),
        lambda d, x, y, op: nisa.scalar_tensor_tensor(d, x, nl.add, 2.0, op, y),
    ],
    "tensor_reduce": [
        lambda d, x, y, op: nisa.tensor_reduce(d[:, :1], op, x, 1),
        lambda d, x, y, op: nisa.tensor_reduce(d[:, :1], op, x, 1, negate=True),
    ],
    "tensor_scalar_reduce": [
        lambda d, x, y, op: nisa.tensor_scalar_reduce(d, x, op, 2.0, nl.add),
        lambda d, x, y, op: nisa.tensor_scalar_reduce(d, x, nl.add, 2.0, op),
    ],
    "tensor_scalar_cumulative": [
        lambda d, x, y, op: nisa.tensor_scalar_cumulative(d, x, op, nl.add, 2.0),
        lambda d, x, y, op: nisa.tensor_scalar_cumulative(d, x, nl.add, op, 2.0),
    ],
    "tensor_tensor_scan": [
        lambda d, x, y, op: nisa.tensor_tensor_scan(d, x, y, 0.0, op, nl.add),
        lambda d, x, y, op: nisa.tensor_tensor_scan(d, x, y, 0.0, nl.add, op),
    ],
    "tensor_partition_reduce": [lambda d, x, y, op: nisa.tensor_partition_reduce(d[:1], op, x)],
    "affine_select": [lambda d, x, y, op: nisa.affine_select(d, [[1, 8]], 1, x, 0.5, op)],
    "activation, reduction": [
        lambda d, x, y, op: nisa.activation(
            d, nl.copy, x, reduce_op=op, reduce_cmd=nisa.reduce_cmd.reset_reduce
        )
    ],
    "select_reduce": [selecting],
    "dma_compute": [lambda d, x, y, op: nisa.dma_compute(d, [x, y], op)],
}


def accepted(body, *arrays, out_dtype):
    """Whether the table takes it; what fails later is the caller's to see."""
    try:
        run(body, *arrays, out=(4, 8), out_dtype=out_dtype)
    except nki.NkiValidationError:
        return False
    return True


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("instruction", BODIES)
def test_operators(instruction, dtype):
    x = np.arange(1, 33).reshape(4, 8).astype(dtype)
    taken = 0
    for out_dtype in {dtype, np.dtype(np.float32), np.dtype(np.int32)}:
        for body in BODIES[instruction]:
            for op in ALU:
                call = lambda d, s, t, body=body, op=op: body(d, s, t, getattr(nl, op))  # noqa: E731
                taken += accepted(call, x, x, out_dtype=out_dtype)
    assert bool(taken) != ((instruction, dtype) in NONE)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_activation_functions(dtype):
    x = np.arange(1, 33).reshape(4, 8).astype(dtype)
    for out_dtype in {dtype, np.dtype(np.float32), np.dtype(np.int32)}:
        for function in FUNCTIONS:
            call = lambda d, s, f=function: nisa.activation(d, getattr(nl, f), s)  # noqa: E731
            assert accepted(call, x, out_dtype=out_dtype), function


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, np.uint32], ids=str)
@pytest.mark.parametrize("n", [1, 2, 9, 1500])
def test_reduction_by_subtraction(dtype, n, rng):
    x = rng.integers(0, 50, (5, n)).astype(dtype)
    integer = x.dtype.kind in "iu"
    want = x.astype(np.int64 if integer else np.float32)
    want = want[:, :1] * 2 - want.sum(axis=1, keepdims=True)
    got = run(
        lambda d, s: nisa.tensor_reduce(d, nl.subtract, s, 1),
        x,
        out=(5, 1),
        out_dtype=np.int32 if integer else np.float32,
    )
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.float32], ids=str)
@pytest.mark.parametrize(("op", "pick"), [("abs_max", np.max), ("abs_min", np.min)])
@pytest.mark.parametrize("n", [1, 3, 70, 1500])
def test_reduction_by_magnitude(dtype, op, pick, n, rng):
    x = rng.integers(-100, 100, (5, n)).astype(dtype)
    got = run(
        lambda d, s: nisa.tensor_reduce(d, getattr(nl, op), s, 1),
        x,
        out=(5, 1),
        out_dtype=np.int32 if x.dtype.kind == "i" else dtype,
    )
    np.testing.assert_array_equal(got, pick(np.abs(x.astype(np.int64)), axis=1, keepdims=True))


@pytest.mark.parametrize("op", ["rsqrt", "reciprocal"])
@pytest.mark.parametrize("dtype", [np.int32, np.uint8], ids=str)
def test_fractions_of_integers_are_fp32(op, dtype):
    x = np.arange(1, 33).reshape(4, 8).astype(dtype)
    got = run(lambda d, s: nisa.tensor_scalar(d, s, getattr(nl, op), None), x, out=x.shape)
    want = 1 / (np.sqrt(x.astype(np.float64)) if op == "rsqrt" else x.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=1e-6)
    ints = run(
        lambda d, s: nisa.tensor_scalar(d, s, getattr(nl, op), None),
        x,
        out=x.shape,
        out_dtype=np.int32,
    )
    np.testing.assert_array_equal(ints, np.rint(got))
