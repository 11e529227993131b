"""rng, set_rng_seed, rand_set_state, rand_get_state, rand2, dropout.

The bit streams are ours; here XORWOW is stated once more, from Marsaglia's paper.
"""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, INTEGERS, random_array, refused, same_bits

import nki


def xorwow(state):
    """Advances states [..., 6] in place and gives their next words."""
    x, v = state[..., 0].copy(), state[..., 4].copy()
    t = x ^ (x >> np.uint32(2))
    state[..., :4] = state[..., 1:5]
    state[..., 4] = (v ^ (v << np.uint32(4))) ^ (t ^ (t << np.uint32(1)))
    state[..., 5] += np.uint32(362437)
    return state[..., 4] + state[..., 5]


def words(state, n):
    """n words per lane of states [lanes, generators, 6], generators in turn."""
    with np.errstate(over="ignore"):
        lanes, generators = state.shape[:2]
        out = np.empty((lanes, n), np.uint32)
        for i in range(n):
            out[:, i] = xorwow(state[:, i % generators])
        return out


STATE = np.random.default_rng(1).integers(1, 2**32, (128, 6), np.uint32)


def from_state(body, out, out_dtype):
    """body(dst) with GpSimd's generators at STATE."""

    def kernel(state):
        nisa.rand_set_state(nl.load(state))
        dst = nl.ndarray(out, out_dtype)
        body(dst)
        result = nl.ndarray(out, out_dtype, nl.shared_hbm)
        nl.store(result, dst)
        return result

    return nki.simulate(kernel)(STATE)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (128, 7), (33, 5000)])
def test_rng_gives_the_low_bits_of_the_stream(shape, dtype):
    got = from_state(lambda d: nisa.rng(d, nisa.engine.gpsimd), shape, dtype)
    want = words(STATE[: shape[0], None].copy(), shape[1])
    same_bits(got, want.astype(f"u{dtype.itemsize}").view(dtype))


def test_states_come_back_advanced():
    def body(dst):
        nisa.rng(nl.ndarray((128, 10), nl.uint8), nisa.engine.gpsimd)
        nisa.rand_get_state(dst)

    state = STATE[:, None].copy()
    words(state, 10)
    same_bits(from_state(body, (128, 6), np.uint32), state[:, 0])


def seeded(body, seed, out, out_dtype=np.float32, *arrays):
    def kernel(seed, arrays):
        nisa.set_rng_seed(nl.load(seed))
        dst = nl.ndarray(out, out_dtype)
        body(dst, *[nl.load(a) for a in arrays])
        result = nl.ndarray(out, out_dtype, nl.shared_hbm)
        nl.store(result, dst)
        return result

    return nki.simulate(kernel)(np.array([[seed]], np.uint32), list(arrays))


def test_seeds_decide():
    draw = lambda seed: seeded(nisa.rng, seed, (128, 400), np.uint32)  # noqa: E731
    first = draw(7)
    same_bits(draw(7), first)
    other = draw(8)
    assert (first == other).mean() < 1e-3
    # Lanes and their neighbours differ, bits are balanced.
    assert len(np.unique(first)) > first.size * 0.999
    bits = np.unpackbits(first.view(np.uint8)).reshape(-1, 32).mean(axis=0)
    assert np.all(np.abs(bits - 0.5) < 0.02)


def test_stream_goes_on():
    whole = seeded(nisa.rng, 3, (16, 40), np.uint32)

    def body(dst):
        nisa.rng(dst[:, :24])
        nisa.rng(dst[:, 24:])

    same_bits(seeded(body, 3, (16, 40), np.uint32), whole)


def test_lanes_are_the_partitions_own():
    whole = seeded(nisa.rng, 3, (128, 8), np.uint32)

    def body(dst):
        wide = nl.ndarray((128, 8), nl.uint32)
        nisa.rng(wide[64:96])
        nisa.tensor_copy(dst, wide[64:96])

    same_bits(seeded(body, 3, (32, 8), np.uint32), whole[64:96])


def test_rng_to_psum():
    def body(dst):
        psum = nl.ndarray((64, 8), nl.uint32, nl.psum)
        nisa.rng(psum)
        nisa.tensor_copy(dst, psum)

    same_bits(seeded(body, 5, (64, 8), np.uint32), seeded(nisa.rng, 5, (64, 8), np.uint32))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS], ids=str)
@pytest.mark.parametrize("prob", [0.0, 0.3, 1.0])
def test_dropout_keeps_or_drops(dtype, prob, rng):
    x = random_array(rng, (128, 500), dtype)
    x[x == 0] = 1
    got = seeded(lambda d, t: nisa.dropout(d, t, prob), 11, x.shape, dtype, x)
    dropped = got.view(f"u{dtype.itemsize}") == 0
    same_bits(got[~dropped], x[~dropped])
    if prob in (0, 1):
        assert np.all(dropped == (prob == 1))
    assert abs(dropped.mean() - prob) < 0.01


