"""Attention has no CPU kernel under our overload: judged by CPU's composite and its autograd."""

import pytest
import torch
from lowering.replay import ROWS, Call, check, replay

FORWARD = "aten::_scaled_dot_product_fused_attention_overrideable"
BACKWARD = FORWARD + "_backward"


def call(name: str, *arguments) -> Call:
    overload = getattr(torch.ops.aten, name.removeprefix("aten::")).default
    schema = overload._schema
    values = list(arguments) + [a.default_value for a in schema.arguments[len(arguments) :]]
    return Call(name, ROWS[name], values, schema)


CASES = {
    "plain": {},
    "causal": {"is_causal": True},
    "scaled": {"scale": 0.3},
    "bias": {"bias": (1, 1, 5, 7)},
    "full_bias": {"bias": (2, 4, 5, 7)},
    "hidden_row": {"hidden": True},
    "grouped": {"kv_heads": 2},
    "wide_values": {"value_width": 6},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("case", CASES)
def test_matches_cpu(case, dtype):
    options = dict(CASES[case])
    torch.manual_seed(0)
    kv_heads, width = options.pop("kv_heads", 4), options.pop("value_width", 8)
    query = torch.randn(2, 4, 5, 8, dtype=dtype, requires_grad=True)
    key = torch.randn(2, kv_heads, 7, 8, dtype=dtype, requires_grad=True)
    value = torch.randn(2, kv_heads, 7, width, dtype=dtype, requires_grad=True)
    bias = None
    if "bias" in options:
        bias = torch.randn(options.pop("bias"), dtype=dtype, requires_grad=True)
    if options.pop("hidden", False):
        bias = torch.zeros(1, 1, 5, 7, dtype=dtype)
        bias[0, 0, 2] = -torch.inf
    grad = torch.randn(2, 4, 5, width, dtype=dtype)
    out = torch.nn.functional.scaled_dot_product_attention(
        query, key, value, bias, enable_gqa=kv_heads != 4, **options
    )
    wanted = [t for t in (query, key, value, bias) if t is not None and t.requires_grad]
    gradients = torch.autograd.grad(out, wanted, grad)

    tolerance = (1e-4, 1e-5) if dtype == torch.float32 else (3e-2, 3e-2)
    causal, scale = options.get("is_causal", False), options.get("scale")
    inputs = [query, key, value, bias]
    (got, lse, *_), errors = replay(call(FORWARD, *inputs, 0.0, causal, False, scale))
    assert errors is None
    check("output", got, out.detach(), tolerance)
    assert lse.shape == (2, 4, 5)
    zero = torch.zeros((), dtype=torch.int64)
    mask = [True, True, True, bias is not None and bias.requires_grad]
    backward = call(
        BACKWARD, grad, *inputs, mask, got, lse, None, None, 5, 7, 0.0, causal, zero, zero, scale
    )
    results = [r for r in replay(backward)[0] if r is not None]
    for i, (r, want) in enumerate(zip(results, gradients, strict=True)):
        check(f"gradient {i}", r, want, tolerance)


def test_dropout_drops_the_same_in_backward():
    """With identity-like values the output shows the mask; the gradient of value must use it."""
    query = torch.zeros(1, 1, 4, 4)
    value = torch.eye(4).reshape(1, 1, 4, 4)
    forward = call(FORWARD, query, query, value, None, 0.5, False, False, None)
    out, lse, _, _, _, _, seed, offset, _ = replay(forward)[0]
    kept = out != 0  # [query, key], each 2 * 1/4
    assert 0 < kept.sum() < 16
    check("kept", out[kept], torch.full((int(kept.sum()),), 0.5), (1e-6, 1e-6))
    grad = torch.ones_like(out)
    backward = call(
        BACKWARD, grad, query, query, value, None, [True] * 4, out, lse, None, None, 4, 4, 0.5,
        False, seed, offset, None,
    )  # fmt: skip
    grad_value = replay(backward)[0][2]
    want = out.sum(2, keepdim=True).transpose(2, 3).expand_as(value)
    check("gradient of value", grad_value, want.contiguous(), (1e-5, 1e-6))
