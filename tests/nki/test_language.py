"""nl's functions on tiles, and what a kernel can ask about the target."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest

import nki

RNG = np.random.default_rng(5)
X = RNG.uniform(0.5, 2, (32, 48)).astype(np.float32)
Y = RNG.uniform(0.5, 2, (32, 48)).astype(np.float32)
COLUMN = Y[:, :1].copy()


def run(function, *arrays):
    def kernel(arrays):
        result = function(*(nl.load(array) for array in arrays))
        out = nl.ndarray(result.shape, result.dtype, nl.shared_hbm)
        nl.store(out, result)
        return out

    return nki.simulate(kernel)(list(arrays))


BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "power": np.power,
    "less": np.less,
    "greater_equal": np.greater_equal,
}


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_broadcast(name):
    function, oracle = getattr(nl, name), BINARY[name]
    cases = [
        (run(function, X, Y), oracle(X, Y)),
        (run(function, X, COLUMN), oracle(X, COLUMN)),
        (run(function, COLUMN, X), oracle(COLUMN, X)),
        (run(lambda x: function(x, 1.5), X), oracle(X, np.float32(1.5))),
        (run(lambda x: function(1.5, x), X), oracle(np.float32(1.5), X)),
    ]
    for got, want in cases:
        np.testing.assert_allclose(got, want.astype(got.dtype), rtol=2e-6)


UNARY = {
    "exp": np.exp,
    "log": np.log,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "tanh": np.tanh,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "negative": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "sin": np.sin,
    "cos": np.cos,
    "logical_not": np.logical_not,
}


@pytest.mark.parametrize("name", UNARY)
def test_unary_functions(name):
    got = run(getattr(nl, name), X)
    np.testing.assert_allclose(got, UNARY[name](X).astype(got.dtype), rtol=3e-6)


REDUCTIONS = {
    "sum": np.sum,
    "max": np.max,
    "min": np.min,
    "mean": np.mean,
    "prod": np.prod,
    "var": np.var,
}


@pytest.mark.parametrize("name", REDUCTIONS)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions(name, keepdims):
    x = X.reshape(32, 6, 8)
    for axis in ((2,), (1, 2)):
        got = run(lambda t, axis=axis: getattr(nl, name)(t, axis, keepdims=keepdims), x)
        want = REDUCTIONS[name](x.astype(np.float64), axis=axis, keepdims=keepdims)
        np.testing.assert_allclose(got, want.reshape(got.shape), rtol=1e-5)


def test_softmax_and_rms_norm():
    powers = np.exp(X - X.max(1, keepdims=True))
    np.testing.assert_allclose(run(nl.softmax, X), powers / powers.sum(1, keepdims=True), rtol=1e-5)
    weight = Y[:1]
    want = X / np.sqrt(np.mean(X * X, axis=1, keepdims=True) + 1e-6) * weight

    def norm(x, w):
        wide = nl.ndarray(x.shape, w.dtype)
        ones = nl.ones((1, 32), nl.float32)
        spread = nl.ndarray((32, 48), nl.float32, nl.psum)
        nisa.nc_matmul(spread, ones, w)  # one row to every partition
        nisa.tensor_copy(wide, spread)
        return nl.rms_norm(x, wide)

    np.testing.assert_allclose(run(norm, X, weight), want, rtol=1e-5)


def test_matmul_and_transpose():
    a = RNG.integers(-4, 5, (64, 96)).astype(np.float32)
    b = RNG.integers(-4, 5, (96, 80)).astype(np.float32)
    np.testing.assert_array_equal(run(nl.matmul, a, b), a @ b)
    np.testing.assert_array_equal(run(lambda x: nl.matmul(x, x, transpose_x=True), a), a.T @ a)
    np.testing.assert_array_equal(run(nl.transpose, a), a.T)


def test_where_and_constants():
    mask = (X > 1).astype(np.uint8)
    np.testing.assert_array_equal(run(nl.where, mask, X, Y), np.where(mask, X, Y))
    np.testing.assert_array_equal(
        run(lambda m, x: nl.where(m, x, -1.0), mask, X), np.where(mask, X, -1)
    )
    table = np.arange(12).reshape(3, 4).astype(np.float32)
    np.testing.assert_array_equal(run(lambda: nl.load(nl.shared_constant(table))), table)
    np.testing.assert_array_equal(run(lambda: nl.shared_identity_matrix(5, nl.float32)), np.eye(5))
    np.testing.assert_array_equal(run(lambda: nl.full((3, 5), 7, nl.int32)), np.full((3, 5), 7))


def test_setitem_copies():
    def body(x, y):
        x[0:32, 8:16] = y[:, 0:8]
        x[:, 20] = 5.0
        return x

    want = X.copy()
    want[:, 8:16] = Y[:, :8]
    want[:, 20] = 5
    np.testing.assert_array_equal(run(body, X, Y), want)


def test_tile_sizes_are_plain_integers():
    expected = {
        "pmax": 128,
        "psum_bank_fmax": 512,
        "psum_bank_fmax_bytes": 2048,
        "psum_num_banks": 8,
        "gemm_stationary_fmax": 128,
        "gemm_moving_fmax": 512,
        "bn_stats_fmax": 512,
        "sbuf_fmax_bytes": 224 * 1024,
    }
    for name, value in expected.items():
        assert getattr(nl.tile_size, name) == value
        assert type(getattr(nl.tile_size, name)) is int


def test_dtypes_compare_with_numpys():
    assert nl.float32 == np.float32
    assert nl.bfloat16 == "bfloat16"
    assert nl.int8 != np.uint8
    assert nl.bool_ == nl.uint8
    assert {nl.float32: 1}[nl.float32] == 1
