"""Optimizer steps, in each implementation, against CPU."""

import pytest
import torch

OPTIMIZERS = {
    "sgd": lambda p, **kw: torch.optim.SGD(p, lr=0.1, momentum=0.9, weight_decay=0.01, **kw),
    "adam": lambda p, **kw: torch.optim.Adam(p, lr=0.05, **kw),
    "adamw": lambda p, **kw: torch.optim.AdamW(p, lr=0.05, weight_decay=0.1, **kw),
}


@pytest.mark.parametrize("how", ["foreach", "fused", "single"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_like_cpu(name, how):
    flags = {"foreach": how == "foreach", "fused": how == "fused"}
    if how == "single":
        flags = {"foreach": False}
    shapes = [(3, 4), (7,), (2, 2, 2)]
    start = [torch.randn(s) for s in shapes]
    grads = [[torch.randn(s) for s in shapes] for _ in range(3)]
    results = []
    for device in ("cpu", "neuron"):
        parameters = [torch.nn.Parameter(t.clone().to(device)) for t in start]
        optimizer = OPTIMIZERS[name](parameters, **flags)
        for step in grads:
            for parameter, grad in zip(parameters, step, strict=True):
                parameter.grad = grad.to(device)
            optimizer.step()
        results.append([p.detach().cpu() for p in parameters])
    for got, want in zip(results[1], results[0], strict=True):
        torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)
