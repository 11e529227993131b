"""Nothing above a seam leans on what only our side of it offers."""

from pathlib import Path

import pytest
from honesty import gallery_process, nrt_counters

pytestmark = pytest.mark.usefixtures("device")
NAMES = ("add", "sum_rows", "mm", "softmax", "layer_norm", "conv_padded", "attention")


def _assert_right(records):
    assert {
        n: r["error"] or r["wrong"] for n, r in records.items() if r["error"] or r["wrong"]
    } == {}


def test_host_needs_no_access_to_hbm():
    """Guard mode unmaps HBM: any stray host dereference would kill the process."""
    _assert_right(gallery_process.run("float32", TORCHNEURON_GUARD="1", TORCHNEURON_STRICT="1"))


@pytest.fixture(scope="module")
def emulator():
    import torch

    torch.empty(1, device="neuron").cpu()
    return nrt_counters.library()._name


@pytest.fixture(scope="module")
def forwarding():
    """An NRT library that hands every call on and records its name, without our extensions."""
    import neuron_testing

    return str(Path(neuron_testing.__file__).parent / "libforwarding_nrt.so")


def test_plain_nrt_and_separate_compiler_suffice(forwarding, emulator, tmp_path):
    compiler = Path(emulator).parents[1] / "bin" / "neuron-compile"
    if not compiler.exists():
        pytest.skip(f"{compiler} is not installed")
    calls = tmp_path / "calls"
    records = gallery_process.run(
        "float32",
        NAMES,
        TORCHNEURON_NRT_LIBRARY=forwarding,
        FORWARDING_NRT_TO=emulator,
        FORWARDING_NRT_LOG=str(calls),
        TORCHNEURON_COMPILER=str(compiler),
        TORCH_NEURONX_NEFF_CACHE_DIR=str(tmp_path / "cache"),
        TORCHNEURON_STRICT="1",
        HONESTY_COUNTERS="0",
    )
    _assert_right(records)
    counts = dict(line.split() for line in calls.read_text().splitlines())
    assert int(counts["nrt_load"]) >= len(NAMES) - 1
    assert int(counts["nrt_execute"]) >= len(NAMES)
    assert not [name for name in counts if name.startswith("nrt_emulator")]
