# ruff: noqa: E501  a table with a row per function
"""Functions whose HLO covers what XLA can say."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_rng = np.random.default_rng(0)


def _f(*shape, dtype=np.float32):
    return _rng.standard_normal(shape).astype(dtype)


def _p(*shape):
    return (_rng.random(shape) + 0.1).astype(np.float32)


def _i(high, *shape, dtype=np.int32):
    return _rng.integers(0, high, shape).astype(dtype)


def _conv(x, w, **keywords):
    return lax.conv_general_dilated(
        x, w, **{"window_strides": (1, 1), "padding": "SAME"} | keywords
    )


def _attention(q, k, v):
    scores = jnp.einsum("bhqd,bhkd->bhqk", q, k) / 8
    mask = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bhkd->bhqd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


def _mlp_loss(w1, w2, x, y):
    logits = jax.nn.gelu(x @ w1) @ w2
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1))


def _cnn_loss(w, b, x):
    h = jax.nn.relu(_conv(x, w) + b[:, None, None])
    h = lax.reduce_window(h, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")
    return jnp.sum(h**2)


def _layer_norm(x, g, b):
    m = jnp.mean(x, -1, keepdims=True)
    v = jnp.var(x, -1, keepdims=True)
    return (x - m) * lax.rsqrt(v + 1e-5) * g + b


def _collatz(n):
    def body(state):
        n, count = state
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), count + 1

    return lax.while_loop(lambda s: s[0] != 1, body, (n, jnp.int32(0)))


def _scan(x):
    return lax.scan(lambda carry, row: (carry * 0.5 + row, jnp.sum(carry)), x[0], x)


def _window(x, init, op, **keywords):
    sizes = {"window_dimensions": (2, 3), "window_strides": (1, 2)}
    return lax.reduce_window(x, init, op, **sizes | {"padding": ((0, 1), (1, 1))} | keywords)


def _reduce_two(x):
    def smaller(a, b):
        take = (a[0] < b[0]) | ((a[0] == b[0]) & (a[1] < b[1]))
        return jnp.where(take, a[0], b[0]), jnp.where(take, a[1], b[1])

    index = lax.broadcasted_iota(jnp.int32, x.shape, 1)
    return lax.reduce((x, index), (jnp.float32(jnp.inf), jnp.int32(99)), smaller, (1,))


_UNARY = {
    "abs": jnp.abs, "cbrt": jnp.cbrt, "ceil": jnp.ceil, "cos": jnp.cos, "erf": lax.erf,
    "exp": jnp.exp, "expm1": jnp.expm1, "floor": jnp.floor, "isfinite": jnp.isfinite,
    "logistic": jax.nn.sigmoid, "negative": jnp.negative, "round": jnp.round,
    "round_away": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), "sign": jnp.sign,
    "sin": jnp.sin, "tan": jnp.tan, "tanh": jnp.tanh, "gelu": jax.nn.gelu, "softplus": jax.nn.softplus,
    "sinh": jnp.sinh, "cosh": jnp.cosh, "asin": lambda x: jnp.arcsin(x / 9),
    "acos": lambda x: jnp.arccos(x / 9), "atan": jnp.arctan, "asinh": jnp.arcsinh,
    "atanh": lambda x: jnp.arctanh(x / 9), "erfinv": lambda x: lax.erf_inv(x / 9),
}  # fmt: skip
_POSITIVE = {
    "log": jnp.log, "log1p": jnp.log1p, "rsqrt": lax.rsqrt, "sqrt": jnp.sqrt,
    "lgamma": lax.lgamma, "digamma": lax.digamma, "acosh": lambda x: jnp.arccosh(x + 1),
}  # fmt: skip
_BINARY = {
    "add": jnp.add, "atan2": jnp.arctan2, "divide": jnp.divide, "maximum": jnp.maximum,
    "minimum": jnp.minimum, "multiply": jnp.multiply, "remainder": lax.rem, "mod": jnp.mod,
    "subtract": jnp.subtract, "less": jnp.less, "nextafter": jnp.nextafter, "hypot": jnp.hypot,
    "logaddexp": jnp.logaddexp, "copysign": jnp.copysign, "floor_divide": jnp.floor_divide,
}  # fmt: skip
_INTEGER = {
    "and": jnp.bitwise_and, "or": jnp.bitwise_or, "xor": jnp.bitwise_xor,
    "shift_left": jnp.left_shift, "shift_right": jnp.right_shift,
    "shift_right_logical": lax.shift_right_logical, "floor_divide_int": jnp.floor_divide,
    "power_int": lambda a, b: jnp.power(a, 3) + b, "popcnt": lambda a, b: lax.population_count(a),
    "clz": lambda a, b: lax.clz(a), "not": lambda a, b: ~a, "gcd": jnp.gcd,
}  # fmt: skip

CASES = (
    [(name, f, (_f(3, 5),)) for name, f in _UNARY.items()]
    + [(name, f, (_p(3, 5),)) for name, f in _POSITIVE.items()]
    + [(name, f, (_f(3, 5), _f(3, 5))) for name, f in _BINARY.items()]
    + [(name, f, (_i(20, 3, 5), _i(8, 3, 5))) for name, f in _INTEGER.items()]
    + [
        ("power", jnp.power, (_p(4), _f(4))),
        ("clamp", lambda x: jnp.clip(x, -0.5, 0.5), (_f(4, 4),)),
        ("select", lambda x, y: jnp.where(x > 0, x, y), (_f(4), _f(4))),
        ("complex", lambda x, y: jnp.exp(lax.complex(x, y)), (_f(4), _f(4))),
        ("real_imag", lambda z: (jnp.real(z) * jnp.imag(z), jnp.abs(z), jnp.conj(z)),
         (_f(4).astype(np.complex64),)),
        ("complex128", lambda z: z * z + 1j, (_f(3).astype(np.complex128),)),
        ("convert", lambda x: [x.astype(t) for t in
         ("float64", "float16", "bfloat16", "int8", "uint16", "int64", "bool")], (_p(6),)),
        ("bitcast", lambda x: lax.bitcast_convert_type(x, jnp.int32), (_f(4),)),
        ("bitcast_narrow", lambda x: lax.bitcast_convert_type(x, jnp.uint8), (_f(4),)),
        ("reduce_precision", lambda x: lax.reduce_precision(x, 5, 10), (_f(4),)),
        ("narrow_floats", lambda x: (x.astype("bfloat16") * 3, x.astype("float8_e4m3fn") * 2,
         x.astype("float8_e5m2")), (_f(8),)),
        ("constants", lambda x: (x + np.arange(12, dtype=np.float32).reshape(3, 4), np.int8([-1, 2]),
         np.uint64([2**63]), np.float64([1e300]), np.array([True, False]), np.int64([-5]),
         np.complex64([1 + 2j]), np.float16([1.5]), np.uint32([2**32 - 1]), np.uint16([7])),
         (_f(3, 4),)),
        ("iota", lambda x: x + lax.broadcasted_iota(jnp.float32, (3, 4), 1), (_f(3, 4),)),
        ("broadcast_reshape", lambda x: jnp.broadcast_to(x[:, None], (3, 4)).reshape(2, 6), (_f(3),)),
        ("transpose_reverse", lambda x: jnp.flip(x.transpose(2, 0, 1), 1), (_f(2, 3, 4),)),
        ("slice", lambda x: x[1:7:2, ::-1], (_f(8, 3),)),
        ("pad", lambda x: lax.pad(x, jnp.float32(7), ((1, -1, 2), (-1, 3, 0))), (_f(4, 5),)),
        ("concatenate", lambda x, y: jnp.concatenate([x, y, x], 1), (_f(2, 3), _f(2, 1))),
        ("dynamic_slice", lambda x, i: lax.dynamic_slice(x, (i, np.int32(1)), (2, 3)), (_f(6, 5), np.int32(3))),
        ("dynamic_update_slice", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i * 0)),
         (_f(6, 5), _f(2, 5), np.int32(9))),
        ("take_rows", lambda x, i: jnp.take(x, i, axis=0), (_f(10, 4), _i(10, 3, 2))),
        ("take_along", lambda x, i: jnp.take_along_axis(x, i, 1), (_f(4, 6), _i(6, 4, 3))),
        ("gather_batched", jax.vmap(lambda x, i: x[i]), (_f(3, 8, 2), _i(8, 3, 4))),
        ("gather_pairs", lambda x, i, j: x[i, :, j], (_f(4, 3, 5), _i(4, 6), _i(5, 6))),
        ("scatter_add", lambda x, i, u: x.at[i].add(u), (_f(6, 3), _i(6, 8), _f(8, 3))),
        ("scatter_set", lambda x, i, u: x.at[i].set(u, unique_indices=True),
         (_f(6, 3), np.int32([4, 1]), _f(2, 3))),
        ("scatter_max", lambda x, i, j, u: x.at[i, j].max(u), (_f(6, 3), _i(6, 8), _i(3, 8), _f(8))),
        ("scatter_batched", jax.vmap(lambda x, i, u: x.at[i].add(u)), (_f(3, 6), _i(6, 3, 4), _f(3, 4))),
        ("reduce_sum", lambda x: (x.sum(), x.sum(1), x.sum((0, 2))), (_f(3, 4, 5),)),
        ("reduce_prod_max_min", lambda x: (x.prod(0), x.max(1), x.min()), (_f(3, 4),)),
        ("all_any", lambda x: ((x > 0).all(0), (x > 1).any()), (_f(3, 4),)),
        ("argmax_argmin", lambda x: (x.argmax(1), x.argmin(0)), (_f(3, 7),)),
        ("reduce_two", _reduce_two, (_f(3, 7),)),
        ("integer_sums", lambda x: (x.sum(), x.cumsum(0), x.max()), (_i(100, 3, 4, dtype=np.int64),)),
        ("var_std_mean", lambda x: (x.var(0), x.std(1), x.mean()), (_f(5, 6),)),
        ("cumulative", lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1)), (_p(4, 5),)),
        ("max_pool", lambda x: _window(x, -jnp.inf, lax.max), (_f(5, 8),)),
        ("sum_pool", lambda x: _window(x, 0.0, lax.add, window_dilation=(2, 1)), (_f(5, 8),)),
        ("min_pool_dilated", lambda x: _window(x, jnp.inf, lax.min, base_dilation=(2, 2)), (_f(5, 8),)),
        ("max_pool_grad", jax.grad(lambda x: (_window(x, -jnp.inf, lax.max) ** 2).sum()), (_f(5, 8),)),
        ("matmul", jnp.matmul, (_f(4, 6), _f(6, 5))),
        ("matmul_bf16", lambda a, b: lax.dot(a.astype("bfloat16"), b.astype("bfloat16"),
         preferred_element_type=jnp.float32), (_f(4, 6), _f(6, 5))),
        ("dot_batched", lambda a, b: jnp.einsum("bij,bkj->bik", a, b), (_f(3, 4, 6), _f(3, 5, 6))),
        ("dot_transposed", lambda a, b: jnp.einsum("ikjb,jcbk->bic", a, b),
         (_f(2, 3, 4, 5), _f(4, 2, 5, 3))),
        ("dot_integer", jnp.matmul, (_i(9, 3, 4), _i(9, 4, 2))),
        ("outer_vector", lambda a, b: (jnp.outer(a, b), jnp.dot(a, a)), (_f(3), _f(4))),
        ("conv", _conv, (_f(2, 3, 8, 8), _f(4, 3, 3, 3))),
        ("conv_strided", lambda x, w: _conv(x, w, window_strides=(2, 3), padding=((1, 2), (0, 1)),
         rhs_dilation=(2, 1)), (_f(2, 3, 9, 8), _f(4, 3, 3, 2))),
        ("conv_transposed", lambda x, w: _conv(x, w, lhs_dilation=(2, 2), padding=((1, 2), (2, 1))), (_f(1, 2, 4, 4), _f(3, 2, 3, 3))),
        ("conv_grouped", lambda x, w: _conv(x, w, feature_group_count=2), (_f(2, 4, 5, 5), _f(6, 2, 3, 3))),
        ("conv_depthwise", lambda x, w: _conv(x, w, feature_group_count=4), (_f(2, 4, 5, 5), _f(4, 1, 3, 3))),
        ("conv_batch_grouped", lambda x, w: _conv(x, w, batch_group_count=2), (_f(4, 3, 5, 5), _f(6, 3, 3, 3))),
        ("conv_nhwc", lambda x, w: _conv(x, w, dimension_numbers=("NHWC", "HWIO", "NHWC")),
         (_f(2, 8, 8, 3), _f(3, 3, 3, 4))),
        ("conv_1d", lambda x, w: lax.conv(x, w, (2,), "VALID"), (_f(2, 3, 9), _f(4, 3, 3))),
        ("conv_grad", jax.grad(lambda w, x: (_conv(x, w, window_strides=(2, 2)) ** 2).sum(), (0, 1)),
         (_f(4, 3, 3, 3), _f(2, 3, 8, 8))),
        ("sort", lambda x: jnp.sort(x, 0), (_f(9, 3),)),
        ("argsort", lambda x: jnp.argsort(x, 1), (_f(3, 9),)),
        ("sort_pairs", lambda x, y: lax.sort((x, y), num_keys=2), (_i(4, 9), _f(9))),
        ("softmax", jax.nn.softmax, (_f(4, 9),)),
        ("log_softmax_grad", jax.grad(lambda x: jax.nn.log_softmax(x)[0, 1]), (_f(4, 9),)),
        ("layer_norm", _layer_norm, (_f(4, 9), _f(9), _f(9))),
        ("layer_norm_grad", jax.grad(lambda *a: (_layer_norm(*a) ** 3).sum(), (0, 1, 2)),
         (_f(4, 9), _f(9), _f(9))),
        ("attention", _attention, tuple(_f(2, 3, 5, 4) for _ in range(3))),
        ("attention_grad", jax.grad(lambda *a: (_attention(*a) ** 2).sum(), (0, 1, 2)),
         tuple(_f(2, 3, 5, 4) for _ in range(3))),
        ("mlp_grad", jax.value_and_grad(_mlp_loss, (0, 1)), (_f(8, 16), _f(16, 4), _f(5, 8), _i(4, 5))),
        ("cnn_grad", jax.grad(_cnn_loss, (0, 1)), (_f(4, 1, 3, 3), _f(4), _f(2, 1, 8, 8))),
        ("embedding_grad", jax.grad(lambda w, i: (w[i] ** 2).sum()), (_f(10, 4), _i(10, 2, 3))),
        ("cond", lambda x, y: lax.cond(x.sum() > 0, jnp.sin, jnp.cos, y), (_f(3), _f(3))),
        ("switch", lambda i, x: lax.switch(i, [jnp.sin, jnp.cos, jnp.tan], x), (np.int32(2), _f(3))),
        ("while", _collatz, (np.int32(27),)),
        ("fori", lambda x: lax.fori_loop(0, 5, lambda i, v: v * 1.5 + i, x), (_f(3),)),
        ("scan", _scan, (_f(5, 3),)),
        ("scan_grad", jax.grad(lambda x: _scan(x)[1].sum()), (_f(5, 3),)),
        ("map", lambda x: lax.map(lambda r: jnp.sort(r)[:2], x), (_f(3, 4),)),
        ("one_hot", lambda i: jax.nn.one_hot(i, 5), (_i(5, 4),)),
        ("interp_triu_roll", lambda x: jnp.roll(jnp.triu(x), 1, 0), (_f(4, 4),)),
        ("random_bits", lambda k: jax.random.uniform(jax.random.wrap_key_data(k), (5,)),
         (np.uint32([1, 2]),)),
        ("rng_bit_generator", lambda k: lax.rng_bit_generator(
            k, (6,), jnp.uint32, algorithm=lax.RandomAlgorithm.RNG_PHILOX), (np.uint64([1, 2]),)),
        ("unused_and_empty", lambda x, y: (x * 2, jnp.zeros((0, 3)), jnp.sum(jnp.zeros((0, 3)), 0)),
         (_f(2), _f(3))),
        ("remat_named_call", lambda x: jax.checkpoint(jnp.sin)(jax.jit(jnp.cos)(x)), (_f(3),)),
        ("custom_jvp", jax.grad(lambda x: jax.nn.relu(x).sum() + jax.nn.silu(x).sum()), (_f(5),)),
        ("associative_scan", lambda x: lax.associative_scan(jnp.add, x), (_f(7, 2),)),
        ("optimization_barrier", lambda x: lax.optimization_barrier(x * 2) + 1, (_f(3),)),
        ("fft", lambda x: (jnp.fft.fft(x), jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x), 8)), (_f(3, 8),)),
    ]
)  # fmt: skip
