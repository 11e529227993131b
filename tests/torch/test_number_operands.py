"""Halves with numbers and integers: rounded to the half before the operation, as CPU does."""

import pytest
import torch
import torch.nn.functional as F

OPS = {
    "add": lambda x, s: x + s,
    "sub": lambda x, s: x - s,
    "rsub": lambda x, s: s - x,
    "mul": lambda x, s: x * s,
    "div": lambda x, s: x / s,
    "rdiv": lambda x, s: s / x,
    "floor_divide": lambda x, s: x // s,
    "eq": lambda x, s: x == s,
    "ne": lambda x, s: x != s,
    "lt": lambda x, s: x < s,
    "le": lambda x, s: x <= s,
    "ge": lambda x, s: x >= s,
    "fmod": torch.fmod,
    "remainder": torch.remainder,
    "hardshrink": F.hardshrink,
    "clamp_min": lambda x, s: x.clamp_min(s),
    "where": lambda x, s: torch.where(x > 0, x, s),
    "masked_fill": lambda x, s: x.masked_fill(x > 0, s),
    "threshold": lambda x, s: F.threshold(x, s, s),
    "double_scalar": lambda x, s: x == torch.tensor(s, dtype=torch.float64),
}


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("op", OPS)
def test_numbers(op, dtype):
    generator = torch.Generator().manual_seed(0)
    for number in (0.1, 7.7, 0.3, 1.7):  # none of them is a half
        x = torch.randn(200, generator=generator)
        x = torch.cat([x, torch.full((8,), number)]).to(dtype)
        want = OPS[op](x, number)
        got = OPS[op](x.to("neuron"), number).cpu()
        assert got.dtype == want.dtype
        torch.testing.assert_close(got, want, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("op", ["add", "sub", "mul", "true_divide"])
def test_integer_tensors(op, dtype):
    x = torch.tensor([3.0, 1.5, 5.0, -2.0], dtype=dtype)
    integers = torch.tensor([257, 1027, 2049, -4097])
    want = getattr(torch, op)(x, integers)
    got = getattr(torch, op)(x.to("neuron"), integers.to("neuron")).cpu()
    torch.testing.assert_close(got, want, rtol=0, atol=0)
    assert torch.equal(x.clone().mul_(integers), x.to("neuron").mul_(integers.to("neuron")).cpu())
