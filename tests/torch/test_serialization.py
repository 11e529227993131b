"""Saving and loading tensors and modules."""

import copy
import io

import torch


def saved(value, **kwargs):
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, **kwargs)


def test_comes_back_on_the_device():
    x = torch.arange(6.0, device="neuron").reshape(2, 3)
    y = saved({"x": x, "view": x[1]})
    assert y["x"].device.type == "neuron"
    assert torch.equal(y["x"].cpu(), x.cpu())
    y["x"][1, 0] = 9
    assert y["view"][0].item() == 9  # storage is shared, as it was


def test_map_location():
    x = torch.arange(3.0, device="neuron")
    assert saved(x, map_location="cpu").device.type == "cpu"
    assert saved(x.cpu(), map_location="neuron").device.type == "neuron"


def test_state_dict_and_deepcopy():
    model = torch.nn.Linear(3, 2).to("neuron")
    other = torch.nn.Linear(3, 2)
    other.load_state_dict(saved(model.state_dict(), map_location="cpu"))
    assert torch.equal(other.weight, model.weight.cpu())
    assert torch.equal(copy.deepcopy(model).weight.cpu(), model.weight.cpu())
