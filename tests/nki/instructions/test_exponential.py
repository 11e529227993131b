import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import (
    BF16,
    FLOATS,
    INTEGERS,
    random_array,
    random_shape,
    random_walk,
    refused,
    run,
    same_bits,
)

pytestmark = pytest.mark.trn3


def close(got, want, dtype=np.float32):
    """Within two units of fp32's last place, or one of a narrower type's."""
    tolerance = {"float32": 3e-7, "float16": 1e-3, "bfloat16": 8e-3}[np.dtype(dtype).name]
    np.testing.assert_allclose(
        got.astype(np.float64), want.astype(np.float64), rtol=tolerance, atol=1e-30
    )


@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int8), np.dtype(np.uint16)], ids=str)
@pytest.mark.parametrize("n", [1, 48, 49, 1000])
def test_exponential(dtype, n, rng):
    x = rng.integers(0, 40, (128, n)).astype(dtype)
    most = x.max(axis=1, keepdims=True).astype(np.float32)
    got = run(lambda d, t, m: nisa.exponential(d, t, m), x, most, out=x.shape)
    close(got, np.exp(x.astype(np.float64) - most))


def test_without_a_maximum(rng):
    x = rng.standard_normal((3, 7)).astype(np.float32)
    close(run(nisa.exponential, x, out=x.shape), np.exp(x.astype(np.float64)))


def test_sums_unrounded_results(rng):
    x = rng.standard_normal((64, 300)).astype(np.float32)

    def body(dst, x):
        narrow = nl.ndarray(x.shape, nl.bfloat16)
        nisa.exponential(narrow, x, 1.0, reduce_res=dst, reduce_cmd=nisa.reduce_cmd.reset_reduce)

    want = np.exp(x.astype(np.float64) - 1).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(run(body, x, out=(64, 1)), want, rtol=2e-6)


@pytest.mark.parametrize("start", ["load_reduce", "reset_reduce"])
def test_sum_goes_on(start, rng):
    x = rng.standard_normal((16, 90)).astype(np.float32)

    def body(dst, x):
        junk = nl.ndarray((16, 30), nl.float32)
        for i in range(3):
            nisa.exponential(
                junk,
                x[:, 30 * i : 30 * (i + 1)],
                reduce_cmd=nisa.reduce_cmd[start if i == 0 else "reduce"],
                reduce_init=100.0 if i == 0 and start == "load_reduce" else 0.0,
                reduce_res=dst if i == 2 else None,
            )

    want = np.exp(x.astype(np.float64)).sum(axis=1, keepdims=True)
    want += 100 if start == "load_reduce" else 0
    np.testing.assert_allclose(run(body, x, out=(16, 1)), want, rtol=2e-6)


def test_equals_scalar_engine(rng):
    x = (10 * rng.standard_normal((32, 100))).astype(np.float32)
    same_bits(
        run(nisa.exponential, x, out=x.shape),
        run(lambda d, t: nisa.activation(d, nl.exp, t), x, out=x.shape),
    )


@pytest.mark.parametrize("seed", range(10))
def test_random_operands(seed):
    rng = np.random.default_rng(seed)
    rows, n = random_shape(rng)
    width, view, in_numpy = random_walk(rng, n)
    dtype, out_dtype = rng.choice(FLOATS, 2)
    x = random_array(rng, (rows, width), dtype)
    most = rng.standard_normal((rows, 1)).astype(np.float32)
    psum = tuple(i for i in (0, -1) if rng.integers(2) and 2 * max(n, width) <= 1024)
    got = run(
        lambda d, t, m: nisa.exponential(d, view(t), m),
        x,
        most,
        out=(rows, n),
        out_dtype=out_dtype,
        psum=psum,
    )
    with np.errstate(over="ignore"):
        want = np.exp(in_numpy(x).astype(np.float32) - most).astype(out_dtype)
    finite = np.isfinite(want.astype(np.float32))
    close(got[finite], want[finite], out_dtype)
    np.testing.assert_array_equal(np.isfinite(got.astype(np.float32)), finite)


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    for integer in INTEGERS:
        run(lambda d, t: nisa.exponential(d, t), x.astype(integer), out=x.shape)
    assert "exponential.shape" in refused(nisa.exponential, x, out=(4, 7))
    assert "exponential.reduce_init: reduce_init is given" in refused(
        lambda d, t: nisa.exponential(
            d, t, reduce_cmd=nisa.reduce_cmd.reset_reduce, reduce_init=1.0
        ),
        x,
        out=x.shape,
    )
    assert "exponential.reduce_cmd: 1" in refused(
        lambda d, t: nisa.exponential(d, t, reduce_cmd=nisa.reduce_cmd.reset), x, out=x.shape
    )
    assert "max_value is bf16" in refused(
        lambda d, t, m: nisa.exponential(d, t, m), x, x[:, :1].astype(BF16), out=x.shape
    )
