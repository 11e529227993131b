"""Dense ops run on the device, as the instructions that the arithmetic asks for."""

import pytest
from honesty.not_yet import expect

# Of the GpSimd engine, but instructions of the public ISA and not kernels of ours.
PUBLIC_GPSIMD = {"iota", "affine_select"}


def _ran(record):
    if record["error"]:
        pytest.skip(f"test_is_native says why: {record['error']}")
    return record["counters"]


def test_is_native_and_right(entry, dtype, record):
    """Strict mode: a CPU fallback raises."""
    problem = record["error"] or record["wrong"]
    if not problem and record["fallbacks"]:
        problem = f"CPU fallbacks {record['fallbacks']}"
    expect("test_is_native_and_right", entry.name, dtype, problem)


def test_holds_no_gpsimd_kernel(entry, dtype, record):
    executed = _ran(record)["instructions"]
    kernels = {m for m in executed if m.startswith("gpsimd_")} - PUBLIC_GPSIMD
    expect("test_holds_no_gpsimd_kernel", entry.name, dtype, f"runs {kernels}" if kernels else "")


def test_multiplies_are_the_arithmetic(entry, dtype, record):
    products = _ran(record)["tensor_multiplies"]
    if entry.multiplies is None:
        pytest.skip("no contraction")
    low, high = entry.multiplies
    problem = "" if low <= products <= high else f"{products} products, expected {low} to {high}"
    expect("test_multiplies_are_the_arithmetic", entry.name, dtype, problem)


def test_dma_moves_inputs_and_outputs(entry, dtype, record):
    counters = _ran(record)
    problem = ""
    if counters["dma_bytes_read"] < record["bytes_in"] and entry.name not in SKIPS_INPUT:
        problem = f"reads {counters['dma_bytes_read']} of {record['bytes_in']} bytes"
    elif counters["dma_bytes_written"] < record["bytes_out"]:
        problem = f"writes {counters['dma_bytes_written']} of {record['bytes_out']} bytes"
    expect("test_dma_moves_inputs_and_outputs", entry.name, dtype, problem)


# Results that need only part of the input.
SKIPS_INPUT = {"strided_slice"}
