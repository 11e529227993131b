# ruff: noqa: E501  a table with a row per function
"""jax.numpy and jax.lax, element by element, over dtypes and broadcasts."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from jax_functions.data import b, f, i, p

_UNARY = ["abs", "ceil", "cos", "deg2rad", "exp", "exp2", "fabs", "floor", "isfinite", "isinf", "isnan", "negative", "rad2deg",
          "reciprocal", "rint", "sign", "signbit", "sin", "sinc", "square", "tanh", "trunc", "nan_to_num"]  # fmt: skip
_POSITIVE = ["log", "log10", "log1p", "log2", "sqrt", "cbrt"]
_BINARY = ["add", "divide", "equal", "fmax", "fmin", "fmod", "greater", "greater_equal", "heaviside", "less_equal", "logaddexp2",
           "maximum", "minimum", "not_equal", "true_divide", "float_power"]  # fmt: skip
_LOGICAL = ["logical_and", "logical_or", "logical_xor"]
_INTEGER = [
    "add",
    "subtract",
    "multiply",
    "maximum",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "equal",
    "less",
]
_NARROW = ["add", "multiply", "maximum", "divide"]

CASES = (
    [(name, getattr(jnp, name), (f(4, 33),)) for name in _UNARY]
    + [(name, getattr(jnp, name), (p(4, 33),)) for name in _POSITIVE]
    + [(name, getattr(jnp, name), (p(4, 33), p(33))) for name in _BINARY]
    + [(name, getattr(jnp, name), (b(4, 33), b(4, 33))) for name in _LOGICAL]
    + [(f"{name}_{dtype}", getattr(jnp, name), (i(100, 4, 9, dtype=dtype), i(90, 4, 9, dtype=dtype)))
       for dtype in ("int8", "uint8", "int16", "int32", "uint32", "int64") for name in _INTEGER]
    + [(f"{name}_{dtype}", lambda x, y, op=name, t=dtype: getattr(jnp, op)(x.astype(t), y.astype(t)), (p(4, 9), p(4, 9)))
       for dtype in ("bfloat16", "float16", "float64") for name in _NARROW]
    + [
        ("big_s64_constant", lambda x: x + np.int64(2**62 + 1), (i(9, 6, dtype=np.int64),)),
        ("big_s64_select", lambda x: jnp.where(x > 4, x, np.int64(2**62 + 1)), (i(9, 6, dtype=np.int64),)),
        ("big_s64_compare", lambda x: x > np.int64(2**62 + 1), (np.int64(2**62) + i(4, 9, dtype=np.int64),)),
        ("complex_constant", lambda x: x * (1 + 2j), (f(5).astype(np.complex64),)),
        ("complex_select", lambda x: jnp.where(x.real > 0, x, 1 + 2j), (f(5).astype(np.complex64),)),
        ("complex_full", lambda x: jnp.full(3, 1 + 2j, np.complex64) + x, (f(3).astype(np.complex64),)),
        ("clip_scalars", lambda x: jnp.clip(x, -1, 0.25), (f(40),)),
        ("where_broadcast", lambda c, x: jnp.where(c[:, None], x, 0), (b(5), f(5, 7))),
        ("piecewise", lambda x: jnp.piecewise(x, [x < 0, x > 1], [0.0, 1.0, lambda v: v * v]), (f(30),)),
        ("polynomial", lambda x: jnp.polyval(jnp.array([1.0, -2.0, 3.0], jnp.float32), x), (f(30),)),
        ("divmod", jnp.divmod, (i(100, 8), 1 + i(7, 8))),
        ("modf", jnp.modf, (f(20),)),
        ("frexp", jnp.frexp, (p(20),)),
        ("ldexp", lambda x: jnp.ldexp(x, 3), (p(20),)),
        ("isclose", lambda x, y: jnp.isclose(x, y), (f(10), f(10))),
        ("integer_pow", lambda x: lax.integer_pow(x, 5), (f(10),)),
        ("saturating_casts", lambda x: (100 * x).astype(jnp.int32), (f(30),)),
        ("bool_arithmetic", lambda x, y: (x & ~y, x ^ y, x.astype(jnp.float32) + y), (b(9), b(9))),
        ("float8_quantise", lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), (f(40),)),
        ("weak_types", lambda x: x * 2 + 1 - 0.5, (f(6),)),
        ("erfc", lax.erfc, (f(20),)),
        ("gammaln", jax.scipy.special.gammaln, (p(20),)),
        ("entr_xlogy", lambda x: (jax.scipy.special.entr(x), jax.scipy.special.xlogy(x, x)), (p(20),)),
        ("betaln", jax.scipy.special.betaln, (p(10), p(10))),
        ("i0e", jax.scipy.special.i0e, (f(20),)),
        ("norm_logpdf", jax.scipy.stats.norm.logpdf, (f(20),)),
    ]
)  # fmt: skip
