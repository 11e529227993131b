"""torch.compile(backend="neuron"): same results as eager CPU, one program per graph."""

import pytest
import torch
import torch.nn.functional as F
import torch_neuronx


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    torch_neuronx.clear_op_tracking()
    yield
    torch._dynamo.reset()


class Mlp(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.LayerNorm(16)
        self.up = torch.nn.Linear(16, 32)
        self.down = torch.nn.Linear(32, 4)

    def forward(self, x):
        return self.down(F.gelu(self.up(self.norm(x))))


def test_forward_of_a_function():
    @torch.compile(backend="neuron", fullgraph=True)
    def f(x, y):
        return torch.relu(x) * 2 + y.sum(-1, keepdim=True)

    x, y = torch.randn(4, 8), torch.randn(4, 8)
    got = f(x.to("neuron"), y.to("neuron"))
    assert got.device.type == "neuron"
    torch.testing.assert_close(got.cpu(), torch.relu(x) * 2 + y.sum(-1, keepdim=True))


def test_training_matches_cpu_and_is_two_graphs():
    from torch_neuronx._dynamo import get_dynamo_metrics

    torch.manual_seed(1)
    reference = Mlp()
    model = Mlp()
    model.load_state_dict(reference.state_dict())
    model.to("neuron")
    before = len(get_dynamo_metrics())
    compiled = torch.compile(model, backend="neuron", fullgraph=True)
    x, labels = torch.randn(8, 16), torch.randint(4, (8,))
    for _ in range(2):
        loss = F.cross_entropy(compiled(x.to("neuron")), labels.to("neuron"))
        loss.backward()
        want = F.cross_entropy(reference(x), labels)
        want.backward()
        torch.testing.assert_close(loss.cpu(), want)
    for (name, p), q in zip(reference.named_parameters(), model.parameters(), strict=True):
        torch.testing.assert_close(q.grad.cpu(), p.grad, msg=name)
    assert len(get_dynamo_metrics()) - before == 2


def test_input_mutation():
    @torch.compile(backend="neuron", fullgraph=True)
    def f(x):
        x.mul_(2)
        return x + 1

    x = torch.arange(6.0, device="neuron").reshape(2, 3)
    y = f(x)
    assert x.cpu().tolist() == [[0, 2, 4], [6, 8, 10]]
    assert torch.equal(y.cpu(), x.cpu() + 1)


def test_random_numbers_differ_per_call_and_follow_the_seed():
    @torch.compile(backend="neuron", fullgraph=True)
    def f(x):
        return F.dropout(x, 0.5, training=True)

    x = torch.ones(256, device="neuron")
    torch.manual_seed(3)
    first, second = f(x).cpu(), f(x).cpu()
    torch.manual_seed(3)
    assert torch.equal(f(x).cpu(), first)
    assert not torch.equal(first, second)


def test_new_shapes_are_served():
    @torch.compile(backend="neuron")
    def f(x):
        return torch.softmax(x, -1).sum(0)

    for n in (4, 6, 9):
        x = torch.randn(n, 8)
        torch.testing.assert_close(f(x.to("neuron")).cpu(), torch.softmax(x, -1).sum(0))


def test_unsupported_op_splits_the_graph():
    @torch.compile(backend="neuron")
    def f(x):
        y = torch.relu(x) + 1
        return torch.special.bessel_j0(y) * 2

    x = torch.randn(5)
    torch.testing.assert_close(
        f(x.to("neuron")).cpu(), torch.special.bessel_j0(torch.relu(x) + 1) * 2
    )


def test_default_backend_hands_cpu_graphs_to_inductor(monkeypatch):
    from torch._inductor import compile_fx

    seen = []
    monkeypatch.setattr(compile_fx, "compile_fx", lambda gm, inputs: seen.append(gm) or gm.forward)
    torch.compiler.set_default_backend("neuron")
    try:
        model = Mlp()
        model.compile()
        model(torch.ones(1, 16))
        assert len(seen) == 1
        model = Mlp().to("neuron")
        model.compile()
        assert model(torch.ones(1, 16, device="neuron")).device.type == "neuron"
        assert len(seen) == 1
    finally:
        torch.compiler.set_default_backend(None)


def test_transposed_outputs_keep_their_strides():
    @torch.compile(backend="neuron", fullgraph=True)
    def f(x):
        return (x + 1).t()

    x = torch.randn(3, 5)
    y = f(x.to("neuron"))
    assert y.stride() == (x + 1).t().stride()
    assert torch.equal(y.cpu(), (x + 1).t())
