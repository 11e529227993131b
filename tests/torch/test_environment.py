"""Every variable of the table with a bad value: a clear sentence at the first use of the device."""

import re
from pathlib import Path

import pytest
from processes import output, outputs

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "environment.md"
# variable -> (bad value, words that the error must have)
BAD = {
    "NEURON_PLATFORM_TARGET_OVERRIDE": ("trn9", r"trn2 \(gen3\), trn3 \(gen4\)"),
    "NEURON_LOGICAL_NC_CONFIG": ("3", "an integer from 1 to 2"),
    "NEURON_RT_VISIBLE_CORES": ("3,1", "contiguous increasing list"),
    "NEURON_RT_NUM_CORES": ("99", "has 8 logical cores"),
    "TORCHNEURON_MACHINE": ("../lab", "letters, digits"),
    "NEURON_LAUNCH_BLOCKING": ("maybe", "0 or 1"),
    "TORCHNEURON_NRT_LIBRARY": ("/nowhere/libnrt.so.1", "cannot open shared object file"),
    "TORCHNEURON_SIMD": ("sse2", "portable, avx2, avx512, avx512_bf16"),
    "TORCH_NEURONX_NEFF_CACHE_DIR": ("/dev/null/cache", "a directory"),
    "TORCH_NEURONX_DISABLE_NEFF_CACHE": ("2", "0 or 1"),
    "TORCHNEURON_CACHE_BYTES": ("4GB", "an integer from 0 on"),
    "TORCHNEURON_COMPILER": ("/nowhere/neuron-compile", "No such file"),
    "TORCHNEURON_DUMP_DIR": ("/dev/null/dump", "a directory"),
    "TORCHNEURON_RUN_TIME_EXTENTS": ("half", "0 or 1"),
    "TORCHNEURON_STRICT": ("yes", "0 or 1"),
    "TORCHNEURON_INSTRUCTION_GROUPS": ("all", "0 or 1"),
    "TORCHNEURON_HOST_PROFILE": ("/dev/null/profile", "a directory"),
    "TORCHNEURON_LAUNCH_DELAY_US": ("-1", "an integer from 0 on"),
    "TORCHNEURON_COPY_DELAY_US": ("slow", "an integer from 0 on"),
    "TORCHNEURON_FAIL_EXECUTION": ("4711@2", "the number of an NRT status"),
    "TORCHNEURON_PERTURB": ("frobnicate", "no instruction"),
    "TORCHNEURON_GUARD": ("on!", "0 or 1"),
    "TORCHNEURON_CHECK_GROUPS": ("yes", "0 or 1"),
    "TORCHNEURON_CHECK_MEMORY": ("x", "0 or 1"),
    "TORCH_NEURONX_LOG_LEVEL": ("loud", "an integer from 0 to 3"),
    "TORCHNEURON_HBM_BYTES": ("0", "an integer from 1 on"),
}


def test_every_variable_of_the_page_is_here():
    assert set(re.findall(r"^\| ([A-Z_]+) \|", PAGE.read_text(), re.M)) == set(BAD)


@pytest.fixture(scope="module")
def runs():
    """All at once, since importing torch takes seconds: fork before the device is touched."""
    script = """
import json, os, sys, torch
for name, value in json.loads(sys.argv[1]).items():
    sys.stdout.flush()
    if os.fork() == 0:
        os.environ[name] = value
        os.dup2(1, 2)
        try:
            torch.ones(2, device="neuron").sum().item()
            print(name, "no error")
        except BaseException as error:
            print(name, type(error).__name__, " ".join(str(error).split()))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""
    import json

    given = json.dumps({name: value for name, (value, _) in BAD.items()})
    said = output(script, given, without=BAD)
    return {line.split()[0]: line for line in said.splitlines() if line.split()[0] in BAD}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_value_is_an_error_that_says_what_is_legal(name, runs):
    value, words = BAD[name]
    assert "RuntimeError" in runs[name]
    assert value in runs[name]
    assert re.search(words, runs[name])


def test_a_misspelt_name_is_reported_once_with_the_nearest():
    script = (
        "import torch, nki; torch.ones(2, device='neuron').sum().item(); torch.neuron.synchronize()"
    )
    given = {"TORCHNEURON_STRIKT": "1", "TORCHNEURON_LAUNCH_DELAY": "5", "TORCHNEURON_STRICT": "0"}
    _, complaints = outputs(script, without=BAD, **given)
    lines = [line for line in complaints.splitlines() if "torchneuron:" in line]
    assert len(lines) == 2
    said = {line.split()[1]: line for line in lines}
    assert "nearest is TORCHNEURON_STRICT " in said["TORCHNEURON_STRIKT"]
    assert "nearest is TORCHNEURON_LAUNCH_DELAY_US " in said["TORCHNEURON_LAUNCH_DELAY"]


def test_known_names_are_not_reported():
    script = "import torch; torch.ones(2, device='neuron').sum().item()"
    known = {"TORCHNEURON_STRICT": "0", "TORCHNEURON_INSTRUCTION_GROUPS": "1"}
    assert "torchneuron:" not in outputs(script, **known)[1]
