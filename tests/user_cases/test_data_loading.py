"""Pinned memory, workers that fork, tensors between processes."""

from multiprocessing.reduction import ForkingPickler

import pytest
import torch
from processes import run
from torch.utils.data import DataLoader, TensorDataset


def test_pinned_memory_belongs_to_the_device():
    """U079: pinning a storage asked for CUDA."""
    x = torch.arange(3.0).pin_memory()
    assert x.is_pinned()
    assert x.to("neuron", non_blocking=True).tolist() == [0, 1, 2]
    storage = torch.arange(3.0).untyped_storage().pin_memory()
    assert storage.is_pinned()
    assert not torch.empty(3).is_pinned()
    assert torch.empty(0).pin_memory().numel() == 0
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        torch.ones(3, device="neuron").pin_memory()


@pytest.mark.parametrize("pin", [False, True])
def test_loader_with_workers_after_the_device_was_used(pin):
    """U081: workers died once the parent had touched the device."""
    torch.ones(2, device="neuron").sum().item()
    data = TensorDataset(torch.arange(12.0).reshape(6, 2))
    seen = []
    for (batch,) in DataLoader(data, batch_size=2, num_workers=2, pin_memory=pin):
        assert batch.is_pinned() == pin
        seen += (batch.to("neuron") * 2).flatten().tolist()
    assert seen == [2.0 * i for i in range(12)]


def test_asking_is_harmless_before_a_fork():
    """U081: is_available() and device_count() leave a forked child free to use the device."""
    status, out, err = run("""
        import os, torch
        assert torch.neuron.is_available() and torch.accelerator.is_available()
        assert torch.neuron.device_count() > 0
        child = os.fork()
        if child == 0:
            print(torch.ones(3, device="neuron").sum().item(), flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert (status, out) == (0, "3.0\n"), err


def test_use_after_a_fork_names_spawn():
    """U081: after a real use the child is told what to do."""
    status, out, err = run("""
        import os, torch
        torch.ones(3, device="neuron").sum().item()
        child = os.fork()
        if child == 0:
            try:
                torch.ones(3, device="neuron").sum().item()
            except RuntimeError as error:
                print(error, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    """)
    assert status == 0, err
    assert "spawn" in out


SHARED = {
    "a tensor in a queue": lambda x: ForkingPickler.dumps(x),
    "a parameter in a queue": lambda x: ForkingPickler.dumps(torch.nn.Parameter(x)),
    "a tensor of a list in a queue": lambda x: ForkingPickler.dumps([1, {"x": x}]),
}


@pytest.mark.parametrize("way", SHARED)
def test_sharing_between_processes_names_the_way_out(way):
    """U092: device memory is not shared between processes: said at once, without a hang."""
    x = torch.arange(3.0, device="neuron")
    with pytest.raises(NotImplementedError, match=r"\.cpu\(\)"):
        SHARED[way](x)
    assert x.tolist() == [0, 1, 2]
    assert ForkingPickler.dumps(x.cpu())
