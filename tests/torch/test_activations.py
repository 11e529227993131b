"""Activations that are one instruction: the bits of the chain of operations that they stand for."""

import pytest
import torch
from torch.nn import functional as F

SPECIAL = [float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e-30, -9.0, 9.0]


@pytest.fixture
def x():
    torch.manual_seed(0)
    return torch.cat([torch.randn(5000) * 3, torch.tensor(SPECIAL)])


def bits(tensor):
    return tensor.cpu().view(torch.int32)


def test_gelu_is_its_chain_of_operations(x):
    d = x.to("neuron")
    chain = (d * 0.5) * (torch.erf(d * 0.5**0.5) + 1.0)
    assert torch.equal(bits(F.gelu(d)), bits(chain))
    finite = x.isfinite()  # at infinity, CPU's gelu is NaN
    torch.testing.assert_close(F.gelu(d).cpu()[finite], F.gelu(x)[finite])


def test_gelu_tanh_is_its_chain_of_operations(x):
    d = x.to("neuron")
    inner = (d + d * d * d * 0.044715) * 0.79788456080286535588
    chain = (d * 0.5) * (torch.tanh(inner) + 1.0)
    got = F.gelu(d, approximate="tanh")
    assert torch.equal(bits(got), bits(chain))
    torch.testing.assert_close(got.cpu(), F.gelu(x, approximate="tanh"), equal_nan=True)


@pytest.mark.parametrize("width", [16, 48, 128, 200, 384, 512, 1000, 2048, 4096, 8000])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_of_every_length(width, dtype):
    torch.manual_seed(0)
    x = torch.randn(300, width).to(dtype)
    d = x.to("neuron")
    torch.testing.assert_close(F.softmax(d, -1).cpu(), F.softmax(x, -1))
    torch.testing.assert_close(
        F.layer_norm(d, (width,)).cpu(), F.layer_norm(x, (width,)), atol=2e-5, rtol=1.6e-2
    )
    assert torch.equal(d.amax(-1).cpu(), x.amax(-1))
