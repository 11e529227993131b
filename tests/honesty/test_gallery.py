"""Dense ops run on the device, as the instructions that the arithmetic asks for."""

import pytest
from honesty import disassembly, gallery_process
from honesty.not_yet import expect


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
    """By disassembling what was compiled, not by watching what ran."""
    _ran(record)
    kernels = [k for p in record["programs"] for k in disassembly.gpsimd_kernels(p)]
    expect("test_holds_no_gpsimd_kernel", entry.name, dtype, f"holds {kernels}" if kernels else "")


# What the chip's GpSimd engine offers as an instruction of its own, where dense ops may use it.
GPSIMD_INSTRUCTIONS = {"iota"}


def test_gpsimd_executes_named_instructions_only(entry, dtype, record):
    _ran(record)
    used = set().union(*(disassembly.on_engine(p, "gpsimd") for p in record["programs"]))
    others = used - GPSIMD_INSTRUCTIONS
    problem = f"GpSimd executes {sorted(others)}" if others else ""
    expect("test_gpsimd_executes_named_instructions_only", entry.name, dtype, problem)


@pytest.mark.usefixtures("device")
def test_the_disassembly_sees_a_gpsimd_kernel(tmp_path):
    """Otherwise the test above could not fail."""
    records = gallery_process.run("float32", ("sort",), TORCH_NEURONX_NEFF_CACHE_DIR=str(tmp_path))
    programs = records["sort"]["programs"]
    assert any("sort" in k for p in programs for k in disassembly.gpsimd_kernels(p)), programs
    assert any("gpsimd_kernel" in disassembly.on_engine(p, "gpsimd") for p in programs)
    assert any("dma_copy" in disassembly.on_engine(p, "dma") for p in programs)


def test_programs_were_compiled(records):
    """As many as entries, but for the few that share one."""
    assert sum(len(r.get("programs", [])) for r in records.values()) > 0.9 * len(records)


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
