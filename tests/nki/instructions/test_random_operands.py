"""Random legal operands of the instructions that other modules look at case by case.

A property per instruction: shapes with their edges, walks, dtypes, PSUM or SBUF, in place or not,
against one line of NumPy in fp32 with one rounding at the end.
"""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import (
    FLOATS,
    INTEGERS,
    fp32_to,
    random_array,
    random_shape,
    random_walk,
    run,
    same_bits,
)

SEEDS = range(10)
NARROW = [*FLOATS, *(d for d in INTEGERS if d.itemsize < 4)]


def f32(x):
    return np.asarray(x, np.float32)


class Case:
    """Draws of one test: `tile()` gives (array to load, view on chip, the operand in NumPy)."""

    def __init__(self, seed, most=700):
        self.rng = np.random.default_rng(seed)
        self.rows, self.n = random_shape(self.rng, most)
        self.out_dtype = self.rng.choice(NARROW)

    def tile(self, dtypes=FLOATS, n=None):
        n = self.n if n is None else n
        width, view, in_numpy = random_walk(self.rng, n)
        array = random_array(self.rng, (self.rows, width), self.rng.choice(dtypes))
        return array, view, np.ascontiguousarray(in_numpy(array))

    def psum(self, *widths):
        """Which of the operands (and -1, dst) lie in PSUM: at most one input, each in one bank."""
        fits = [i for i, width in enumerate(widths) if width <= 512]
        chosen = [int(self.rng.choice(fits))] if fits and self.rng.integers(2) else []
        return (*chosen, -1) if self.n <= 512 and self.rng.integers(2) else tuple(chosen)


@pytest.mark.parametrize("seed", SEEDS)
def test_tensor_tensor(seed):
    case = Case(seed)
    (a, a_view, x), (b, b_view, y) = case.tile(), case.tile()
    op = str(case.rng.choice(["add", "subtract", "multiply", "maximum", "minimum", "less"]))
    got = run(
        lambda d, s, t: nisa.tensor_tensor(d, a_view(s), b_view(t), getattr(nl, op)),
        a,
        b,
        out=(case.rows, case.n),
        out_dtype=case.out_dtype,
        psum=case.psum(a.shape[1], b.shape[1]),
    )
    same_bits(got, fp32_to(case.out_dtype, getattr(np, op)(f32(x), f32(y))))


@pytest.mark.parametrize("seed", SEEDS)
def test_tensor_tensor_of_32_bit_integers(seed):
    case = Case(seed)
    dtype = np.dtype(case.rng.choice([np.int32, np.uint32]))
    (a, a_view, x), (b, b_view, y) = case.tile([dtype]), case.tile([dtype])
    op = str(case.rng.choice(["add", "subtract", "multiply", "bitwise_and", "bitwise_xor"]))
    got = run(
        lambda d, s, t: nisa.tensor_tensor(d, a_view(s), b_view(t), getattr(nl, op)),
        a,
        b,
        out=(case.rows, case.n),
        out_dtype=dtype,
    )
    with np.errstate(over="ignore"):
        same_bits(got, getattr(np, op)(x, y))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("vector", [False, True])
def test_tensor_scalar(seed, vector):
    case = Case(seed)
    a, view, x = case.tile(NARROW)
    op0, op1 = case.rng.choice(["add", "subtract", "multiply", "maximum"], 2)
    reverse0, reverse1 = (bool(r) for r in case.rng.integers(0, 2, 2))
    scalars = case.rng.standard_normal((2, case.rows, 1)).astype(np.float32)
    if not vector:
        scalars[:] = scalars[:, :1]

    def body(d, s, p, q):
        first, second = (p, q) if vector else (float(scalars[0, 0, 0]), float(scalars[1, 0, 0]))
        ops = getattr(nl, op0), getattr(nl, op1)
        nisa.tensor_scalar(d, view(s), ops[0], first, reverse0, ops[1], second, reverse1)

    got = run(body, a, *scalars, out=(case.rows, case.n), out_dtype=case.out_dtype)
    want = f32(x)
    for op, scalar, reverse in ((op0, scalars[0], reverse0), (op1, scalars[1], reverse1)):
        want = getattr(np, op)(scalar, want) if reverse else getattr(np, op)(want, scalar)
    same_bits(got, fp32_to(case.out_dtype, want))


