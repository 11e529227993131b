"""Ops without a lowering: they work, are named once, and hide no mistake."""

import logging

import pytest
import torch
import torch_neuronx
from user_cases.beside_cpu import agree


@pytest.mark.parametrize("compile_it", [False, True])
def test_isin(compile_it, fresh_dynamo, caplog):
    """U027: isin, used for stop tokens, warned so that users took it for a failure."""
    x, stop = torch.tensor([1, 5, 9]), torch.tensor([5, 2])
    isin = torch.compile(torch.isin, backend="neuron") if compile_it else torch.isin
    with caplog.at_level(logging.WARNING, "torch_neuronx"):
        for _ in range(3):
            agree(torch.isin, x, stop, exact=True)
            agree(lambda x: torch.isin(x, 5), x, exact=True)
            agree(lambda s: torch.isin(5, s), stop, exact=True)
            agree(lambda x, s: torch.isin(x, s, invert=True), x, stop, exact=True)
        assert isin(x.to("neuron"), stop.to("neuron")).tolist() == [False, True, False]
    messages = [r.getMessage() for r in caplog.records if r.name.startswith("torch_neuronx")]
    assert not messages


def test_generation_with_stop_tokens(caplog):
    """U027: a greedy loop as in generate()."""
    torch.manual_seed(0)
    table = torch.randn(12, 12)

    def generate(table, stop):
        tokens = torch.tensor([[3], [7]], device=table.device)
        finished = torch.zeros(2, dtype=torch.bool, device=table.device)
        for _ in range(10):
            following = table[tokens[:, -1]].argmax(-1)
            following = torch.where(finished, 0, following)
            tokens = torch.cat([tokens, following[:, None]], -1)
            finished = finished | torch.isin(following, stop)
            if finished.all():
                break
        return tokens

    with caplog.at_level(logging.WARNING, "torch_neuronx"):
        agree(generate, table, torch.tensor([5, 2]), exact=True)
    assert not [r for r in caplog.records if r.name.startswith("torch_neuronx")]


@pytest.fixture(scope="module")
def demo():
    library = torch.library.Library("demo_user_cases", "DEF")
    library.define("scale(Tensor x, float by) -> Tensor")
    library.define("scale_(Tensor(a!) x, float by) -> Tensor(a!)")
    library.define("first(Tensor?[] xs) -> Tensor")
    library.impl("scale", lambda x, by: x * by, "CPU")
    library.impl("scale_", lambda x, by: x.mul_(by), "CPU")
    library.impl("first", lambda xs: next(x for x in xs if x is not None).clone(), "CPU")
    yield torch.ops.demo_user_cases
    library._destroy()


def test_ops_of_other_libraries(demo, caplog):
    """U029: an op with nothing but a CPU kernel works and leaves its result on the device."""
    with caplog.at_level(logging.WARNING, "torch_neuronx"):
        for _ in range(3):
            agree(lambda x: demo.scale(x, 2.5), torch.arange(3.0))
            agree(lambda x: demo.scale_(x, 2.5), torch.arange(3.0))
            agree(lambda x: demo.first([None, x, x + 1]), torch.arange(3.0))
    messages = [r.getMessage() for r in caplog.records if "demo_user_cases" in r.getMessage()]
    assert len(messages) == 3
    assert "demo_user_cases::scale has no lowering" in messages[0]
    torch_neuronx.clear_op_tracking()


def test_boxes_of_torchvision():
    """U029: nms of torchvision."""
    vision = pytest.importorskip("torchvision")
    boxes = torch.tensor([[0.0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30]])
    scores = torch.tensor([0.9, 0.8, 0.7])
    agree(lambda b, s: vision.ops.nms(b, s, 0.5), boxes, scores, exact=True)
    torch_neuronx.clear_op_tracking()


MIXES = {
    "dot": lambda x, y: x[0].dot(y[0]),
    "addmm": lambda x, y: torch.addmm(x, y, y),
    "add": lambda x, y: x + y,
    "cat": lambda x, y: torch.cat([x, y]),
    "where": lambda x, y: torch.where(x > 0, x, y),
    "linear": lambda x, y: torch.nn.functional.linear(x, y),
    "gather": lambda x, y: x.gather(0, y.long()),
    "histc": lambda x, y: torch.searchsorted(x, y),
    "in place": lambda x, y: x.add_(y),
    "conv": lambda x, y: torch.conv1d(x[None], y[:, :, None]),
}


@pytest.mark.parametrize("mix", MIXES)
def test_mixed_devices_are_refused(mix):
    """U032: with a fallback, mixing CPU and device tensors silently worked."""
    x, y = torch.ones(3, 3, device="neuron"), torch.ones(3, 3)
    with pytest.raises(RuntimeError, match=r"[Ee]xpected all tensors to be on the same device"):
        MIXES[mix](x, y)


def test_what_may_come_from_the_cpu():
    """U032: indices and zero-dim tensors, as on CUDA."""
    x = torch.arange(9.0, device="neuron").reshape(3, 3)
    assert x[torch.tensor([2, 0])].tolist() == [[6, 7, 8], [0, 1, 2]]
    assert x[:, torch.tensor([1])].tolist() == [[1], [4], [7]]
    x[torch.tensor([1])] = 0.0
    assert x[1].tolist() == [0, 0, 0]
    assert (x + torch.tensor(2.0))[0].tolist() == [2, 3, 4]
    assert torch.mul(torch.tensor(2.0), x)[0].tolist() == [0, 2, 4]
    x[0, 0] = torch.tensor(5.0)
    assert x[0, 0].item() == 5
