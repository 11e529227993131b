"""Chains: dots, reductions along the rows of their results, and dots again, without HBM between."""

import ctypes
import json

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check, compile_function

TOLERANCE = {np.float32: 1e-4, np.float16: 1e-2, ml_dtypes.bfloat16: 5e-2}


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(dtype)


def attention(q, k, v, mask=None):
    """Scores in fp32, hidden rows zero, probabilities in the inputs' dtype."""
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k, preferred_element_type=jnp.float32)
    scores = scores * np.float32(q.shape[-1] ** -0.5)
    if mask is not None:
        scores = jnp.where(mask(*scores.shape[-2:]), scores, -jnp.inf)
    top = jnp.maximum(scores.max(-1, keepdims=True), np.finfo(np.float32).min)
    e = jnp.exp(scores - top)
    p = e / jnp.maximum(e.sum(-1, keepdims=True), 1.0)
    out = jnp.einsum("bhqk,bhkd->bhqd", p.astype(v.dtype), v, preferred_element_type=jnp.float32)
    return out.astype(q.dtype)


def rows(t, s):
    return jax.lax.broadcasted_iota(jnp.int32, (t, s), 0)


def columns(t, s):
    return jax.lax.broadcasted_iota(jnp.int32, (t, s), 1)


MASKS = {
    "none": None,
    "causal": lambda t, s: rows(t, s) >= columns(t, s),
    "causal, compared the other way": lambda t, s: ~(columns(t, s) > rows(t, s)),
    "causal from the end": lambda t, s: columns(t, s) < rows(t, s) + (s - t + 1),
    "strictly causal": lambda t, s: columns(t, s) < rows(t, s),
    "window": lambda t, s: (columns(t, s) <= rows(t, s)) & (columns(t, s) > rows(t, s) - 40),
    "reversed": lambda t, s: columns(t, s) >= rows(t, s),
    "every other": lambda t, s: ((columns(t, s) + rows(t, s)) & 1) == 0,
}
SIZES = {  # queries, keys, width of keys, width of values
    "whole tiles": (256, 256, 64, 64),
    "tails": (130, 259, 40, 24),
    "one tile": (17, 33, 16, 8),
    "few queries": (3, 200, 64, 64),
    "more queries than keys": (300, 90, 17, 33),
    "wide": (140, 1300, 160, 520),
}


def operands(size, dtype=np.float32, batch=2, heads=3):
    t, s, e, d = SIZES[size]
    return (
        normal(batch, heads, t, e, seed=1, dtype=dtype),
        normal(batch, heads, s, e, seed=2, dtype=dtype),
        normal(batch, heads, s, d, seed=3, dtype=dtype),
    )


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("size", SIZES)
def test_attention(size, dtype):
    arguments = operands(size, dtype)
    for mask in ("none", "causal"):
        program = check(
            lambda *a, m=MASKS[mask]: attention(*a, m), *arguments, tolerance=TOLERANCE[dtype]
        )
        assert program.compiled.scratch_bytes == 0
        assert program.compiled.gpsimd_kernels == []


@pytest.mark.parametrize("size", ["whole tiles", "tails", "more queries than keys"])
@pytest.mark.parametrize("mask", MASKS)
def test_masks(mask, size):
    program = check(lambda *a: attention(*a, MASKS[mask]), *operands(size), tolerance=1e-4)
    assert program.compiled.scratch_bytes == 0


@pytest.mark.parametrize("mask", ["none", "causal", "window"])
@pytest.mark.parametrize("size", ["whole tiles", "tails", "more queries than keys"])
def test_gradients(size, mask):
    """Scores are computed again from the logarithm of the sums, as flash attention does."""
    t, s, e, d = SIZES[size]
    q, k, v = operands(size)
    grad, lse = normal(2, 3, t, d, seed=4), 5 + normal(2, 3, t, 1, seed=5)
    delta = normal(2, 3, t, 1, seed=6)

    def backward(q, k, v, grad, lse, delta):
        scores = jnp.einsum("bhqd,bhkd->bhqk", q, k)
        if MASKS[mask] is not None:
            scores = jnp.where(MASKS[mask](t, s), scores, -jnp.inf)
        p = jnp.exp(scores - lse)
        ds = p * (jnp.einsum("bhqd,bhkd->bhqk", grad, v) - delta)
        return (
            jnp.einsum("bhqk,bhqd->bhkd", p, grad),
            jnp.einsum("bhqk,bhkd->bhqd", ds, k) * np.float32(0.5),
            jnp.einsum("bhqk,bhqd->bhkd", ds, q),
        )

    scale = np.float32(e**-0.25)
    arguments = q * scale, k * scale, v, grad, lse, delta
    program = check(backward, *arguments, tolerance=2e-3)
    assert program.compiled.scratch_bytes == 0


def multiplies(nrt, program, arguments) -> int:
    """Products that the Tensor engine computed in one run."""
    nrt.nrt_emulator_counters.restype = ctypes.c_char_p
    program(*arguments)  # the library is initialised by the first run
    nrt.nrt_emulator_reset_counters(ctypes.c_int32(0))
    program(*arguments)
    return json.loads(nrt.nrt_emulator_counters(ctypes.c_int32(0)))["tensor_multiplies"]


