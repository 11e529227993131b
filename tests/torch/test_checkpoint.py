"""Recomputation draws the random numbers of the first computation."""

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_dropout_under_checkpoint(use_reentrant):
    model = nn.Dropout(0.5).to("neuron")
    x = torch.ones(64, device="neuron", requires_grad=True)
    y = checkpoint(model, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert torch.equal(y.detach(), x.grad)
    assert 0 < int((y == 0).sum()) < 64


def test_sequential():
    layers = nn.Sequential(*[nn.Dropout(0.2) for _ in range(4)]).to("neuron")
    x = torch.ones(256, device="neuron", requires_grad=True)
    y = checkpoint_sequential(layers, 2, x, use_reentrant=False)
    y.sum().backward()
    torch.testing.assert_close(y.detach(), x.grad)
