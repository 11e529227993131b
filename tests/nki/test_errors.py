"""What a kernel may not do, in the words that help, with file and line."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest

import nki

X = np.zeros((128, 512), np.float32)


def refused(kernel, *arguments):
    with pytest.raises(nki.NkiValidationError) as caught:
        nki.simulate(kernel)(*(arguments or (X,)))
    return caught.value


def test_message_rule_file_and_line():
    def kernel(x):
        tile = nl.load(x)
        wrong = nl.ndarray((128, 256), nl.float32)
        nisa.tensor_copy(wrong, tile)  # the line that is named

    error = refused(kernel)
    assert error.rule == "tensor_copy.shape"
    assert error.filename == __file__
    assert error.lineno == kernel.__code__.co_firstlineno + 3
    assert "512 elements per partition" in str(error)
    assert str(error).endswith(f"({error.filename}:{error.lineno})")


def test_matmul_limits():
    def kernel(x):
        stationary = nl.ndarray((128, 192), nl.float32)
        psum = nl.ndarray((128, 512), nl.float32, nl.psum)
        nisa.nc_matmul(psum, stationary, nl.load(x))

    assert "M is 192, allowed are 1 to 128" in str(refused(kernel))


def test_hbm_operand_of_an_engine():
    def kernel(x):
        nisa.tensor_copy(nl.ndarray(x.shape, x.dtype), x)

    assert "tensor_copy: src is in hbm" in str(refused(kernel))


def test_a_tile_has_no_truth_value():
    def kernel(x):
        if nl.load(x) > 0:
            pass

    with pytest.raises(TypeError, match="not known while a kernel is traced"):
        nki.simulate(kernel)(X)


def test_store_of_another_shape():
    def kernel(x):
        out = nl.ndarray((512, 128), x.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.load(x))
        return out

    assert "[128, 512] goes to [512, 128]" in str(refused(kernel))


def test_returning_what_cannot_be_returned():
    assert "is on chip" in str(refused(lambda x: nl.load(x)))
    assert "buffer=nl.shared_hbm" in str(
        refused(lambda x: nl.ndarray(x.shape, x.dtype, nl.private_hbm))
    )
    assert "is a part of" in str(refused(lambda x: x[:2]))
    assert "int is no tensor" in str(refused(lambda x: 3))


def test_sbuf_capacity_names_what_is_live():
    def kernel(x):
        first = nl.ndarray((128, 40_000), nl.float32, name="first")
        second = nl.ndarray((128, 20_000), nl.float32, name="second")
        return first, second

    with pytest.raises(nki.NkiCapacityError) as caught:
        nki.simulate(kernel)(X)
    message = str(caught.value)
    assert "second needs 80000 bytes per partition, sbuf has 229376 of which 160000" in message
    assert "first 160000" in message


def test_psum_capacity_and_banks():
    def kernel(x):
        return [nl.ndarray((128, 512), nl.float32, nl.psum) for _ in range(9)]

    assert "psum.capacity" in str(refused(kernel))

    def crossing(x):
        small = nl.ndarray((128, 300), nl.float32, nl.psum)
        second = nl.ndarray((128, 300), nl.float32, nl.psum)
        nisa.memset(second, 0.0)
        return small

    text = nki.jit(crossing)
    assert "is on chip" in str(refused(text))  # but no bank was crossed


def test_tensors_are_freed_when_their_last_reference_goes():
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for _ in range(64):
            tile = nl.ndarray((128, 20_000), nl.float32)
            nisa.memset(tile, 1.0)
        nl.store(out, tile[:, :512])
        return out

    run = nki.simulate(kernel)
    np.testing.assert_array_equal(run(X), 1)
    assert run.report.sbuf_bytes == 2 * 80_000


def test_outside_a_kernel():
    with pytest.raises(nki.NkiError, match="belongs in a kernel"):
        nl.ndarray((1, 1), nl.float32)


def test_branching_on_a_run_time_number():
    def kernel(x):
        for i in nl.dynamic_range(4):
            if i:
                pass

    assert "cannot branch" in str(refused(kernel))


def test_index_out_of_range_fails_the_run_and_not_the_next_one():
    table = np.arange(20, dtype=np.float32).reshape(5, 4)

    def gather(table, rows):
        tile = nl.ndarray((2, 4), table.dtype)
        nisa.dma_copy(tile, table.vector_select(0, nl.load(rows)))
        out = nl.ndarray((2, 4), table.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    run = nki.simulate(gather)
    with pytest.raises(nki.NkiExecutionError, match="OOB"):
        run(table, np.array([[1], [5]], np.int32))
    rows = np.array([[1], [4]], np.int32)
    np.testing.assert_array_equal(run(table, rows), table[rows[:, 0]])


def test_accumulate_must_be_said_in_a_hardware_loop():
    def kernel(x):
        psum = nl.ndarray((128, 512), nl.float32, nl.psum)
        for _ in nl.dynamic_range(4):
            tile = nl.load(x)
            nisa.nc_matmul(psum, tile[:, :128], tile)

    assert "nc_matmul.accumulate" in str(refused(kernel))
