"""Lists of tensors as arguments: lists whose tensors are not all on the device."""

import pytest
import torch

LENGTHS = [(3,), (2, 2), ()]


def lists(device):
    return [torch.full(shape, 2.0, device=device) for shape in LENGTHS]


@pytest.mark.parametrize("op", ["add", "mul", "sub", "div", "maximum", "pow"])
@pytest.mark.parametrize("in_place", [False, True])
def test_cpu_scalars_as_the_other_list(op, in_place):
    scalars = [torch.tensor(float(k)) for k in range(1, 4)]
    results = {}
    for device in ("cpu", "neuron"):
        tensors = lists(device)
        if in_place:
            getattr(torch, f"_foreach_{op}_")(tensors, scalars)
        else:
            tensors = getattr(torch, f"_foreach_{op}")(tensors, scalars)
        results[device] = [t.cpu() for t in tensors]
    assert [r.tolist() for r in results["neuron"]] == [r.tolist() for r in results["cpu"]]


def test_cpu_scalars_among_device_tensors():
    mixed = [torch.ones(3, device="neuron"), torch.tensor(1.0)]
    got = torch._foreach_add(mixed, [torch.ones(3, device="neuron"), torch.tensor(2.0)])
    assert [g.cpu().tolist() for g in got] == [[2.0, 2.0, 2.0], 3.0]


def test_a_cpu_scalar_as_an_index():
    x = torch.arange(12.0).view(3, 4)
    index = [torch.tensor(2), torch.tensor([0, 3])]
    got = torch.ops.aten.index(x.to("neuron"), [index[0], index[1].to("neuron")])
    assert got.tolist() == x[index[0], index[1]].tolist()