def test_hidden_columns_are_not_computed(emulator):
    """Of 8 x 8 blocks, 36 are on or below the diagonal."""
    q = normal(1, 2, 1024, 64)
    full = compile_function(lambda q: attention(q, q, q), q)
    causal = compile_function(lambda q: attention(q, q, q, MASKS["causal"]), q)
    assert multiplies(emulator, full, [q]) == 2 * 2 * 1024 * 1024 * 64
    assert multiplies(emulator, causal, [q]) * 64 == multiplies(emulator, full, [q]) * 36


@pytest.mark.parametrize("hidden", [-1e9, -100.0])
def test_only_columns_that_are_exactly_zero_are_left_out(hidden):
    """A finite number in the mask's place: a row hidden throughout has equal probabilities."""

    def function(q, k, v):
        scores = jnp.einsum("qd,kd->qk", q, k)
        scores = jnp.where(columns(200, 300) < rows(200, 300), scores * 1e-3, hidden)
        return jax.nn.softmax(scores) @ v

    check(function, normal(200, 16), normal(300, 16), normal(300, 8), tolerance=1e-4)


def test_what_is_read_elsewhere_reaches_hbm():
    def function(q, k, v):
        scores = jnp.where(rows(150, 150) >= columns(150, 150), q @ k.T, -jnp.inf)
        p = jax.nn.softmax(scores)
        return p @ v, p, scores.max(-1), p.sum(0)

    check(function, normal(150, 32), normal(150, 32), normal(150, 40), tolerance=1e-4)


def test_rows_of_a_dot_are_normalised_on_chip():
    def function(x, w, b, r, g):
        y = x @ w + b + r
        centred = y - y.sum(-1, keepdims=True) * np.float32(1 / 384)
        square = (centred * centred).sum(-1, keepdims=True) * np.float32(1 / 384)
        return centred * jax.lax.rsqrt(square + np.float32(1e-5)) * g

    w, b, r, g = normal(96, 384), normal(384), normal(300, 384), normal(384, seed=1)
    program = check(function, normal(300, 96), w, b, r, g, tolerance=1e-4)
    assert program.compiled.scratch_bytes == 0


@pytest.mark.parametrize("vocabulary", [1000, 4096])
def test_log_softmax_of_a_dot(vocabulary):
    def function(x, w):
        return jax.nn.log_softmax(x @ w)

    program = check(function, normal(200, 64), normal(64, vocabulary) * 0.3, tolerance=1e-4)
    assert program.compiled.scratch_bytes == 0


def test_a_hidden_layer_stays_on_chip():
    """No reduction: the first dot's result is only taken up by the second."""

    def function(x, w, v):
        return jnp.tanh(x @ w) @ v

    program = check(function, normal(300, 96), normal(96, 256), normal(256, 40), tolerance=1e-4)
    assert program.compiled.scratch_bytes == 0


@pytest.mark.parametrize(("t", "s", "d"), [(100, 90, 600), (300, 200, 64), (100, 90, 64)])
def test_rows_are_divided_by_their_sums_after_the_second_dot(t, s, d):
    """The consumer's epilogue reads what the body has computed for these rows, and not before."""

    def function(q, k, v):
        e = jnp.exp(q @ k.T - 4)
        return (1 / e.sum(-1, keepdims=True)) * (e @ v)

    check(function, normal(t, 8), normal(s, 8), normal(s, d), tolerance=1e-4)


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, np.float16, ml_dtypes.float8_e5m2])
def test_narrow_values_all_the_way(dtype):
    """Dots whose results are rounded to the operands' dtype; bytes cannot be transposed by DMA."""

    def function(q, k, v):
        s = jnp.einsum("qd,kd->qk", q, k, preferred_element_type=dtype)
        return jnp.einsum("qk,kd->qd", jnp.maximum(s, 0), v, preferred_element_type=dtype)

    eighths = (np.random.default_rng(i).integers(-2, 3, (150, 32)) / 8 for i in range(3))
    check(function, *(x.astype(dtype) for x in eighths), tolerance=0.2)


def test_dots_of_one_shape_in_a_row():
    """Each takes up what the one before made: no two of them are made beside each other."""

    def function(x, w, v, u, g):
        y = x @ w
        y = y - y.sum(-1, keepdims=True) * np.float32(1 / 96)
        return (jnp.tanh(y @ v) @ u) * g + y

    check(
        function, normal(200, 96), normal(96, 96), normal(96, 256), normal(256, 96), normal(96),
        tolerance=2e-3,
    )  # fmt: skip


def test_grouped_queries():
    """Eight query heads share two of keys: the dots' dimensions are split where they meet."""

    def function(q, k, v):
        scores = jnp.einsum("bgrqd,bgkd->bgrqk", q, k)
        return jnp.einsum("bgrqk,bgkd->bgrqd", jax.nn.softmax(scores), v)

    arguments = normal(2, 2, 4, 90, 32), normal(2, 2, 150, 32), normal(2, 2, 150, 24)
    check(function, *arguments, tolerance=1e-4)


@pytest.mark.parametrize("dtype", TOLERANCE)
def test_groups_give_the_same_bits(dtype, monkeypatch):
    arguments = operands("tails", dtype)
    results = []
    for groups in ("1", "0"):
        monkeypatch.setenv("TORCHNEURON_INSTRUCTION_GROUPS", groups)
        program = compile_function(lambda *a: attention(*a, MASKS["causal"]), *arguments)
        results.append(program(*arguments)[0])
    assert results[0].tobytes() == results[1].tobytes()
