"""activation, activation_reduce, reciprocal."""

import math

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, fp32_to, refused, run, same_bits

ERF = np.vectorize(math.erf)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


# name: (function in fp64, where it is tested)
FUNCTIONS = {
    "copy": (lambda x: x, (-9, 9)),
    "square": (np.square, (-9, 9)),
    "sigmoid": (sigmoid, (-30, 30)),
    "relu": (lambda x: np.maximum(x, 0), (-9, 9)),
    "gelu": (lambda x: x * 0.5 * (1 + ERF(x / np.sqrt(2))), (-5, 5)),
    "gelu_apprx_tanh": (
        lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
        (-5, 5),
    ),
    "silu": (lambda x: x * sigmoid(x), (-20, 20)),
    "tanh": (np.tanh, (-10, 10)),
    "softplus": (lambda x: np.log1p(np.exp(x)), (-15, 15)),
    "mish": (lambda x: x * np.tanh(np.log1p(np.exp(x))), (-10, 10)),
    "erf": (ERF, (-4, 4)),
    "exp": (np.exp, (-80, 80)),
    "log": (np.log, (1e-6, 1e6)),
    "sin": (np.sin, (-np.pi, np.pi)),
    "arctan": (np.arctan, (-1.5, 1.5)),
    "sqrt": (np.sqrt, (0, 1e6)),
    "rsqrt": (lambda x: 1 / np.sqrt(x), (1e-6, 1e6)),
    "reciprocal": (np.reciprocal, (1e-3, 1e3)),
    "sign": (np.sign, (-3, 3)),
    "abs": (np.abs, (-3, 3)),
    "log1p": (np.log1p, (-0.9, 1e3)),
    "expm1": (np.expm1, (-20, 20)),
    "cos": (np.cos, (-100, 100)),
    "sin_full": (np.sin, (-100, 100)),
    "tan": (np.tan, (-1.5, 1.5)),
    "lgamma": (np.vectorize(math.lgamma), (0.1, 50)),
    "floor": (np.floor, (-50, 50)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name, rng):
    function, (low, high) = FUNCTIONS[name]
    x = rng.uniform(low, high, (128, 64)).astype(np.float32)
    got = run(lambda d, t: nisa.activation(d, getattr(nl, name), t), x, out=x.shape)
    want = function(x.astype(np.float64))
    np.testing.assert_allclose(got, want, rtol=3e-6, atol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_scale_and_bias(dtype, rng):
    x = rng.standard_normal((64, 50)).astype(dtype)
    bias = rng.standard_normal((64, 1)).astype(np.float32)
    scale = rng.standard_normal((64, 1)).astype(np.float32)
    got = run(
        lambda d, t, b, s: nisa.activation(d, nl.copy, t, bias=b, scale=s),
        x,
        bias,
        scale,
        out=x.shape,
        out_dtype=dtype,
    )
    same_bits(got, fp32_to(dtype, x.astype(np.float32) * scale + bias))


def test_activation_reduce_sums_before_rounding(rng):
    x = rng.integers(-4, 5, (32, 60)).astype(np.float32) / 8

    def body(dst, tile):
        rounded = nl.ndarray(tile.shape, nl.bfloat16)
        nisa.activation_reduce(rounded, nl.square, tile, nl.add, dst, scale=1.0 + 2.0**-7)

    scaled = x * np.float32(1 + 2.0**-7)
    got = run(body, x, out=(32, 1))
    np.testing.assert_allclose(got[:, 0], np.square(scaled).sum(axis=1), rtol=1e-6)
    rounded = np.square(scaled).astype(BF16).astype(np.float32).sum(axis=1)
    assert np.abs(rounded - got[:, 0]).max() > 1e-3


def test_vector_reciprocal_is_correctly_rounded(rng):
    x = rng.standard_normal((16, 100)).astype(np.float32)
    same_bits(run(nisa.reciprocal, x, out=x.shape), np.float32(1) / x)


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "is no activation function" in refused(
        lambda d, t: nisa.activation(d, nl.add, t), x, out=x.shape
    )
    assert "activation.shape" in refused(lambda d, t: nisa.activation(d, nl.exp, t), x, out=(4, 9))
    wide = np.zeros((4, 2), np.float32)
    assert "activation.operand: bias has 2 elements" in refused(
        lambda d, t, b: nisa.activation(d, nl.exp, t, bias=b), x, wide, out=x.shape
    )
    assert "only add is legal" in refused(
        lambda d, t, r: nisa.activation_reduce(d, nl.exp, t, nl.maximum, r),
        x,
        np.zeros((4, 1), np.float32),
        out=x.shape,
    )


def test_reset_and_idle_read_the_registers(rng):
    """reset leaves the registers at zero, idle leaves them alone; reduce_res reads them anyway."""
    x = rng.integers(-9, 9, (16, 30)).astype(np.float32)

    def body(dst, x):
        junk = nl.ndarray(x.shape, nl.float32)
        for i, command in enumerate(("reset_reduce", "idle", "reset", "reduce")):
            nisa.activation(
                junk,
                nl.copy,
                x,
                reduce_op=nl.add,
                reduce_res=dst[:, i : i + 1],
                reduce_cmd=nisa.reduce_cmd[command],
            )

    total = x.sum(axis=1)
    same_bits(
        run(body, x, out=(16, 4)), np.stack([total, total, np.zeros_like(total), total], axis=1)
    )
