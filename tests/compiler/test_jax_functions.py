"""What JAX lowers goes through neuron-compile and NRT, and gives what XLA gives."""

import subprocess
from pathlib import Path

import jax
import ml_dtypes
import neuron_testing
import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program, row_major
from jax_functions import CASES

COMPILE = Path(neuron_testing.__file__).parent / "torch_neuronx" / "bin" / "neuron-compile"


def compiled(proto: bytes, directory: Path, target: str) -> bytes:
    module, out = directory / "module.hlo.pb", directory / "module.neff"
    module.write_bytes(proto)
    words = [COMPILE, "compile", "--framework", "XLA", "--target", target, "--lnc", "1"]
    result = subprocess.run(
        [*words, module, "--output", out], capture_output=True, text=True, check=False
    )
    if result.returncode != 0:
        pytest.fail(result.stderr, pytrace=False)
    return out.read_bytes()


def _eps(array: np.ndarray) -> float:
    """The rounding step of a floating dtype; 0 for others."""
    if array.dtype.kind == "c":
        return float(np.finfo(array.dtype).eps)
    try:
        return float(ml_dtypes.finfo(array.dtype).eps)
    except ValueError:
        return 0.0


def assert_close(got: np.ndarray, want: np.ndarray, eps: float):
    """Equal bits for what is no float. Floats: XLA reassociates sums and contracts products, so
    within some rounding steps of the element, or of the largest one where terms cancel."""
    assert (got.shape, got.dtype) == (want.shape, want.dtype)
    if _eps(want) == 0:
        np.testing.assert_array_equal(got, want)
        return
    wide = np.complex128 if want.dtype.kind == "c" else np.float64
    got, want = got.astype(wide), want.astype(wide)
    finite = np.abs(want[np.isfinite(want)])
    largest = float(finite.max()) if finite.size else 0.0
    np.testing.assert_allclose(got, want, rtol=32 * eps, atol=8 * eps * max(largest, 1e-30))


@pytest.mark.parametrize(
    ("function", "arguments"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_neuron_compile_computes_what_xla_does(function, arguments, tmp_path):
    leaves = [np.asarray(a) for a in jax.tree.leaves(arguments)]
    proto = row_major(xla_oracle.proto_of(function, *arguments))
    want = [np.asarray(w) for w in xla_oracle.run(proto, leaves)]
    container = compiled(proto, tmp_path, "trn2")
    # Another process, the same bytes.
    assert container == Program(proto).compiled.container
    got = Program.of_container(container, proto)(*leaves)
    # A double made of floats is as exact as they are; so is what a function rounds on its way.
    narrow = [e for e in map(_eps, [*leaves, *want]) if e > 0] + [
        float(ml_dtypes.finfo(t).eps) for t in ("bfloat16", "float16") if _mentions(proto, t)
    ]
    for g, w in zip(got, want, strict=True):
        assert_close(g, w, max(narrow, default=0.0))


@pytest.mark.parametrize(
    ("function", "arguments"), [c[1:] for c in CASES[::4]], ids=[c[0] for c in CASES[::4]]
)
def test_trn3_has_programs_of_its_own(function, arguments, tmp_path):
    """Compiled, every pass verified, and the same bytes in both processes: this one is a trn2."""
    proto = row_major(xla_oracle.proto_of(function, *arguments))
    container = compiled(proto, tmp_path, "trn3")
    assert container == Program(proto, target="trn3").compiled.container
    assert container != Program(proto).compiled.container


def _mentions(proto: bytes, dtype: str) -> bool:
    short = {"bfloat16": "bf16[", "float16": "f16["}[dtype]
    return any(f" {short}" in line for line in xla_oracle.hlo_text(proto).splitlines())
