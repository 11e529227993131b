"""sendrecv and core_barrier: two physical cores of one logical core."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, INTEGERS, random_array, same_bits

import nki

DTYPES = [np.dtype(np.float32), BF16, *INTEGERS]


def on_two(kernel):
    return nki.simulate(nki.jit(kernel)[2])


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (128, 300), (33, 7)])
def test_cores_exchange_tiles(shape, dtype, rng):
    def kernel(x):
        rank = nl.program_id()
        mine, theirs = nl.load(x[rank]), nl.ndarray(shape, dtype)
        nisa.sendrecv(mine, theirs, 1 - rank, 1 - rank, pipe_id=0)
        out = nl.ndarray((2, *shape), dtype, nl.shared_hbm)
        nl.store(out[rank], theirs)
        return out

    x = random_array(rng, (2, *shape), dtype)
    same_bits(on_two(kernel)(x), x[::-1].copy())


def test_exchange_in_place_and_again(rng):
    def kernel(x):
        rank = nl.program_id()
        tile = nl.load(x[rank])
        for pipe in range(3):
            nisa.sendrecv(tile, tile, 1 - rank, 1 - rank, pipe)
            nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        out = nl.ndarray((2, 16, 8), nl.float32, nl.shared_hbm)
        nl.store(out[rank], tile)
        return out

    x = rng.integers(0, 99, (2, 16, 8)).astype(np.float32)
    same_bits(on_two(kernel)(x), x[::-1] + 3)


def test_exchange_in_a_hardware_loop(rng):
    def kernel(x):
        rank = nl.program_id()
        mine, theirs = nl.load(x[rank]), nl.ndarray((16, 8), nl.float32)
        for _ in nl.dynamic_range(5):
            nisa.sendrecv(mine, theirs, 1 - rank, 1 - rank, 0)
            nisa.tensor_tensor(mine, mine, theirs, nl.add)
        out = nl.ndarray((2, 16, 8), nl.float32, nl.shared_hbm)
        nl.store(out[rank], mine)
        return out

    x = rng.integers(0, 9, (2, 16, 8)).astype(np.float32)
    same_bits(on_two(kernel)(x), np.broadcast_to(16 * x.sum(axis=0), x.shape).copy())


@pytest.mark.parametrize("engine", ["gpsimd", "sync", "vector", "scalar", "tensor"])
def test_barrier_orders_shared_memory(engine, rng):
    """Each core writes half of a tensor in shared HBM; both read the other's half after it."""

    def kernel(x):
        rank = nl.program_id()
        shared = nl.ndarray((2, 32, 8), nl.float32, nl.shared_hbm)
        tile = nl.load(x[rank])
        nisa.tensor_scalar(tile, tile, nl.multiply, 2.0)
        nl.store(shared[rank], tile)
        nisa.core_barrier(shared, (0, 1), nisa.engine[engine])
        out = nl.ndarray((2, 32, 8), nl.float32, nl.shared_hbm)
        nl.store(out[rank], nl.load(shared[1 - rank]))
        return out

    x = rng.standard_normal((2, 32, 8)).astype(np.float32)
    same_bits(on_two(kernel)(x), 2 * x[::-1])


def test_private_memory_stays_private(rng):
    def kernel(x):
        rank = nl.program_id()
        private = nl.ndarray((16, 8), nl.float32, nl.private_hbm)
        nl.store(private, nl.load(x[rank]))
        out = nl.ndarray((2, 16, 8), nl.float32, nl.shared_hbm)
        nisa.core_barrier(out, (0, 1))
        nl.store(out[rank], nl.load(private))
        return out

    x = rng.standard_normal((2, 16, 8)).astype(np.float32)
    same_bits(on_two(kernel)(x), x)


def deadlock(kernel):
    def wrapped():
        out = nl.ndarray((1, 8), nl.float32, nl.shared_hbm)
        kernel(nl.program_id(), nl.zeros((1, 8), nl.float32), out)
        nl.store(out, nl.zeros((1, 8), nl.float32))
        return out

    with pytest.raises(nki.NkiExecutionError) as error:
        on_two(wrapped)()
    return str(error.value)


