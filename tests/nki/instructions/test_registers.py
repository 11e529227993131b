"""Registers: alloc, move, load and store, scalar_load and scalar_store, conditional loops."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import INTEGERS, refused, same_bits

import nki


def stored(body, dtype, *arrays, where=nl.sbuf):
    """body(dst, *arrays) with a one-element dst."""

    def kernel(arrays):
        out = nl.ndarray((1, 1), dtype, nl.shared_hbm)
        if where == nl.sbuf:
            tile = nl.ndarray((1, 1), dtype)
            body(tile, *arrays)
            nisa.dma_copy(out, tile)
        else:
            body(out, *arrays)
        return out

    return nki.simulate(kernel)(list(arrays))[0, 0]


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("where", [nl.sbuf, nl.hbm])
@pytest.mark.parametrize("value", [0, 1, -5, 300, 2**31 - 1, -(2**31)])
def test_store_keeps_the_low_bits(dtype, where, value):
    got = stored(lambda d: nisa.register_store(d, nisa.register_alloc(value)), dtype, where=where)
    assert got == np.array([value], np.int64).astype(dtype)[0]


@pytest.mark.parametrize(
    "x", [np.float32(-2.75), np.uint32(2**32 - 1), np.int32(-1), np.uint8(255)], ids=repr
)
def test_words_go_through_registers(x):
    def kernel(x):
        out = nl.ndarray((1, 1), x.dtype, nl.shared_hbm)
        register = nisa.register_alloc()
        nisa.register_load(register, x)
        nisa.register_store(out, register)
        return out

    same_bits(nki.simulate(kernel)(x.reshape(1, 1)), x.reshape(1, 1))


@pytest.mark.parametrize("dtype", [np.int32, np.int64], ids=str)
@pytest.mark.parametrize("where", [nl.sbuf, nl.hbm])
def test_scalars_are_computed_and_stored(dtype, where):
    x = np.array([[41]], dtype)
    got = stored(
        lambda d, t: nisa.scalar_store(d, nisa.scalar_load(t) * 4 + 1), dtype, x, where=where
    )
    assert got == 165
    assert got.dtype == dtype


def test_while_loop_counts_down():
    """The public example: add a value as often as a register says."""

    def kernel(count, value):
        acc, x = nl.zeros((1, 1), nl.float32), nl.load(value)
        register = nisa.register_alloc()
        nisa.register_load(register, count)

        def body(condition):
            nisa.tensor_tensor(acc, acc, x, nl.add)
            return condition - 1

        nl.while_loop(register, body)
        out = nl.ndarray((1, 1), nl.float32, nl.shared_hbm)
        nl.store(out, acc)
        return out

    run = nki.simulate(kernel)
    for count in (0, 1, 7, 100):
        got = run(np.array([[count]], np.int32), np.array([[1.5]], np.float32))
        same_bits(got, np.array([[1.5 * count]], np.float32))


def test_while_loop_ends_on_data():
    """Newton's method until the step is zero; the condition comes from memory."""

    def kernel(x):
        value, flag = nl.load(x), nl.ones((1, 1), nl.int32)
        steps = nl.zeros((1, 1), nl.int32)
        register = nisa.register_alloc(1)

        def body(_):
            nisa.tensor_scalar(value, value, nl.multiply, 0.5)
            nisa.tensor_scalar(steps, steps, nl.add, 1)
            nisa.tensor_scalar(flag, value, nl.greater, 1.0)
            after = nisa.register_alloc()
            nisa.register_load(after, flag)
            return after

        nl.while_loop(register, body)
        out = nl.ndarray((1, 1), nl.int32, nl.shared_hbm)
        nl.store(out, steps)
        return out

    for x in (0.1, 3.0, 1000.0):
        want = max(1, int(np.ceil(np.log2(x)))) if x > 1 else 1
        assert nki.simulate(kernel)(np.array([[x]], np.float32))[0, 0] == want


def test_nested_loops():
    def kernel(n):
        acc = nl.zeros((1, 1), nl.int32)
        outer = nisa.register_alloc()
        nisa.register_load(outer, n)

        def body(condition):
            for _ in nl.dynamic_range(3):
                nisa.tensor_scalar(acc, acc, nl.add, 1)
            return condition - 1

        nl.while_loop(outer, body)
        out = nl.ndarray((1, 1), nl.int32, nl.shared_hbm)
        nl.store(out, acc)
        return out

    assert nki.simulate(kernel)(np.array([[5]], np.int32))[0, 0] == 15


def test_refusals():
    x = np.zeros((4, 8), np.int32)
    register = lambda: nisa.register_alloc(1)  # noqa: E731
    assert "register_store.shape: [4, 8], expected one element" in refused(
        lambda d, t: nisa.register_store(t, register()), x, out=(4, 8)
    )
    assert "expected up to 32 bits" in refused(
        lambda d: nisa.register_store(nl.ndarray((1, 1), nl.int64), register()), out=(4, 8)
    )
    assert "expected a run-time scalar" in refused(
        lambda d, t: nisa.scalar_store(t[:1, :1], 3), x, out=(4, 8)
    )
    assert "scalar_store.dtype: float32" in refused(
        lambda d: nisa.scalar_store(d[:1, :1], register()), out=(4, 8)
    )
    assert "scalar_load.dtype: int16" in refused(
        lambda d: nisa.scalar_load(nl.ndarray((1, 1), nl.int16)), out=(4, 8)
    )
    assert "while_loop.body: returns NoneType" in refused(
        lambda d: nl.while_loop(register(), lambda r: None), out=(4, 8)
    )


@pytest.mark.parametrize("value", [2**40 + 5, -(2**40), 2**62, -(2**63), 2**63 - 1, 0])
@pytest.mark.parametrize("where", [nl.sbuf, nl.hbm])
def test_64_bit_scalars_keep_their_value(value, where):
    x = np.array([[value]], np.int64)
    assert (
        stored(lambda d, t: nisa.scalar_store(d, nisa.scalar_load(t)), np.int64, x, where=where)
        == value
    )


@pytest.mark.parametrize(("least", "most"), [(-7, 7), (-7, None), (None, 7), (None, None)])
@pytest.mark.parametrize("value", [2**40, -(2**40), 3])
def test_scalars_are_brought_into_their_bounds(least, most, value):
    got = stored(
        lambda d, t: nisa.scalar_store(d, nisa.scalar_load(t, least=least, most=most)),
        np.int64,
        np.array([[value]], np.int64),
    )
    want = value if least is None else max(value, least)
    assert got == (want if most is None else min(want, most))


@pytest.mark.parametrize(
    "compare",
    [
        lambda s: s < 3,
        lambda s: s <= 3,
        lambda s: s > 3,
        lambda s: s >= 3,
        lambda s: s == 3,
        lambda s: s != 3,
        lambda s: s < s,
    ],
)
def test_comparing_a_run_time_number_is_refused(compare):
    def body(dst, x):
        if compare(nisa.scalar_load(x)):
            nisa.memset(dst, 1)

    with pytest.raises(nki.NkiValidationError, match=r"scalar\.compare"):
        stored(body, np.int32, np.array([[1]], np.int32))
