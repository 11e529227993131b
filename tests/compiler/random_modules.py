"""Random HLO modules: functions of jax.lax whose results XLA and we must agree on.

Every value is marked exact or not. Exact values are integers of small magnitude, in whatever dtype,
so that every order of evaluation gives the same bits; only they may enter operations where a last
bit decides (comparisons, rounding, sorting). Others are kept small and compared with a tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

LIMIT = 64  # magnitude of exact values; sums of products of it stay below 2^24
DTYPES = ("float32", "float32", "bfloat16", "float16", "int32", "bool")
EXTENTS = (1, 1, 2, 3, 4, 7, 16, 33, 130)
MOST_ELEMENTS = 20_000


@dataclass
class Value:
    array: jax.Array
    exact: bool

    @property
    def shape(self):
        return self.array.shape

    @property
    def dtype(self):
        return self.array.dtype

    @property
    def floating(self):
        return jnp.issubdtype(self.dtype, jnp.floating)

    @property
    def boolean(self):
        return self.dtype == jnp.bool_


class Generator:
    """Decisions come from `rng` and shapes alone, so tracing twice builds the same module."""

    def __init__(self, seed: int, length: int):
        self.seed, self.length = seed, length
        rng = np.random.default_rng(seed)
        self.arguments = [self._argument(rng) for _ in range(rng.integers(1, 4))]

    @staticmethod
    def _argument(rng) -> np.ndarray:
        shape = _shape(rng)
        dtype = DTYPES[rng.integers(len(DTYPES))]
        return np.asarray(jnp.asarray(rng.integers(-4, 5, shape)).astype(dtype))

    def function(self, *arguments: jax.Array) -> tuple[jax.Array, ...]:
        return tuple(v.array for v in self.values(self.length, *arguments))

    def values(self, length: int, *arguments: jax.Array) -> list[Value]:
        """The arguments, then the values of `length` operations."""
        rng = np.random.default_rng([self.seed, 1])
        pool = [Value(a, True) for a in arguments]
        while len(pool) < len(arguments) + length:
            operation = OPERATIONS[rng.integers(len(OPERATIONS))]
            made = operation(rng, pool)
            if made is not None and made.array.size <= MOST_ELEMENTS:
                pool.append(_tamed(made))
        return pool


def _shape(rng, rank: int | None = None) -> tuple[int, ...]:
    rank = int(rng.integers(0, 5)) if rank is None else rank
    shape = [int(EXTENTS[rng.integers(len(EXTENTS))]) for _ in range(rank)]
    while np.prod(shape) > MOST_ELEMENTS:
        shape[int(np.argmax(shape))] = 2
    return tuple(shape)


def _tamed(value: Value) -> Value:
    """Within the range where the promises of this file hold."""
    x = value.array
    if value.boolean:
        return value
    if value.exact:
        return Value(lax.rem(x, jnp.asarray(LIMIT, x.dtype)), True)
    return Value(lax.clamp(jnp.asarray(-8, x.dtype), x, jnp.asarray(8, x.dtype)), False)


def _pick(rng, pool: list[Value], accept: Callable[[Value], bool] = lambda v: True):
    # Recent values more often, so that chains become long.
    chosen = [v for v in pool if accept(v)]
    if not chosen:
        return None
    return chosen[-1 - min(int(rng.geometric(0.25)) - 1, len(chosen) - 1)]


def _partner(rng, pool: list[Value], x: Value):
    """A value of x's dtype, broadcast to its shape: of the same shape, or of some of its dims."""

    def fits(v: Value) -> bool:
        if v.dtype != x.dtype or len(v.shape) > len(x.shape):
            return False
        tail = x.shape[len(x.shape) - len(v.shape) :]
        return all(a in (b, 1) for a, b in zip(v.shape, tail, strict=True))

    y = _pick(rng, pool, fits)
    return None if y is None else Value(jnp.broadcast_to(y.array, x.shape), y.exact)


