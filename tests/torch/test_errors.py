"""What has its own rules: expanded destinations, comparison on the host."""

import pytest
import torch


def test_expanded_destination():
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(1, device="neuron").expand(4).add_(1)


def test_equal_compares_on_the_device(strict):
    x = torch.arange(4, device="neuron")
    assert torch.equal(x, x.clone())
    assert not torch.equal(x, x + 1)
    assert not torch.equal(x, x[:2])
