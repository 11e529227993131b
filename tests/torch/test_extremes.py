"""Shapes and dtypes at the edge: results or CPU's error, and never the end of the process."""

import pytest
import torch
from torch import nn

CONVOLUTIONS = {
    "1d": (lambda: nn.Conv1d(3, 4, 3), (3, 9)),
    "2d": (lambda: nn.Conv2d(3, 4, 3), (3, 8, 8)),
    "3d": (lambda: nn.Conv3d(3, 4, 3), (3, 5, 5, 5)),
    "transposed": (lambda: nn.ConvTranspose2d(3, 4, 3), (3, 8, 8)),
    "depthwise": (lambda: nn.Conv2d(3, 3, 3, groups=3), (3, 8, 8)),
}


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_convolution_of_an_empty_batch(kind):
    make, shape = CONVOLUTIONS[kind]
    layer = make()
    gradients = {}
    for device in ("cpu", "neuron"):
        layer = layer.to(device)
        layer.zero_grad()
        x = torch.empty(0, *shape, device=device, requires_grad=True)
        layer(x).sum().backward()
        leaves = [*layer.parameters(), x]
        gradients[device] = [leaf.grad.detach().cpu().clone() for leaf in leaves]
    for got, want in zip(gradients["neuron"], gradients["cpu"], strict=True):
        assert torch.equal(got, want)


@pytest.mark.parametrize("rank", [8, 10, 12])
def test_many_dimensions(rank):
    x = torch.arange(2.0**rank).reshape((2,) * rank)
    order = list(range(rank - 1, -1, -1))
    got = x.to("neuron").permute(order).contiguous()
    assert torch.equal(got.cpu(), x.permute(order).contiguous())
    y = torch.zeros((4,) * (rank // 2), device="neuron")
    y[(slice(None, None, 2),) * (rank // 2)] = 1.0
    assert float(y.sum()) == 2.0 ** (rank // 2)


@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_complex_numbers_have_no_order(name):
    with pytest.raises(NotImplementedError):
        getattr(torch, name)(torch.ones(2, dtype=torch.complex64, device="neuron"), 0)


@pytest.mark.parametrize("name", ["asin", "acos", "atan", "asinh", "acosh", "sinh"])
def test_complex_functions(name):
    z = torch.tensor([0.3 + 0.4j, -1.5 + 0.2j])
    got = getattr(torch, name)(z.to("neuron")).cpu()
    torch.testing.assert_close(got, getattr(torch, name)(z))