def unary(rng, pool):
    x = _pick(rng, pool, lambda v: not v.boolean)
    if x is None:
        return None
    exact = [lax.neg, lax.abs, lax.sign]
    rounding = [lax.floor, lax.ceil, lambda v: lax.round(v, lax.RoundingMethod.TO_NEAREST_EVEN)]
    smooth = [
        lambda v: lax.exp(lax.neg(lax.abs(v))),
        lax.tanh,
        lax.logistic,
        lambda v: lax.log1p(lax.abs(v)),
        lambda v: lax.rsqrt(lax.add(lax.abs(v), jnp.ones_like(v))),
        lax.sin,
    ]
    if not x.floating:
        return Value(exact[rng.integers(3)](x.array), x.exact)
    choices = [(f, True) for f in exact[:2]]
    if x.exact:
        choices += [(exact[2], True), *((f, True) for f in rounding)]
    if x.dtype == jnp.float32:
        choices += [(f, False) for f in smooth]
    function, keeps = choices[rng.integers(len(choices))]
    return Value(function(x.array), x.exact and keeps)


def binary(rng, pool):
    x = _pick(rng, pool, lambda v: not v.boolean)
    y = None if x is None else _partner(rng, pool, x)
    if y is None:
        return None
    function = [lax.add, lax.sub, lax.mul, lax.max, lax.min][rng.integers(5)]
    if x.dtype in (jnp.bfloat16, jnp.float16):
        # Products of two exact values of 8 bits need more than the format has.
        function = [lax.max, lax.min, lax.add, lax.sub][rng.integers(4 if x.exact else 2)]
        a = lax.rem(x.array, jnp.asarray(32, x.dtype)) if x.exact else x.array
        b = lax.rem(y.array, jnp.asarray(32, x.dtype)) if y.exact else y.array
        if not (x.exact and y.exact):
            function = [lax.max, lax.min][rng.integers(2)]
        return Value(function(a, b), x.exact and y.exact)
    return Value(function(x.array, y.array), x.exact and y.exact)


def logic(rng, pool):
    x = _pick(rng, pool, lambda v: v.boolean)
    y = None if x is None else _partner(rng, pool, x)
    if y is None:
        return None
    return Value([lax.bitwise_and, lax.bitwise_or, lax.bitwise_xor][rng.integers(3)](
        x.array, y.array), True)  # fmt: skip


def compare(rng, pool):
    x = _pick(rng, pool, lambda v: v.exact and not v.boolean)
    y = None if x is None else _partner(rng, [v for v in pool if v.exact], x)
    if y is None:
        return None
    return Value([lax.lt, lax.le, lax.gt, lax.ge, lax.eq, lax.ne][rng.integers(6)](
        x.array, y.array), True)  # fmt: skip


def select(rng, pool):
    condition = _pick(rng, pool, lambda v: v.boolean)
    if condition is None:
        return None
    x = _pick(rng, pool, lambda v: v.shape == condition.shape)
    y = _partner(rng, pool, x)
    return Value(lax.select(condition.array, x.array, y.array), x.exact and y.exact)


def convert(rng, pool):
    x = _pick(rng, pool)
    dtype = jnp.dtype(DTYPES[rng.integers(len(DTYPES))])
    if not x.exact and (dtype == jnp.int32 or dtype == jnp.bool_ or x.dtype == dtype):
        return None
    return Value(lax.convert_element_type(x.array, dtype), x.exact)


def reduce(rng, pool):
    x = _pick(rng, pool, lambda v: len(v.shape) > 0)
    if x is None:
        return None
    rank = len(x.shape)
    axes = sorted(rng.permutation(rank)[: rng.integers(1, rank + 1)].tolist())
    if x.boolean:
        return Value([jnp.any, jnp.all][rng.integers(2)](x.array, axes), True)
    kind = rng.integers(3)
    if kind == 0 and x.dtype in (jnp.float32, jnp.int32):
        return Value(jnp.sum(x.array, axes), x.exact)
    return Value([jnp.max, jnp.min][rng.integers(2)](x.array, axes), x.exact)