def test_dropout_follows_the_stream(rng):
    x = rng.standard_normal((32, 90)).astype(np.float32)
    prob = rng.uniform(0, 1, (32, 1)).astype(np.float32)
    got = seeded(nisa.dropout, 5, x.shape, np.float32, x, prob)
    uniform = (seeded(nisa.rng, 5, x.shape, np.uint32) >> 8).astype(np.float32) * 2.0**-24
    same_bits(got, np.where(uniform < prob, np.float32(0), x))


def test_dropout_in_place(rng):
    x = rng.standard_normal((32, 90)).astype(BF16)

    def in_place(dst, x):
        nisa.tensor_copy(dst, x)
        nisa.dropout(dst, dst, 0.5)

    apart = seeded(lambda d, t: nisa.dropout(d, t, 0.5), 1, x.shape, BF16, x)
    same_bits(seeded(in_place, 1, x.shape, BF16, x), apart)


@pytest.mark.trn3
@pytest.mark.parametrize("dtype", [*FLOATS, np.dtype(np.int8), np.dtype(np.uint32)], ids=str)
def test_rand2_is_uniform(dtype):
    got = seeded(lambda d: nisa.rand2(d, -3.0, 5.0), 9, (128, 400), dtype)
    values = got.astype(np.float64)
    if dtype.kind == "u":
        assert values.min() == 0
        assert values.max() <= 5
        return
    assert values.min() >= -3
    assert values.max() <= 5
    assert abs(values.mean() - 1) < 0.05
    assert abs(values.var() - 64 / 12) < 0.2
    if dtype.kind != "i":
        quarters = np.histogram(values, bins=4, range=(-3, 5))[0] / values.size
        assert np.all(np.abs(quarters - 0.25) < 0.01)


@pytest.mark.trn3
def test_rand2_follows_the_stream_with_bounds_per_partition(rng):
    low = rng.uniform(-5, 0, (64, 1)).astype(np.float32)
    high = rng.uniform(1, 5, (64, 1)).astype(np.float32)
    got = seeded(nisa.rand2, 5, (64, 33), np.float32, low, high)
    uniform = (seeded(nisa.rng, 5, (64, 33), np.uint32) >> 8).astype(np.float32) * 2.0**-24
    same_bits(got, low + uniform * (high - low))


@pytest.mark.trn3
def test_vector_states_are_four_generators_a_lane():
    states = np.random.default_rng(2).integers(1, 2**32, (128, 24), np.uint32)

    def kernel(states):
        nisa.rand_set_state(nl.load(states), nisa.engine.vector)
        random, after = nl.ndarray((128, 10), nl.uint32), nl.ndarray((128, 24), nl.uint32)
        nisa.rng(random, nisa.engine.vector)
        nisa.rand_get_state(after, nisa.engine.vector)
        results = [nl.ndarray(t.shape, nl.uint32, nl.shared_hbm) for t in (random, after)]
        for result, tile in zip(results, (random, after), strict=True):
            nl.store(result, tile)
        return tuple(results)

    random, after = nki.simulate(kernel)(states)
    state = states.reshape(128, 4, 6).copy()
    same_bits(random, words(state, 10))
    same_bits(after, state.reshape(128, 24))


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "dst is f32" in refused(nisa.rng, out=(4, 8))
    assert "which gpsimd cannot reach" in refused(
        lambda d: nisa.rng(d, nisa.engine.gpsimd), out=(4, 8), out_dtype=np.int32, psum=(-1,)
    )
    assert "cannot run on engine scalar" in refused(
        lambda d: nisa.rng(d, nisa.engine.scalar), out=(4, 8), out_dtype=np.int32
    )
    assert "src_seeds has 8 elements" in refused(
        lambda d, t: nisa.set_rng_seed(t), x.astype(np.uint32), out=(4, 8)
    )
    assert "the number of partitions is 4" in refused(
        lambda d, t: nisa.set_rng_seed(t[:, :1]), x.astype(np.uint32), out=(4, 8)
    )
    assert "expected 6" in refused(
        lambda d, t: nisa.rand_set_state(t), x.astype(np.uint32), out=(4, 8)
    )
    assert "dropout.dtype" in refused(
        lambda d, t: nisa.dropout(d, t, 0.5), x, out=x.shape, out_dtype=BF16
    )
    assert "1.5 is no probability" in refused(lambda d, t: nisa.dropout(d, t, 1.5), x, out=x.shape)
    assert "for integer data it is f32" in refused(
        lambda d, t, p: nisa.dropout(d, t, p),
        x.astype(np.int32),
        x[:, :1].astype(BF16),
        out=x.shape,
        out_dtype=np.int32,
    )


@pytest.mark.trn3
def test_rand2_refusals():
    assert "min 2 is not below max 1" in refused(lambda d: nisa.rand2(d, 2.0, 1.0), out=(4, 8))
