"""scalar_tensor_tensor, tensor_scalar_reduce, tensor_tensor_scan."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, fp32_to, refused, run, same_bits


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_scalar_tensor_tensor(dtype, rng):
    x, y = (rng.standard_normal((64, 30)).astype(dtype) for _ in range(2))
    s = rng.standard_normal((64, 1)).astype(np.float32)
    got = run(
        lambda d, a, b, c: nisa.scalar_tensor_tensor(d, a, nl.multiply, c, nl.add, b),
        x,
        y,
        s,
        out=x.shape,
        out_dtype=dtype,
    )
    same_bits(got, fp32_to(dtype, x.astype(np.float32) * s + y.astype(np.float32)))


@pytest.mark.parametrize("reverse0", [False, True])
@pytest.mark.parametrize("reverse1", [False, True])
def test_scalar_tensor_tensor_reversed(reverse0, reverse1, rng):
    x, y = (rng.standard_normal((8, 30)).astype(np.float32) for _ in range(2))
    got = run(
        lambda d, a, b: nisa.scalar_tensor_tensor(
            d, a, nl.subtract, 2.0, nl.divide, b, reverse0, reverse1
        ),
        x,
        y,
        out=x.shape,
    )
    first = np.float32(2) - x if reverse0 else x - np.float32(2)
    same_bits(got, y / first if reverse1 else first / y)


@pytest.mark.parametrize(
    ("reduce_op", "function"), [("add", np.sum), ("maximum", np.max), ("minimum", np.min)]
)
def test_tensor_scalar_reduce(reduce_op, function, rng):
    x = rng.integers(-9, 9, (32, 70)).astype(np.float32)

    def body(dst, tile):
        nisa.tensor_scalar_reduce(
            dst[:, :70], tile, nl.multiply, 0.5, getattr(nl, reduce_op), dst[:, 70:71]
        )

    got = run(body, x, out=(32, 71))
    same_bits(got[:, :70].copy(), x / 2)
    same_bits(got[:, 70].copy(), function(x / 2, axis=1))


def test_reduction_is_of_unrounded_results(rng):
    x = (1 + rng.integers(0, 2, (4, 64)) * 2.0**-12).astype(np.float32)

    def body(dst, tile):
        rounded = nl.ndarray(tile.shape, nl.bfloat16)
        nisa.tensor_scalar_reduce(rounded, tile, nl.add, 0.0, nl.add, dst)

    same_bits(run(body, x, out=(4, 1)), x.sum(axis=1, keepdims=True))


def test_accumulator_goes_on(rng):
    x = rng.integers(-9, 9, (32, 90)).astype(np.float32)

    def body(dst, tile):
        junk = nl.ndarray((32, 30), nl.float32)
        for i in range(3):
            nisa.tensor_scalar_reduce(
                junk,
                tile[:, i * 30 : (i + 1) * 30],
                nl.add,
                0.0,
                nl.add,
                dst if i == 2 else None,
                reduce_cmd=nisa.reduce_cmd.reduce if i else nisa.reduce_cmd.load_reduce,
                reduce_init=None if i else 100.0,
            )

    same_bits(run(body, x, out=(32, 1)), 100 + x.sum(axis=1, keepdims=True))


def test_cumulative_sum(rng):
    x = rng.integers(-9, 9, (128, 200)).astype(np.float32)

    def body(dst, tile):
        ones = nl.ones(tile.shape, nl.float32)
        nisa.tensor_tensor_scan(dst, ones, tile, 0.0, nl.multiply, nl.add)

    same_bits(run(body, x, out=x.shape), np.cumsum(x, axis=1, dtype=np.float32))


def test_linear_recurrence_rounds_only_what_it_stores(rng):
    decay, x = (rng.uniform(0.1, 1, (16, 50)).astype(np.float32) for _ in range(2))
    start = rng.standard_normal((16, 1)).astype(np.float32)
    got = run(
        lambda d, a, b, s: nisa.tensor_tensor_scan(d, a, b, s, nl.multiply, nl.add),
        decay,
        x,
        start,
        out=x.shape,
        out_dtype=BF16,
    )
    state, want = start[:, 0], np.empty_like(x)
    for i in range(50):
        state = decay[:, i] * state + x[:, i]
        want[:, i] = state
    same_bits(got, want.astype(BF16))


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "scalar_tensor_tensor.psum" in refused(
        lambda d, a, b: nisa.scalar_tensor_tensor(d, a, nl.add, 1.0, nl.add, b),
        x,
        x,
        out=x.shape,
        psum=(0, 1),
    )
    assert "op1 abs is unary" in refused(
        lambda d, a: nisa.scalar_tensor_tensor(d, a, nl.add, 1.0, nl.abs, a), x, out=x.shape
    )
    assert "allowed are add, multiply, maximum, minimum" in refused(
        lambda d, a: nisa.tensor_scalar_reduce(d, a, nl.add, 1.0, nl.subtract), x, out=x.shape
    )
    assert "is no binary arithmetic operator" in refused(
        lambda d, a: nisa.tensor_tensor_scan(d, a, a, 0.0, nl.relu, nl.add), x, out=x.shape
    )