def normalise(rng, pool):
    x = _pick(rng, pool, lambda v: v.dtype == jnp.float32 and len(v.shape) > 0)
    if x is None:
        return None
    axis = int(rng.integers(len(x.shape)))
    if rng.integers(2):
        return Value(jax.nn.softmax(x.array, axis), False)
    centred = x.array - x.array.mean(axis, keepdims=True)
    return Value(centred * lax.rsqrt((centred**2).mean(axis, keepdims=True) + 1.0), False)


def rearrange(rng, pool):
    x = _pick(rng, pool)
    rank = len(x.shape)
    kind = rng.integers(4)
    if kind == 0:
        return Value(jnp.transpose(x.array, rng.permutation(rank).tolist()), x.exact)
    if kind == 1:
        axes = rng.permutation(rank)[: rng.integers(0, rank + 1)].tolist()
        return Value(lax.rev(x.array, axes), x.exact)
    if kind == 2:
        return Value(x.array.reshape(_refactored(rng, x.array.size)), x.exact)
    extents = [int(e) if e > 1 else int(EXTENTS[rng.integers(6)]) for e in x.shape]
    extra = _shape(rng, int(rng.integers(0, 2)))
    return Value(jnp.broadcast_to(x.array, extra + tuple(extents)), x.exact)


def _refactored(rng, size: int) -> tuple[int, ...]:
    shape = []
    while size > 1 and len(shape) < 4:
        divisors = [d for d in range(2, min(size, 200) + 1) if size % d == 0]
        if not divisors or rng.integers(4) == 0:
            break
        shape.append(int(divisors[rng.integers(len(divisors))]))
        size //= shape[-1]
    shape.append(size)
    return tuple(np.asarray(shape)[rng.permutation(len(shape))].tolist())


def cut(rng, pool):
    x = _pick(rng, pool, lambda v: len(v.shape) > 0)
    if x is None:
        return None
    begin = [int(rng.integers(0, e)) for e in x.shape]
    end = [int(rng.integers(b + 1, e + 1)) for b, e in zip(begin, x.shape, strict=True)]
    kind = rng.integers(3)
    if kind == 0:
        steps = [int(rng.integers(1, 4)) for _ in x.shape]
        return Value(lax.slice(x.array, begin, end, steps), x.exact)
    sizes = [e - b for b, e in zip(begin, end, strict=True)]
    index = _pick(rng, pool, lambda v: v.dtype == jnp.int32 and v.array.size > 0)
    starts = [jnp.asarray(b, jnp.int32) for b in begin]
    if index is not None:
        starts[0] = index.array.reshape(-1)[0]
    if kind == 1:
        return Value(lax.dynamic_slice(x.array, starts, sizes), x.exact)
    piece = lax.slice(x.array, begin, end)
    return Value(lax.dynamic_update_slice(x.array, lax.rev(piece, [0]), starts), x.exact)


def extend(rng, pool):
    x = _pick(rng, pool, lambda v: len(v.shape) > 0)
    if x is None:
        return None
    if rng.integers(2):
        axis = int(rng.integers(len(x.shape)))
        others = [
            v for v in pool
            if v.dtype == x.dtype and len(v.shape) == len(x.shape)
            and v.shape[:axis] + v.shape[axis + 1 :] == x.shape[:axis] + x.shape[axis + 1 :]
        ]  # fmt: skip
        parts = [others[rng.integers(len(others))] for _ in range(rng.integers(1, 4))]
        return Value(lax.concatenate([p.array for p in parts], axis), all(p.exact for p in parts))
    padding = [(int(rng.integers(-1, 3)), int(rng.integers(-1, 3)), int(rng.integers(0, 2)))
               for _ in x.shape]  # fmt: skip
    result = [
        low + high + e + (e - 1) * inside
        for (low, high, inside), e in zip(padding, x.shape, strict=True)
    ]
    if min(result) < 1:
        return None
    fill = jnp.asarray(rng.integers(0, 3)).astype(x.dtype)
    return Value(lax.pad(x.array, fill, padding), x.exact)


