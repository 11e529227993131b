"""Optimizers in all their forms, and clipping where there is nothing to clip."""

import pytest
import torch
from torch import nn
from user_cases.beside_cpu import agree_on

OPTIMIZERS = {
    "SGD": (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
    "Adam": (torch.optim.Adam, {"lr": 0.01}),
    "AdamW": (torch.optim.AdamW, {"lr": 0.01}),
    "Adagrad": (torch.optim.Adagrad, {"lr": 0.1}),
}
FORMS = {
    "default": {},
    "foreach": {"foreach": True},
    "for loop": {"foreach": False},
    "fused": {"fused": True},
    "capturable": {"capturable": True},
}


def _steps(device, name, options, dtype, n=5):
    model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).to(device, dtype)
    x = torch.randn(4, 6).to(device, dtype)
    make, defaults = OPTIMIZERS[name]
    optimizer = make(model.parameters(), **defaults, **options)
    for _ in range(n):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
    return model, optimizer


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_optimizer_steps(name, form, dtype):
    """U088: foreach and fused steps were refused by lists of known devices."""
    if form == "capturable" and name in ("SGD", "Adagrad"):
        pytest.skip("has no such form")

    def function(device):
        options = {"foreach": False} if device == "cpu" else FORMS[form]
        model, _ = _steps(device, name, options, dtype)
        return [p.detach() for p in model.parameters()]

    tight = dtype == torch.float32
    agree_on(function, rtol=1e-5 if tight else 2e-2, atol=1e-5 if tight else 2e-2)


def test_optimizer_state_goes_to_cpu_and_back():
    """U088: the state dict is loaded on CPU and again on the device."""
    torch.manual_seed(0)
    model, optimizer = _steps("neuron", "AdamW", {}, torch.float32)
    state = optimizer.state_dict()
    on_cpu = torch.optim.AdamW(
        nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).parameters()
    )
    on_cpu.load_state_dict(state)
    moments = [s["exp_avg"] for s in on_cpu.state.values()]
    assert {m.device.type for m in moments} == {"cpu"}
    again = torch.optim.AdamW(model.parameters())
    again.load_state_dict(on_cpu.state_dict())
    for ours, want in zip(again.state.values(), moments, strict=True):
        assert ours["exp_avg"].device.type == "neuron"
        assert torch.equal(ours["exp_avg"].cpu(), want)


@pytest.mark.parametrize("foreach", [None, True, False])
def test_clipping_without_gradients(foreach):
    """U068: clipping a step without gradients raised IndexError."""
    assert torch.nn.utils.clip_grad_norm_([], 1.0, foreach=foreach).item() == 0
    frozen = nn.Linear(3, 3).to("neuron").requires_grad_(False)
    assert torch.nn.utils.clip_grad_norm_(frozen.parameters(), 1.0, foreach=foreach).item() == 0


@pytest.mark.parametrize("foreach", [None, True, False])
@pytest.mark.parametrize("norm", [1.0, 2.0, float("inf")])
def test_clipping_with_some_gradients(foreach, norm):
    """U068: parameters without a gradient are passed over."""

    def function(device):
        model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2)).to(device)
        model(torch.randn(5, 3).to(device)).sum().backward()
        model[0].weight.grad = None
        total = nn.utils.clip_grad_norm_(model.parameters(), 0.5, norm, foreach=foreach)
        return total, [p.grad for p in model.parameters() if p.grad is not None]

    agree_on(function)


def test_clipping_names_what_is_not_finite():
    """U068: error_if_nonfinite."""
    p = nn.Parameter(torch.ones(2, device="neuron"))
    p.grad = torch.tensor([1.0, float("nan")], device="neuron")
    with pytest.raises(RuntimeError, match="non-finite"):
        nn.utils.clip_grad_norm_([p], 1.0, error_if_nonfinite=True)
