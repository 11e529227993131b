"""Copies, saved files, shared storages."""

import copy
import io

import pytest
import torch
from torch import nn


def _reloaded(value, **options):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return torch.load(file, **options)


def test_deep_copies_are_independent():
    """U084: deepcopy of what lies on the device failed."""
    model = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)).to("neuron")
    twin = copy.deepcopy(model)
    with torch.no_grad():
        twin[0].weight.zero_()
    assert model[0].weight.abs().sum() > 0
    assert twin[0].weight.device.type == "neuron"
    p = nn.Parameter(torch.ones(2, device="neuron"))
    assert isinstance(copy.deepcopy(p), nn.Parameter)
    base = torch.arange(6.0, device="neuron")
    view = copy.deepcopy(base[2:])
    view[0] = -1
    assert base.tolist() == [0, 1, 2, 3, 4, 5]
    assert view.tolist() == [-1, 3, 4, 5]


@pytest.mark.parametrize("where", [None, "cpu", "neuron", "neuron:0"])
def test_saved_tensors_keep_sharing(where):
    """U084: what shared a storage shares it after loading."""
    x = torch.arange(6.0, device="neuron")
    loaded = _reloaded({"a": x, "b": x[2:]}, map_location=where)
    assert loaded["a"].device.type == ("cpu" if where == "cpu" else "neuron")
    loaded["a"][3] = -1
    assert loaded["b"].tolist() == [2, -1, 4, 5]


def test_tied_weights_stay_tied():
    """U084: one parameter under two names."""
    model = nn.ModuleDict({"in": nn.Linear(4, 4), "out": nn.Linear(4, 4)})
    model["out"].weight = model["in"].weight
    model.to("neuron")
    assert model["out"].weight is model["in"].weight
    state = _reloaded(model.state_dict())
    assert state["in.weight"].data_ptr() == state["out.weight"].data_ptr()
    twin = copy.deepcopy(model)
    assert twin["out"].weight is twin["in"].weight


@pytest.mark.parametrize("device", ["cpu", "neuron", "neuron:0"])
def test_safetensors(device, tmp_path):
    """U083: files of weights are read to the device, or to CPU and moved."""
    safetensors = pytest.importorskip("safetensors.torch")
    path = tmp_path / "weights.safetensors"
    x = torch.arange(6.0, device="neuron").reshape(2, 3)
    safetensors.save_file({"x": x, "half": x.bfloat16()}, path)
    loaded = safetensors.load_file(path, device="cpu")
    loaded = {name: tensor.to(device) for name, tensor in loaded.items()}
    assert loaded["x"].device.type == torch.device(device).type
    assert loaded["x"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded["half"].dtype == torch.bfloat16
