"""The stack above its two seams: other NRT libraries, another compiler process, slow devices."""

import os
from pathlib import Path

import neuron_testing
import pytest
from processes import result

BUILD = Path(neuron_testing.__file__).resolve().parent.parent
EMULATOR = BUILD / "python" / "torch_neuronx" / "lib" / "libnrt_emulator.so.1"
COMPILER = BUILD / "python" / "torch_neuronx" / "bin" / "neuron-compile"
FORWARDING = BUILD / "python" / "libforwarding_nrt.so"

TRAIN = """
    import json
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    x, y = torch.randn(64, 16), torch.randint(0, 4, (64,))
    model, x, y = model.to("neuron"), x.to("neuron"), y.to("neuron")
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(json.dumps(losses))
"""

ASYNCHRONOUS = """
    import json
    import time
    import torch

    x = torch.ones(64, device="neuron")
    y = x + x
    torch.accelerator.synchronize()
    start = time.perf_counter()
    for _ in range(10):
        y = y + x
    queued = time.perf_counter() - start
    value = y.cpu()[0].item()
    print(json.dumps([queued, time.perf_counter() - start, value]))
"""

FORK = """
    import json
    import os
    import torch

    x = torch.ones(4, device="neuron")
    if os.fork() == 0:
        try:
            torch.ones(4, device="neuron")
        except RuntimeError as error:
            os._exit(0 if "spawn" in str(error) else 2)
        os._exit(1)
    status = os.waitstatus_to_exitcode(os.wait()[1])
    print(json.dumps([status, (x + 1).cpu().tolist()]))
"""


def run(program, **variables):
    environment = {
        "TORCHNEURON_NRT_LIBRARY": EMULATOR,
        "TORCH_NEURONX_DISABLE_NEFF_CACHE": 1,
        **variables,
    }
    return result(program, **environment)


@pytest.fixture(scope="module")
def plain():
    return run(TRAIN)


def test_training_needs_nothing_beyond_nrt_and_a_compiler_command(plain, tmp_path):
    log = tmp_path / "calls"
    public = run(
        TRAIN,
        TORCHNEURON_NRT_LIBRARY=FORWARDING,
        FORWARDING_NRT_TO=EMULATOR,
        FORWARDING_NRT_LOG=log,
        TORCHNEURON_COMPILER=COMPILER,
    )
    assert public == plain
    assert plain[-1] < plain[0]
    calls = {name: int(count) for name, count in map(str.split, log.read_text().splitlines())}
    assert calls["nrt_execute"] > 50
    assert not [name for name in calls if name.startswith("nrt_emulator")]


def neuronx_cc(directory, command):
    """A program of that name on a PATH of its own, which notes how it is called."""
    directory.mkdir()
    program = directory / "neuronx-cc"
    program.write_text(f'#!/bin/sh\necho "$@" >> {directory}/calls\n{command}\n')
    program.chmod(0o755)
    return f"{directory}{os.pathsep}{os.environ['PATH']}"


def test_a_library_that_is_not_ours_gets_programs_of_neuronx_cc_from_path(plain, tmp_path):
    path = neuronx_cc(tmp_path / "bin", f'exec {COMPILER} "$@"')
    other = {"TORCHNEURON_NRT_LIBRARY": FORWARDING, "FORWARDING_NRT_TO": EMULATOR, "PATH": path}
    assert run(TRAIN, **other) == plain
    calls = (tmp_path / "bin" / "calls").read_text().splitlines()
    assert calls[0] == "--version"
    assert len(calls) > 10
    assert all(
        c.startswith("compile --framework XLA /") and "--target trn2" in c for c in calls[1:]
    )


def test_our_library_is_served_in_the_process_whatever_path_has(plain, tmp_path):
    path = neuronx_cc(tmp_path / "bin", "exit 1")
    assert run(TRAIN, PATH=path) == plain
    assert not (tmp_path / "bin" / "calls").exists()


def test_a_compiler_of_path_that_does_not_work_is_named(tmp_path):
    path = neuronx_cc(tmp_path / "bin", "echo no licence >&2; exit 3")
    program = """
        import json, torch
        try:
            torch.ones(4, device="neuron")
        except RuntimeError as error:
            print(json.dumps(str(error)))
    """
    said = run(program, TORCHNEURON_NRT_LIBRARY=FORWARDING, FORWARDING_NRT_TO=EMULATOR, PATH=path)
    assert "neuronx-cc of PATH" in said
    assert "status 3: no licence" in said


def test_a_slow_device_does_not_hold_the_host():
    queued, total, value = run(ASYNCHRONOUS, TORCHNEURON_LAUNCH_DELAY_US=50000)
    assert value == 12
    assert total > 0.5
    assert queued < 0.25


def test_launch_blocking_does():
    queued, _, _ = run(ASYNCHRONOUS, TORCHNEURON_LAUNCH_DELAY_US=20000, NEURON_LAUNCH_BLOCKING=1)
    assert queued > 0.2


def test_a_forked_child_is_told_to_spawn_and_the_parent_goes_on():
    status, values = run(FORK)
    assert status == 0
    assert values == [2, 2, 2, 2]


def test_results_are_the_same_with_hbm_unmapped_for_the_host(plain):
    assert run(TRAIN, TORCHNEURON_GUARD=1) == plain


def test_the_disk_cache_serves_the_next_process(plain, tmp_path):
    cached = {"TORCH_NEURONX_DISABLE_NEFF_CACHE": 0, "TORCH_NEURONX_NEFF_CACHE_DIR": tmp_path}
    assert run(TRAIN, **cached) == plain
    entries = sorted(tmp_path.rglob("*.neff"))
    assert entries
    good = entries[0].read_bytes()
    entries[0].write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert run(TRAIN, **cached) == plain
    assert entries[0].read_bytes() == good  # noticed, and compiled to the same bytes
    assert sorted(tmp_path.rglob("*.neff")) == entries  # everything else was found