@pytest.mark.parametrize("seed", SEEDS)
def test_scalar_tensor_tensor(seed):
    case = Case(seed)
    (a, a_view, x), (b, b_view, y) = case.tile(), case.tile()
    got = run(
        lambda d, s, t: nisa.scalar_tensor_tensor(
            d, a_view(s), nl.multiply, 1.25, nl.subtract, b_view(t)
        ),
        a,
        b,
        out=(case.rows, case.n),
        out_dtype=case.out_dtype,
        psum=case.psum(a.shape[1]),
    )
    same_bits(got, fp32_to(case.out_dtype, f32(x) * np.float32(1.25) - f32(y)))


@pytest.mark.parametrize("seed", SEEDS)
def test_tensor_reduce(seed):
    case = Case(seed)
    a, view, x = case.tile([d for d in NARROW if d.itemsize < 4])
    x = f32(x).round() if np.dtype(a.dtype).kind not in "iu" else f32(x)
    a = a if np.dtype(a.dtype).kind in "iu" else f32(a).round().astype(a.dtype)
    op = str(case.rng.choice(["maximum", "minimum", "abs_max"]))
    function = {
        "maximum": lambda t: t.max(1),
        "minimum": lambda t: t.min(1),
        "abs_max": lambda t: np.abs(t).max(1),
    }[op]

    def body(d, s):
        t = view(s)
        nisa.tensor_reduce(d, getattr(nl, op), t, list(range(1, t.ndim)))

    got = run(body, a, out=(case.rows, 1))
    same_bits(got[:, 0].copy(), function(x))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("engine", ["vector", "gpsimd"])
def test_tensor_copy(seed, engine):
    case = Case(seed)
    dtypes = [*FLOATS, *INTEGERS]
    a, view, x = case.tile(dtypes)
    out_dtype = case.rng.choice(dtypes)
    got = run(
        lambda d, s: nisa.tensor_copy(d, view(s), nisa.engine[engine]),
        a,
        out=(case.rows, case.n),
        out_dtype=out_dtype,
    )
    if a.dtype.kind in "iu" and out_dtype.kind in "iu":
        same_bits(got, x.astype(out_dtype))
    else:
        same_bits(got, x if a.dtype == out_dtype else fp32_to(out_dtype, x.astype(np.float32)))


@pytest.mark.parametrize("seed", SEEDS)
def test_tensor_copy_predicated(seed):
    case = Case(seed)
    dtype = case.rng.choice([*FLOATS, *INTEGERS])
    a, view, x = case.tile([dtype])
    predicate = case.rng.integers(0, 2, (case.rows, case.n))
    predicate = predicate.astype(case.rng.choice([np.uint8, np.uint16, np.uint32]))
    old = random_array(case.rng, (case.rows, case.n), dtype)
    reverse = bool(case.rng.integers(2))
    got = run(
        lambda d, s, p: nisa.tensor_copy_predicated(d, view(s), p, reverse),
        a,
        predicate,
        out=old.shape,
        out_dtype=dtype,
        initial=old,
    )
    same_bits(got, np.where((predicate != 0) != reverse, x, old))


@pytest.mark.parametrize("seed", SEEDS)
def test_activation(seed):
    case = Case(seed)
    a, view, x = case.tile(NARROW)
    scale = case.rng.standard_normal((case.rows, 1)).astype(np.float32)
    bias = case.rng.standard_normal((case.rows, 1)).astype(case.rng.choice(FLOATS))
    got = run(
        lambda d, s, p, q: nisa.activation(d, nl.square, view(s), q, p),
        a,
        scale,
        bias,
        out=(case.rows, case.n),
        out_dtype=case.out_dtype,
        psum=case.psum(a.shape[1]),
    )
    same_bits(got, fp32_to(case.out_dtype, np.square(f32(x) * scale + f32(bias))))


