"""torch.autocast("neuron") and the gradient scaler."""

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_policies(dtype):
    x = torch.randn(4, 8, device="neuron")
    w = torch.randn(8, 8, device="neuron", requires_grad=True)
    with torch.autocast("neuron", dtype=dtype):
        assert torch.is_autocast_enabled("neuron")
        y = x @ w
        assert y.dtype == dtype
        assert y.softmax(-1).dtype == torch.float32
        assert torch.nn.functional.linear(x, w).dtype == dtype
    assert (x @ w).dtype == torch.float32
    y.float().sum().backward()
    assert w.grad.dtype == torch.float32


def test_default_dtype():
    assert torch.get_autocast_dtype("neuron") == torch.bfloat16


def test_grad_scaler_skips_steps_with_infinities():
    model = torch.nn.Linear(4, 4).to("neuron")
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    scaler = torch.amp.GradScaler("neuron", init_scale=4.0)
    before = model.weight.detach().clone()
    scaler.scale(model(torch.full((2, 4), float("inf"), device="neuron")).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    assert torch.equal(model.weight, before)
    assert scaler.get_scale() == 2.0
