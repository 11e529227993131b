"""Every pass leaves a text and passes its verifier; the modelled time line shows what overlaps."""

import json
import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import neuron_testing
import numpy as np
import pytest
import xla_oracle
from compiler.harness import compile_function

BIN = Path(neuron_testing.__file__).parent / "torch_neuronx" / "bin"


def attention(q, k, v):
    return jax.nn.softmax(q @ k.T) @ v


def dumps(directory, function, *arguments):
    compile_function(function, *arguments, dump_directory=str(directory))
    return {path.name.split(".", 1)[1]: path.read_text() for path in directory.glob("*.txt")}


def test_every_pass_is_dumped(tmp_path):
    x = np.zeros((256, 64), np.float32)
    written = dumps(tmp_path, attention, x, x, x)
    assert set(written) == {
        f"{pass_}.txt"
        for pass_ in ("0-input", "1-canonical", "2-plan", "3-placed", "4-chains", "5-program")
    }
    assert " chain " not in written["3-placed.txt"]
    assert " chain " in written["4-chains.txt"]


def test_a_module_that_is_expanded_is_dumped_so(tmp_path):
    x, y = np.zeros((8, 8), np.float32), np.zeros((8, 8), ml_dtypes.bfloat16)
    written = dumps(
        tmp_path, lambda x, y: jax.lax.dot(x, y, preferred_element_type=jnp.float32), x, y
    )
    # JAX converts one side; XLA's own text keeps the mixed form.
    assert "0-expanded.txt" not in written
    text = """
HloModule mixed
ENTRY e { a = f32[8,8] parameter(0)
  b = bf16[8,8] parameter(1)
  ROOT c = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""
    neuron_testing.compiler.compile(xla_oracle.proto_of_text(text), dump_directory=str(tmp_path))
    assert "convert(" in (tmp_path / "mixed.0-expanded.txt").read_text()


def trace_of(program, directory):
    file, out = directory / "f.neff", directory / "trace.json"
    file.write_bytes(program.compiled.container)
    subprocess.run([BIN / "neuron-objdump", "--trace", out, file], check=True, capture_output=True)
    return json.loads(out.read_text())["traceEvents"]


def test_a_trace_is_in_the_trace_event_format(tmp_path):
    x = np.zeros((256, 64), np.float32)
    program = compile_function(attention, x, x, x)
    program(x, x, x)
    events = trace_of(program, tmp_path)
    rows = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    spans = [e for e in events if e["ph"] == "X"]
    assert all({"name", "ts", "dur", "pid", "tid"} <= e.keys() for e in spans)
    assert all((e["pid"], e["tid"]) in rows for e in spans)
    assert {"tensor", "vector", "scalar"} <= {rows[e["pid"], e["tid"]].lower() for e in spans}
    end_us = max(e["ts"] + e["dur"] for e in spans)
    # Starting and ending a program takes a microsecond or two beside its instructions.
    assert 0 <= program.compiled.duration_ps - end_us * 1e6 <= 2e6


def overlap(spans, others):
    """Picoseconds that some span and some other share."""
    points = [(e["start_ps"], 0, 1) for e in spans] + [(e["end_ps"], 0, -1) for e in spans]
    points += [(e["start_ps"], 1, 1) for e in others] + [(e["end_ps"], 1, -1) for e in others]
    active, last, shared = [0, 0], 0, 0
    for time, which, step in sorted(points):
        if active[0] and active[1]:
            shared += time - last
        active[which] += step
        last = time
    return shared


@pytest.mark.parametrize(
    ("function", "engines", "share"),
    [
        (lambda x: jnp.tanh(x * 0.3) + 1, ("vector", "scalar"), 0.8),
        (lambda x: x @ x, ("tensor",), 0.5),
    ],
    ids=["chain", "dot"],
)
def test_the_next_tile_is_loaded_while_one_is_computed(function, engines, share, tmp_path):
    x = np.zeros((2048, 2048), np.float32)
    program = compile_function(function, x)
    program(x)
    spans = [e for e in trace_of(program, tmp_path) if e["ph"] == "X"]
    work = [e for e in spans if e["engine"].lower() in engines]
    loads = [e for e in spans if e["engine"].lower() == "dma"]
    whole = [{"start_ps": 0, "end_ps": max(e["end_ps"] for e in spans)}]
    busy = min(overlap(work, whole), overlap(loads, whole))  # of what takes less time
    assert busy > 0
    assert overlap(work, loads) >= share * busy