@pytest.mark.parametrize("seed", SEEDS)
def test_iota_and_affine_select(seed):
    case = Case(seed)
    steps = case.rng.integers(-9, 9, 2)
    outer = next(k for k in (4, 3, 2, 1) if case.n % k == 0)
    pattern = [[int(steps[0]), outer], [int(steps[1]), case.n // outer]]
    offset, multiplier = (int(v) for v in case.rng.integers(-99, 99, 2))
    index = np.add.outer(steps[0] * np.arange(outer), steps[1] * np.arange(case.n // outer))
    value = offset + multiplier * np.arange(case.rows)[:, None] + index.ravel()[None]
    got = run(
        lambda d: nisa.iota(d, pattern, offset, multiplier),
        out=(case.rows, case.n),
        out_dtype=np.int32,
    )
    same_bits(got, value.astype(np.int32))
    a, view, x = case.tile()
    got = run(
        lambda d, s: nisa.affine_select(d, pattern, multiplier, view(s), 0.5, nl.greater, offset),
        a,
        out=(case.rows, case.n),
        out_dtype=case.out_dtype,
    )
    same_bits(got, fp32_to(case.out_dtype, np.where(value > 0, f32(x), np.float32(0.5))))


@pytest.mark.parametrize("seed", SEEDS)
def test_max8_and_find_index8(seed):
    case = Case(seed)
    n = max(8, case.n)
    a, view, x = case.tile(n=n)
    x = f32(x)

    def body(d, s):
        largest, index = (
            nl.ndarray((case.rows, 8), nl.float32),
            nl.ndarray((case.rows, 8), nl.uint32),
        )
        nisa.max8(largest, view(s))
        nisa.nc_find_index8(index, view(s), largest)
        nisa.tensor_copy(d[:, :8], largest)
        nisa.tensor_copy(d[:, 8:], index)

    got = run(body, a, out=(case.rows, 16))
    want = -np.sort(-x, axis=1)[:, :8]
    np.testing.assert_array_equal(got[:, :8], want)
    np.testing.assert_array_equal(np.take_along_axis(x, got[:, 8:].astype(int), 1), want)
    assert all(len(set(row)) == 8 for row in got[:, 8:])


@pytest.mark.parametrize("seed", SEEDS)
def test_transposes(seed):
    rng = np.random.default_rng(seed)
    p, f = (int(v) for v in rng.integers(1, 129, 2))
    dtype = rng.choice([*FLOATS, np.dtype(np.int32), np.dtype(np.uint16)])
    x = random_array(rng, (p, f), dtype)
    want = np.ascontiguousarray(x.T)
    got = run(nisa.nc_transpose, x, out=(f, p), out_dtype=dtype, psum=(-1,))
    same_bits(got, want)
    small = x[:32, :32].copy()
    got = run(nisa.nc_transpose, small, out=small.shape[::-1], out_dtype=dtype)
    same_bits(got, np.ascontiguousarray(small.T))


@pytest.mark.parametrize("seed", SEEDS)
def test_matmul(seed):
    rng = np.random.default_rng(seed)
    k, m = (int(v) for v in rng.integers(1, 129, 2))
    n = int(rng.integers(1, 513))
    dtype = rng.choice(FLOATS)
    a, b = (rng.integers(-8, 8, (k, width)).astype(dtype) for width in (m, n))

    def body(d, s, t):
        nisa.nc_matmul(d, s, t, accumulate=False)
        nisa.nc_matmul(d, s, t, accumulate=True)

    got = run(body, a, b, out=(m, n), psum=(-1,))
    same_bits(got, 2 * f32(a).T @ f32(b) + np.float32(0))  # integers: exact in any order


@pytest.mark.parametrize("seed", SEEDS)
def test_partition_reduce(seed):
    case = Case(seed)
    a, view, x = case.tile([np.dtype(np.float32)])
    op = str(case.rng.choice(["maximum", "average"]))
    x = np.round(x)
    got = run(
        lambda d, s: nisa.tensor_partition_reduce(d, getattr(nl, op), view(s)),
        np.round(a),
        out=(1, case.n),
    )
    want = x.max(axis=0) if op == "maximum" else (x.sum(axis=0) / np.float32(case.rows))
    same_bits(got[0], want.astype(np.float32))


@pytest.mark.parametrize("seed", SEEDS)
def test_memset_and_reciprocal(seed):
    case = Case(seed)
    dtype = case.rng.choice([*FLOATS, *INTEGERS])
    value = int(case.rng.integers(0, 100))
    got = run(lambda d: nisa.memset(d, value), out=(case.rows, case.n), out_dtype=dtype)
    same_bits(got, np.full((case.rows, case.n), value, dtype))
    a, view, x = case.tile()
    x = np.where(f32(x) == 0, np.float32(1), f32(x))
    got = run(
        lambda d, s: nisa.reciprocal(d, view(s)),
        np.where(f32(a) == 0, 1, f32(a)).astype(np.float32),
        out=(case.rows, case.n),
        out_dtype=case.rng.choice(FLOATS),
    )
    same_bits(got, fp32_to(got.dtype, np.float32(1) / x))
