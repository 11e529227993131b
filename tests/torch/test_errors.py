"""Wrong calls raise what PyTorch CPU raises, by class; what mixes devices is named."""

import pytest
import torch

BAD = {
    "sizes": lambda d: torch.ones(2, 3, device=d) + torch.ones(4, device=d),
    "matmul": lambda d: torch.ones(2, 3, device=d) @ torch.ones(4, 5, device=d),
    "in_place_cast": lambda d: torch.ones(2, dtype=torch.int64, device=d).add_(0.5),
    "in_place_shape": lambda d: torch.ones(2, device=d).add_(torch.ones(3, 2, device=d)),
    "dim": lambda d: torch.ones(2, 3, device=d).sum(5),
    "cat": lambda d: torch.cat([torch.ones(2, 3, device=d), torch.ones(2, 4, device=d)]),
    "dtype": lambda d: torch.ones(2, 2, device=d) @ torch.ones(2, 2, dtype=torch.float64, device=d),
    "view": lambda d: torch.ones(2, 3, device=d).view(4),
    "conv": lambda d: torch.conv2d(
        torch.ones(1, 3, 4, 4, device=d), torch.ones(2, 4, 3, 3, device=d)
    ),
    "bitwise": lambda d: torch.ones(2, device=d) & torch.ones(2, device=d),
}


@pytest.mark.parametrize("case", BAD)
def test_same_class_as_cpu(case):
    with pytest.raises(Exception) as on_cpu:  # noqa: PT011 - the class is what is compared
        BAD[case]("cpu")
    with pytest.raises(type(on_cpu.value)) as on_neuron:
        BAD[case]("neuron")
    assert type(on_neuron.value) is type(on_cpu.value)


def test_mixed_devices():
    with pytest.raises(RuntimeError, match="Expected all tensors to be on the same device"):
        torch.ones(2, device="neuron") + torch.ones(2)


def test_expanded_destination():
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(1, device="neuron").expand(4).add_(1)


def test_index_out_of_range_is_raised_at_the_synchronisation():
    table = torch.nn.Embedding(10, 4).to("neuron")
    table(torch.tensor([1, 2, 11], device="neuron"))
    with pytest.raises(IndexError, match="11"):
        torch.neuron.synchronize()
    torch.neuron.synchronize()  # reported once
    assert table(torch.tensor([1], device="neuron")).shape == (1, 4)


def test_equal_compares_on_the_device(strict):
    x = torch.arange(4, device="neuron")
    assert torch.equal(x, x.clone())
    assert not torch.equal(x, x + 1)
    assert not torch.equal(x, x[:2])
