"""The demo itself where only the public NRT functions exist and the compiler is a program."""

import json
import os
import subprocess
import sys
from pathlib import Path

import neuron_testing
import pytest
from torch_neuronx import _C

pytestmark = pytest.mark.usefixtures("device")
ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(_C.__file__).parent  # also where an editable install has its libraries
FORWARDING = Path(neuron_testing.__file__).parent / "libforwarding_nrt.so"
STEPS = 7


def _train(directory: Path, **environment: str) -> dict:
    path = [str(ROOT), str(ROOT / "tests"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-m", "honesty.run_demo", str(STEPS)],
        env=os.environ
        | {"PYTHONPATH": os.pathsep.join(path), "TORCH_NEURONX_NEFF_CACHE_DIR": str(directory)}
        | {"TORCHNEURON_STRICT": "1", "OMP_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


def test_losses_are_those_of_the_usual_run(tmp_path):
    # A compiler command takes HLO of static sizes: programs for all lengths are no part of this.
    usual = _train(tmp_path / "usual", TORCHNEURON_RUN_TIME_EXTENTS="0")
    calls = tmp_path / "calls"
    plain = _train(
        tmp_path / "plain",
        TORCHNEURON_NRT_LIBRARY=str(FORWARDING),
        FORWARDING_NRT_TO=str(PACKAGE / "lib" / "libnrt_emulator.so.1"),
        FORWARDING_NRT_LOG=str(calls),
        TORCHNEURON_COMPILER=str(PACKAGE / "bin" / "neuron-compile"),
    )
    assert plain == usual
    assert usual["fallbacks"] == []
    assert all(len(losses) == STEPS for name, losses in usual.items() if name != "fallbacks")
    counts = dict(line.split() for line in calls.read_text().splitlines())
    assert int(counts["nrt_execute"]) > 3 * STEPS
    assert int(counts["nrt_load"]) > 20
    assert not [name for name in counts if name.startswith("nrt_emulator")]
    # Each program is there twice: compiled in the process, and by the command.
    usual_programs, plain_programs = (
        len(list((tmp_path / run).rglob("*.neff"))) for run in ("usual", "plain")
    )
    assert plain_programs == usual_programs
