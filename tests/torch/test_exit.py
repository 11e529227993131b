"""How a process ends that has used the device."""

import pytest
from processes import output, run

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


@pytest.mark.parametrize("attempt", range(6))
def test_exit_right_after_backward(attempt):
    status, _, said = run(BACKWARD_THEN_EXIT)
    assert (status, said) == (0, "")


def test_exit_of_a_forked_child():
    output(FORK_AFTER_CPU_BACKWARD)
