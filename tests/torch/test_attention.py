"""Scaled dot product attention and its gradients on the device, eager and compiled, against CPU."""

import pytest
import torch
from torch.nn import functional as F

CASES = {  # batch, heads, heads of keys, queries, keys, width; options
    "whole tiles, causal": ((2, 3, 3, 256, 256, 64), {"is_causal": True}),
    "tails": ((1, 2, 2, 130, 259, 40), {}),
    "tails, causal": ((1, 2, 2, 150, 150, 17), {"is_causal": True}),
    "more queries than keys, causal": ((1, 2, 2, 300, 90, 32), {"is_causal": True}),
    "one query": ((2, 4, 4, 1, 77, 64), {}),
    "grouped": ((1, 4, 2, 140, 140, 32), {"enable_gqa": True, "is_causal": True}),
    "scaled": ((1, 2, 2, 64, 64, 8), {"scale": 0.3}),
    "bias": ((2, 2, 2, 140, 200, 32), {"mask": "bias"}),
    "hidden keys": ((2, 2, 2, 140, 200, 32), {"mask": "hidden"}),
    "a row that sees nothing": ((1, 2, 2, 140, 140, 16), {"mask": "blind row"}),
}
TOLERANCE = {torch.float32: 2e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def make_mask(kind, batch, queries, keys, dtype):
    if kind == "bias":
        return torch.randn(batch, 1, queries, keys, dtype=dtype)
    mask = torch.rand(batch, 1, queries, keys) > 0.3
    if kind == "blind row":
        mask[:, :, queries // 2] = False
    return mask


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()


def attend(q, k, v, mask, grad, options, wrap=lambda function: function):
    inputs = [x.detach().requires_grad_() for x in (q, k, v)]

    @wrap
    def attention(q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **options)

    out = attention(*inputs, mask)
    return (out.detach(), *torch.autograd.grad(out, inputs, grad))


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_matches_cpu(case, dtype, mode):
    torch.manual_seed(0)
    (batch, heads, shared, queries, keys, width), options = CASES[case]
    options = dict(options)
    mask = options.pop("mask", None)
    if mask is not None:
        mask = make_mask(mask, batch, queries, keys, dtype)
    tensors = [
        torch.randn(batch, heads, queries, width, dtype=dtype),
        torch.randn(batch, shared, keys, width, dtype=dtype),
        torch.randn(batch, shared, keys, width, dtype=dtype),
        mask,
        torch.randn(batch, heads, queries, width, dtype=dtype),
    ]
    want = attend(*(x if x is None or (x is mask and x.dtype == torch.bool) else x.float()
                    for x in tensors), options)  # fmt: skip
    placed = [None if x is None else x.to("neuron") for x in tensors]
    wrap = torch.compile(backend="neuron", fullgraph=True) if mode == "compiled" else (lambda f: f)
    got = attend(*placed, options, wrap)
    for name, g, w in zip(("output", "query", "key", "value"), got, want, strict=True):
        error = (g.cpu().float() - w).abs().max() / w.abs().max()
        assert error < TOLERANCE[dtype], f"{name}: {error:.1e} of the largest element"
