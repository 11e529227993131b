"""torch.compile(model) without a backend: by the device of the graph's tensors."""

import logging

import pytest
import torch
import torch.nn.functional as F
from torch_neuronx._dynamo import get_dynamo_metrics


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(4, 8), torch.nn.Linear(8, 2)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


def _model():
    torch.manual_seed(0)
    return Mlp()


def test_a_model_on_the_device_is_compiled_for_it():
    reference, model = _model(), _model().to("neuron")
    before = len(get_dynamo_metrics())
    x = torch.randn(3, 4)
    loss = torch.compile(model)(x.to("neuron")).square().sum()
    loss.backward()
    want = reference(x).square().sum()
    want.backward()
    torch.testing.assert_close(loss.cpu(), want)
    for p, q in zip(reference.parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(q.grad.cpu(), p.grad)
    assert len(get_dynamo_metrics()) == before + 2


def test_module_compile_takes_the_same_way():
    model = _model().to("neuron")
    x = torch.randn(3, 4).to("neuron")
    want = model(x)
    before = len(get_dynamo_metrics())
    model.compile()
    torch.testing.assert_close(model(x), want)
    assert len(get_dynamo_metrics()) == before + 1


def test_a_graph_that_makes_its_tensors_on_the_device():
    got = torch.compile(lambda n: torch.ones(3, device="neuron") * n)(2.0)
    assert got.device.type == "neuron"
    assert got.tolist() == [2.0] * 3


def test_a_graph_of_the_cpu_stays_inductors(monkeypatch):
    """It needs a compiler of C++ to run; that it gets the graph, with mode, is what is ours."""
    import torch._inductor.compile_fx as inductor

    seen = []

    def compile_fx(model, inputs, config_patches=None, **_):
        seen.append(config_patches)
        return model.forward

    monkeypatch.setattr(inductor, "compile_fx", compile_fx)
    x = torch.randn(3)
    compiled = torch.compile(F.relu, options={"max_autotune": True})
    assert torch.equal(compiled(x), F.relu(x))
    assert seen == [{"max_autotune": True}]


def test_what_is_asked_of_inductor_is_said_to_have_no_effect(caplog):
    from torch_neuronx import _default_compile

    _default_compile._said.clear()
    x = torch.ones(3, device="neuron")
    with caplog.at_level(logging.WARNING, "torch_neuronx"):
        torch.compile(torch.exp, mode="max-autotune-no-cudagraphs")(x)
        torch.compile(torch.exp2, mode="max-autotune-no-cudagraphs")(x)
    said = [r.getMessage() for r in caplog.records if "Inductor" in r.getMessage()]
    assert len(said) == 1
    assert "max_autotune" in said[0]
    assert "no effect" in said[0]
