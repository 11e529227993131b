"""Addresses of tensors: first fit, banks, pinned tensors, lifetimes in hardware loops."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki._memory import PartitionMemory

import nki


def test_first_gap_that_fits_is_taken():
    memory = PartitionMemory("sbuf", 1000, align=64)
    a, b, c = (memory.allocate(100, name) for name in "abc")
    assert (a, b, c) == (0, 128, 256)
    memory.free(b, 100, 0)
    assert memory.allocate(200, "large") == 384
    assert memory.allocate(60, "small") == 128
    assert memory.peak == 584


def test_a_tensor_that_fits_in_a_bank_does_not_cross_one():
    memory = PartitionMemory("psum", 16384, align=64, bank_bytes=2048)
    assert memory.allocate(1200, "a") == 0
    assert memory.allocate(1200, "b") == 2048
    assert memory.allocate(800, "c") == 1216
    assert memory.allocate(4096, "two banks") == 4096


def test_pinned_tensors_are_avoided_and_may_overlap():
    memory = PartitionMemory("sbuf", 1000, align=64)
    memory.reserve(100, 100, "pinned")
    memory.reserve(150, 100, "over it")
    assert memory.allocate(150, "a") == 256
    memory.free(100, 100, 0)
    memory.free(150, 100, 0)
    assert memory.allocate(150, "b") == 0
    with pytest.raises(nki.NkiValidationError, match="pinned to bytes 950 to 1050"):
        memory.reserve(950, 100, "beyond")


def test_what_was_allocated_before_a_loop_lives_through_it():
    memory = PartitionMemory("sbuf", 1000, align=64)
    before = memory.allocate(100, "before")
    memory.enter_loop()
    inside = memory.allocate(100, "inside")
    memory.free(before, 100, 0)
    memory.free(inside, 100, 1)
    assert memory.allocate(100, "again") == inside  # not where `before` was
    memory.leave_loop()
    assert memory.allocate(100, "after") == before


def test_tensor_dropped_in_a_hardware_loop_keeps_its_value():
    def kernel(x):
        held = [nl.load(x)]
        out = nl.ndarray((4, *x.shape), x.dtype, buffer=nl.shared_hbm)
        for i in nl.dynamic_range(4):
            tile = held.pop()  # the last reference, although each pass reads it
            copy = nl.add(tile, 0.0)
            del tile
            nl.store(out[i], copy)
            other = nl.full(x.shape, 9, x.dtype)
            nisa.tensor_scalar(other, other, nl.add, 1.0)
        return out

    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_array_equal(nki.simulate(kernel)(x), np.broadcast_to(x, (4, 4, 8)))


def test_address_pins_partition_and_byte():
    def kernel(x):
        low = nl.ndarray((32, 8), nl.float32, address=(64, 4096))
        nisa.dma_copy(low, x)
        whole = nl.ndarray((128, 8), nl.float32, address=(0, 4096))  # the same memory
        out = nl.ndarray((32, 8), nl.float32, buffer=nl.shared_hbm)
        nl.store(out, whole[64:96])
        return out

    x = np.random.default_rng(0).standard_normal((32, 8)).astype(np.float32)
    run = nki.simulate(kernel)
    np.testing.assert_array_equal(run(x), x)
    assert run.report.sbuf_bytes == 4096 + 32