def dot(rng, pool):
    x = _pick(rng, pool, lambda v: v.floating and len(v.shape) >= 1)
    if x is None:
        return None
    y = _pick(rng, pool, lambda v: v.dtype == x.dtype and len(v.shape) >= 1
              and set(v.shape) & set(x.shape))  # fmt: skip
    if y is None:
        return None
    pairs = [(i, j) for i, a in enumerate(x.shape) for j, b in enumerate(y.shape) if a == b]
    i, j = pairs[rng.integers(len(pairs))]
    batch = [(a, b) for a, b in pairs if a != i and b != j][: rng.integers(0, 2)]
    numbers = (((i,), (j,)), (tuple(a for a, _ in batch), tuple(b for _, b in batch)))
    if np.prod(x.shape) * np.prod(y.shape) > 2e7:
        return None
    a, b = x.array, y.array
    if x.exact and y.exact:  # small enough for the sum to be exact in any order
        a, b = (lax.rem(v, jnp.asarray(4, v.dtype)) for v in (a, b))
    product = lax.dot_general(a, b, numbers, preferred_element_type=jnp.float32)
    return Value(product, x.exact and y.exact)


def windows(rng, pool):
    x = _pick(rng, pool, lambda v: v.dtype in (jnp.float32, jnp.int32) and len(v.shape) > 0)
    if x is None:
        return None
    kind = rng.integers(3)
    if kind == 0:
        return Value(lax.cumsum(x.array, int(rng.integers(len(x.shape)))), x.exact)
    size = [int(rng.integers(1, min(e, 3) + 1)) for e in x.shape]
    stride = [int(rng.integers(1, 3)) for _ in x.shape]
    if kind == 1:
        least = -jnp.inf if x.floating else jnp.iinfo(jnp.int32).min
        init = jnp.asarray(least, x.dtype)
        return Value(lax.reduce_window(x.array, init, lax.max, size, stride, "VALID"), x.exact)
    zero = jnp.zeros((), x.dtype)
    return Value(lax.reduce_window(x.array, zero, lax.add, size, stride, "SAME"), x.exact)


def order(rng, pool):
    x = _pick(rng, pool, lambda v: v.exact and not v.boolean and len(v.shape) > 0)
    if x is None:
        return None
    axis = int(rng.integers(len(x.shape)))
    if rng.integers(2):
        return Value(lax.sort(x.array, dimension=axis), True)
    return Value(lax.argmax(x.array, axis, jnp.int32), True)


def pick_rows(rng, pool):
    x = _pick(rng, pool, lambda v: len(v.shape) > 0)
    index = _pick(rng, pool, lambda v: v.dtype == jnp.int32 and v.array.size <= 256)
    if x is None or index is None:
        return None
    axis = int(rng.integers(len(x.shape)))
    rows = lax.rem(lax.abs(index.array), jnp.asarray(x.shape[axis], jnp.int32))
    if rng.integers(3) or axis != 0 or x.boolean:
        return Value(jnp.take(x.array, rows, axis, mode="clip"), x.exact)
    updates = jnp.broadcast_to(jnp.ones((), x.dtype), (*rows.shape, *x.shape[1:]))
    if x.dtype in (jnp.float32, jnp.int32):
        return Value(x.array.at[rows].add(updates), x.exact)
    return Value(x.array.at[rows].set(updates), x.exact)


def count(rng, pool):
    shape = _shape(rng, int(rng.integers(1, 4)))
    dtype = (jnp.float32, jnp.int32)[rng.integers(2)]
    return Value(lax.broadcasted_iota(dtype, shape, int(rng.integers(len(shape)))), True)


OPERATIONS = (
    unary, unary, binary, binary, binary, logic, compare, select, convert, reduce, reduce,
    normalise, rearrange, rearrange, cut, extend, dot, windows, order, pick_rows, count,
)  # fmt: skip
