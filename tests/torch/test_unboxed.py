"""Overloads of tensors and numbers are called without a stack: results, refusals, references."""

import sys

import pytest
import torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64, torch.float64])
def test_results_and_identity(dtype):
    a, b = torch.rand(5).to(dtype), torch.rand(5).to(dtype)
    c = torch.rand(5).to(dtype)
    da, db, dc = a.to("neuron"), b.to("neuron"), c.to("neuron")
    for function in (
        lambda x, y, z: torch.neg(x),
        lambda x, y, z: torch.mul(x, y),
        lambda x, y, z: torch.add(x, y, alpha=2.5),
        lambda x, y, z: torch.pow(x, 2),
        lambda x, y, z: torch.addcmul(x, y, z, value=0.5),
    ):
        torch.testing.assert_close(function(da, db, dc).cpu(), function(a, b, c))
    for function in (
        lambda x, y, z: x.neg_(),
        lambda x, y, z: x.mul_(y),
        lambda x, y, z: x.add_(y, alpha=2.5),
        lambda x, y, z: x.pow_(2),
        lambda x, y, z: x.addcmul_(y, z, value=0.5),
        lambda x, y, z: x.zero_(),
    ):
        assert function(da, db, dc) is da
        function(a, b, c)
        torch.testing.assert_close(da.cpu(), a)


@pytest.mark.filterwarnings("ignore")
def test_what_falls_back_gives_the_same():
    x = torch.tensor([1, 0, 1], dtype=torch.int16)
    y = torch.special.airy_ai(torch.rand(3).to("neuron"))
    assert y.device.type == "neuron"
    assert torch.gcd(x.to("neuron"), x.to("neuron")).cpu().tolist() == [1, 0, 1]
    z = x.to("neuron")
    assert z.lcm_(z.clone()) is z
    assert z.cpu().tolist() == [1, 0, 1]


def test_nothing_keeps_or_loses_a_reference():
    a, b = torch.ones(4, device="neuron"), torch.ones(4, device="neuron")
    before = sys.getrefcount(a), sys.getrefcount(b), a._use_count(), b._use_count()
    for _ in range(3):
        torch.add(a, b)
        a.add_(b)
        a.add_(a)
        with pytest.raises(RuntimeError):
            torch.add(a, torch.ones(4))  # another device
        with pytest.raises(RuntimeError):
            a.add_(torch.ones(3, device="neuron"))  # another shape
    assert (sys.getrefcount(a), sys.getrefcount(b), a._use_count(), b._use_count()) == before
    assert a.cpu().tolist() == [((1 + 1) * 2 + 1) * 2 * 2 + 2] * 4