def test_deadlocks_are_named():
    def alone(rank, tile, out):
        if rank == 0:
            nisa.core_barrier(out, (0, 1))

    assert "core 0 waits in core_barrier (instruction" in deadlock(alone)
    assert "core 1 has ended" in deadlock(alone)

    def different(rank, tile, out):
        if rank == 0:
            nisa.core_barrier(out, (0, 1))
        else:
            nisa.sendrecv(tile, tile, 0, 0, 0)

    assert "they wait for different things" in deadlock(different)
    assert "their pipes are 0 and 1" in deadlock(
        lambda rank, tile, out: nisa.sendrecv(tile, tile, 1 - rank, 1 - rank, rank)
    )
    assert "receives from core 1, which sends to core 1" in deadlock(
        lambda rank, tile, out: nisa.sendrecv(tile, tile, 1, 1 - rank, 0)
    )

    def shapes(rank, tile, out):
        part = tile if rank else tile[:, :4]
        nisa.sendrecv(part, part, 1 - rank, 1 - rank, 0)

    assert "core 1 sends [1, 8] f32, core 0 expects [1, 4] f32" in deadlock(shapes)


def refusal(body, lnc=2):
    def kernel():
        body(nl.zeros((4, 8), nl.float32), nl.ndarray((4, 8), nl.float32, nl.shared_hbm))

    with pytest.raises(nki.NkiValidationError) as error:
        nki.simulate(nki.jit(kernel)[lnc])()
    return str(error.value)


def test_refusals():
    exchange = lambda t, h: nisa.sendrecv(t, t, 1, 1, 0)  # noqa: E731
    assert "sendrecv.lnc: needs a logical core of two" in refusal(exchange, 1)
    assert "core_barrier.lnc" in refusal(lambda t, h: nisa.core_barrier(h, (0, 1)), 1)
    assert "a rank is 2, allowed are 0 to 1" in refusal(lambda t, h: nisa.sendrecv(t, t, 2, 1, 0))
    assert "sendrecv.dtype" in refusal(
        lambda t, h: nisa.sendrecv(t, nl.ndarray((4, 8), nl.int32), 1, 1, 0)
    )
    assert "sendrecv.shape" in refusal(lambda t, h: nisa.sendrecv(t, t[:, :4], 1, 1, 0))
    wide = lambda t, h: nisa.sendrecv(  # noqa: E731
        *[nl.ndarray((4, 257), nl.uint8)] * 2, 1, 1, 0, nisa.dma_engine.gpsimd_dma
    )
    assert "is 257, allowed are 1 to 256" in refusal(wide)
    assert "only (0, 1) is legal" in refusal(lambda t, h: nisa.core_barrier(h, (0, 2)))
    assert "core_barrier.data" in refusal(lambda t, h: nisa.core_barrier(t, (0, 1)))


def test_cores_wait_for_each_other_in_modelled_time():
    """The idle core's exchange begins when the busy one comes to it, and its rest after that."""

    def kernel(busy):
        def body():
            rank = nl.program_id()
            tile = nl.zeros((128, 2048), nl.float32)
            if rank == 0:
                for _ in range(busy):
                    nisa.tensor_scalar(tile, tile, nl.add, 1.0)
            nisa.sendrecv(tile, tile, 1 - rank, 1 - rank, 0)
            if rank == 1:
                for _ in range(20):
                    nisa.tensor_scalar(tile, tile, nl.add, 1.0)
            out = nl.ndarray((2, 128, 2048), nl.float32, nl.shared_hbm)
            nl.store(out[rank], tile)
            return out

        return body

    times = []
    for busy in (0, 40):
        run = on_two(kernel(busy))
        run()
        times.append(run.report.time_us)
    events = run.report.timeline()
    adds = [e for e in events if e.core == 0 and e.mnemonic == "tensor_scalar"]
    busy_us = (adds[-1].end_ps - adds[0].start_ps) / 1e6
    assert times[1] - times[0] == pytest.approx(busy_us, rel=0.1)
    meetings = {e.core: e.start_ps for e in events if e.mnemonic == "sendrecv"}
    assert meetings[0] == pytest.approx(meetings[1], rel=0.01)
    assert meetings[0] >= adds[-1].end_ps
