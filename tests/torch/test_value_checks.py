"""Numbers that a random fill refuses: at each call, also where a plan exists already."""

import pytest
import torch

REFUSED = [
    ("uniform_", (0.0, 1.0), (2.0, 1.0)),
    ("normal_", (0.0, 1.0), (0.0, -1.0)),
    ("log_normal_", (0.0, 1.0), (0.0, 0.0)),
    ("exponential_", (1.0,), (-0.5,)),
    ("geometric_", (0.5,), (1.0,)),
    ("cauchy_", (0.0, 1.0), (0.0, 0.0)),
]


@pytest.mark.parametrize(("name", "legal", "refused"), REFUSED, ids=[row[0] for row in REFUSED])
def test_a_value_is_refused_with_cpus_words(name, legal, refused):
    on_cpu, on_neuron = torch.empty(8), torch.empty(8, device="neuron")
    getattr(on_neuron, name)(*legal)
    kept = on_neuron.cpu()
    with pytest.raises(RuntimeError) as cpu:
        getattr(on_cpu, name)(*refused)
    with pytest.raises(RuntimeError) as neuron:
        getattr(on_neuron, name)(*refused)
    assert str(neuron.value).split("\n")[0] == str(cpu.value).split("\n")[0]
    assert torch.equal(on_neuron.cpu(), kept)
