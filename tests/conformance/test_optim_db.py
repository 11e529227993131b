"""PyTorch's optimizer database on the device: parameters and state after some steps, as on CPU."""

import copy

import pytest
import torch
from conformance import compare
from torch.testing._internal.common_optimizers import optim_db

OPTIMIZERS = {info.optim_cls.__name__: info for info in optim_db}
SHAPES = [(5, 3), (7,), (), (130, 2)]
STEPS = 3


def implementations(info):
    """Keyword arguments that choose how a step is done: a loop, over lists, in one kernel."""
    chosen = [{"foreach": False}]
    if "foreach" in info.supported_impls:
        chosen.append({"foreach": True})
    if "cuda" in info.supports_fused_on:
        chosen.append({"fused": True})
    return chosen if "foreach" in info.supported_impls else [{}]


def parameters(name, device):
    generator = torch.Generator().manual_seed(0)
    shapes = [(8, 4), (4, 8)] if name == "Muon" else SHAPES
    values = [torch.randn(s, generator=generator) for s in shapes]
    return [torch.nn.Parameter(v.to(device)) for v in values]


def gradients(parameters, step):
    generator = torch.Generator().manual_seed(step)
    for p in parameters:
        g = torch.randn(p.shape, generator=generator)
        p.grad = g.to(p.device)


def bowl(parameters):
    for p in parameters:
        p.grad = 2 * p.detach()
    return sum((p.detach() ** 2).sum() for p in parameters)


def steps(info, name, device, kwargs):
    """The parameters, and each one's state, after STEPS steps."""
    on = parameters(name, device)
    optimizer = info.optim_cls(on, **kwargs)
    for step in range(STEPS):
        if name == "LBFGS":  # searches along a line: the gradients must be those of a loss
            optimizer.step(lambda: bowl(on))
        else:
            gradients(on, step)
            optimizer.step()
    state = optimizer.state_dict()["state"]
    return [p.detach().cpu() for p in on], state, optimizer


@pytest.mark.parametrize("name", sorted(set(OPTIMIZERS) - {"SparseAdam"}))
def test_optimizer_matches_cpu(name):
    info = OPTIMIZERS[name]
    for sample in info.optim_inputs_func(device="cpu"):
        for implementation in implementations(info):
            kwargs = {**copy.deepcopy(sample.kwargs), **implementation}
            if kwargs.get("fused") and (kwargs.get("differentiable") or kwargs.get("foreach")):
                continue
            try:
                want, state, _ = steps(info, name, "cpu", kwargs)
            except (RuntimeError, ValueError):  # a combination that the CPU refuses (capturable)
                kwargs.pop("capturable", None)
                want, state, _ = steps(info, name, "cpu", kwargs)
            got, device_state, optimizer = steps(info, name, "neuron", kwargs)
            where = f"{sample.desc}, {implementation}"
            # LBFGS divides by differences of gradients, which magnify what two sums round apart.
            limits = {"rtol": 1e-3, "atol": 1e-4} if name == "LBFGS" else {}
            torch.testing.assert_close(got, want, **limits, msg=lambda m, w=where: f"{w}: {m}")
            if name != "LBFGS":  # whose state is the search's history, down to its last bits
                torch.testing.assert_close(compare.to_cpu(device_state), compare.to_cpu(state))
            # A checkpoint of the device's state is one for the CPU, and the other way round.
            restored = info.optim_cls(parameters(name, "cpu"), **kwargs)
            restored.load_state_dict(optimizer.state_dict())


def test_every_optimizer_is_here():
    assert len(OPTIMIZERS) == len(optim_db)
