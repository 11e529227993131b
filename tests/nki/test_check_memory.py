"""TORCHNEURON_CHECK_MEMORY: what a run must not do is named; what is in order still runs."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest

import nki


@pytest.fixture(autouse=True)
def checked(monkeypatch):
    monkeypatch.setenv("TORCHNEURON_CHECK_MEMORY", "1")


X = np.ones((8, 16), np.float32)


def run(body, *arrays, shape=(8, 16), lnc=1):
    """body(out in HBM, *arrays in HBM)."""

    def kernel(arrays):
        out = nl.ndarray(shape, nl.float32, nl.shared_hbm)
        body(out, *arrays)
        return out

    return nki.simulate(nki.jit(kernel)[lnc])(list(arrays))


def failure(body, *arrays, **options):
    with pytest.raises(nki.NkiExecutionError) as error:
        run(body, *arrays, **options)
    return str(error.value)


def test_a_proper_kernel_runs(monkeypatch):
    def body(out, x):
        tile, psum = nl.load(x), nl.ndarray((16, 16), nl.float32, nl.psum)
        for _ in range(2):
            nisa.nc_matmul(psum, tile, tile)
        copy = nl.ndarray((16, 16), nl.float32)
        nisa.tensor_copy(copy, psum)
        nisa.tensor_scalar(copy, copy, nl.add, 1.0)
        scratch = nl.ndarray((16, 16), nl.float32, nl.private_hbm)
        nl.store(scratch, copy)
        nl.store(out, nl.load(scratch))

    got = run(body, X, shape=(16, 16))
    monkeypatch.delenv("TORCHNEURON_CHECK_MEMORY")
    np.testing.assert_array_equal(got, run(body, X, shape=(16, 16)))


def test_sbuf_that_nothing_wrote():
    def body(out, x):
        tile = nl.ndarray((8, 16), nl.float32)
        nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        nl.store(out, tile)

    message = failure(body, X)
    assert "uninitialised.read: tensor_scalar (instruction" in message
    assert "test_check_memory.py:" in message
    assert "data takes byte" in message
    assert "of partition 0 of sbuf, which no instruction of this program has written" in message


def test_a_part_that_nothing_wrote():
    def body(out, x):
        tile = nl.ndarray((8, 16), nl.float32)
        nisa.dma_copy(tile[:, :7], x[:, :7])
        nisa.dma_copy(tile[:, 8:], x[:, 8:])
        nl.store(out, tile)

    message = failure(body, X)
    assert "dma_copy" in message
    assert "src takes byte 28 of partition 0" in message
    # Strided reads that leave the hole out are in order.
    run(lambda out, x: nl.store(out[:, ::2], nl.load(x)[:, ::2]), X)


def test_what_an_earlier_run_left_is_not_written():
    def leave(out, x):
        nl.store(out, nl.load(x))

    def take(out, x):
        nl.store(out, nl.ndarray((8, 16), nl.float32))

    run(leave, X)
    assert "uninitialised.read" in failure(take, X)


def test_psum_and_scratch_that_nothing_wrote():
    def psum(out, x):
        tile = nl.ndarray((8, 16), nl.float32)
        nisa.tensor_copy(tile, nl.ndarray((8, 16), nl.float32, nl.psum))
        nl.store(out, tile)

    assert "of partition 0 of psum" in failure(psum, X)

    def scratch(out, x):
        nl.store(out, nl.load(nl.ndarray((8, 16), nl.float32, nl.private_hbm)))

    assert "takes byte 0 of private_hbm_tensor" in failure(scratch, X)

    def output(out, x):
        nl.store(out, nl.load(out))

    assert "takes byte 0 of shared_hbm_tensor" in failure(output, X)


def test_registers_read_memory_too():
    def body(out, x):
        register = nisa.register_alloc()
        nisa.register_load(register, nl.ndarray((1, 1), nl.int32))
        nl.store(out, nl.load(x))

    assert "uninitialised.read: register_load" in failure(body, X)


def test_accumulating_onto_what_no_matmul_wrote():
    def body(out, x):
        tile, psum = nl.load(x), nl.ndarray((16, 16), nl.float32, nl.psum)
        nisa.memset(psum, 0.0)
        nisa.nc_matmul(psum, tile, tile, accumulate=True)
        copy = nl.ndarray((16, 16), nl.float32)
        nisa.tensor_copy(copy, psum)
        nl.store(out, copy)

    message = failure(body, X, shape=(16, 16))
    assert "psum.accumulate: nc_matmul" in message
    assert "which no matmul of this program has written" in message


def test_cores_that_race():
    def body(out, x):
        rank = nl.program_id()
        tile = nl.load(x)
        if rank == 0:
            nl.store(out, tile)
        else:
            nl.store(out[3:4], tile[3:4])

    message = failure(body, X, lnc=2)
    assert "cores.race: dma_copy (instruction" in message
    assert "of core 0 writes what dma_copy (instruction" in message
    assert "of core 1 writes; no core_barrier or sendrecv lies between" in message


def test_cores_that_read_what_the_other_writes():
    def kernel(barrier):
        def body(out, x):
            rank = nl.program_id()
            shared = nl.ndarray((2, 8, 16), nl.float32, nl.shared_hbm)
            nl.store(shared[rank], nl.load(x))
            if barrier:
                nisa.core_barrier(shared, (0, 1))
            nl.store(out[4 * rank : 4 * rank + 4], nl.load(shared[1 - rank, :4]))

        return body

    assert "cores.race" in failure(kernel(False), X, lnc=2)
    np.testing.assert_array_equal(run(kernel(True), X, lnc=2), X)


def test_interleaved_columns_are_no_race():
    def body(out, x):
        rank = nl.program_id()
        nl.store(out[:, rank::2], nl.load(x)[:, rank::2])

    np.testing.assert_array_equal(run(body, X, lnc=2), X)


def test_predicated_copies_and_scatters_are_in_order():
    def body(out, x, rows):
        tile = nl.load(x)
        predicate = nl.ones(tile.shape, nl.uint8)
        nisa.tensor_copy_predicated(tile, 2.0, predicate)
        scratch = nl.ndarray((8, 16), nl.float32, nl.private_hbm)
        index = nl.load(rows)
        nisa.dma_copy(scratch.vector_select(0, index), tile)
        nl.store(out, nl.load(scratch))

    got = run(body, X, np.arange(8, dtype=np.int32)[::-1].reshape(8, 1).copy())
    np.testing.assert_array_equal(got, 2 * X)
