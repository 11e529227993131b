"""How a process ends that has used the device."""

import os
import subprocess
import sys
import textwrap

import pytest

# One processor and a main thread that keeps the interpreter's lock: autograd's threads are still at
# work on what they ran when the interpreter ends.
BACKWARD_THEN_EXIT = """
    import os, sys
    import torch

    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    sys.setswitchinterval(30)
    model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
    model.to("neuron")(torch.ones(8, 16, device="neuron")).sum().backward()
"""

# A worker that was forked before the first use has no autograd threads to wait for.
FORK_AFTER_CPU_BACKWARD = """
    import os
    import torch

    torch.ones(2, requires_grad=True).sum().backward()
    if os.fork() == 0:
        torch.ones(2, device="neuron").cpu()
        raise SystemExit(0)
    raise SystemExit(os.waitstatus_to_exitcode(os.wait()[1]))
"""


def run(program):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


@pytest.mark.parametrize("attempt", range(6))
def test_exit_right_after_backward(attempt):
    result = run(BACKWARD_THEN_EXIT)
    assert (result.returncode, result.stderr) == (0, "")


def test_exit_of_a_forked_child():
    result = run(FORK_AFTER_CPU_BACKWARD)
    assert result.returncode == 0, result.stderr
