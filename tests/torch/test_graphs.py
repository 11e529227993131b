"""torch.accelerator.Graph: captured work runs again with the same addresses."""

import pytest
import torch


def test_capture_and_replay():
    x = torch.ones(4, device="neuron")
    graph = torch.accelerator.Graph()
    with graph:
        y = x * 2 + 1
    x.fill_(5)
    graph.replay()
    assert y.tolist() == [11.0] * 4
    x.fill_(0)
    graph.replay()
    assert y.tolist() == [1.0] * 4


def test_random_numbers_are_new_at_each_replay():
    graph = torch.accelerator.Graph()
    with graph:
        y = torch.rand(64, device="neuron")
    graph.replay()
    first = y.cpu()
    graph.replay()
    assert not torch.equal(first, y.cpu())


def test_reading_a_value_is_refused():
    x = torch.ones(2, device="neuron")
    graph = torch.accelerator.Graph()
    graph.capture_begin()
    with pytest.raises(RuntimeError, match="captured"):
        x.sum().item()
    graph.capture_end()
