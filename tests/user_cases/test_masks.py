"""Masks: the smallest float, fully masked rows, boolean tensors."""

import pytest
import torch
import torch.nn.functional as F
from user_cases.beside_cpu import agree, compiled, with_gradients

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("compile_it", [False, True])
def test_smallest_float_times_zero_is_zero(dtype, compile_it, fresh_dynamo):
    """U007: the mask's smallest float became -inf in a silent cast, and -inf * 0 is NaN."""

    def mask(m):
        return (1 - m) * torch.finfo(dtype).min

    function = compiled(mask) if compile_it else mask
    got = agree(function, torch.ones(1, 8, dtype=dtype), exact=True)
    assert (got == 0).all()


def test_smallest_float32_overflows_in_bfloat16_only():
    """U007: fp32 is stored as fp32; the cast gives -inf, as on CPU."""
    x = torch.tensor(torch.finfo(torch.float32).min)
    assert agree(lambda x: x * 1, x, exact=True).item() == x.item()
    assert agree(lambda x: x.to(torch.bfloat16), x, exact=True).item() == float("-inf")


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("value", ["min", "inf"])
def test_softmax_of_masked_scores(dtype, value):
    """U007: a fully masked row behaves as on CPU, NaN or not."""
    low = torch.finfo(dtype).min if value == "min" else float("-inf")
    scores, mask = torch.randn(4, 8), torch.zeros(4, 8, dtype=torch.bool)
    mask[1, 3:] = mask[2] = True
    agree(lambda s, m: s.to(dtype).masked_fill(m, low).softmax(-1), scores, mask)
    agree(lambda s, m: (s.to(dtype) + torch.where(m, low, 0.0).to(dtype)).softmax(-1), scores, mask)


MASKS = {
    "boolean": lambda m: m,
    "additive": lambda m: torch.zeros(m.shape).to(m.device).masked_fill(~m, float("-inf")),
    "smallest float": lambda m: (
        torch.zeros(m.shape).to(m.device).masked_fill(~m, torch.finfo(torch.float32).min)
    ),
}


@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize("row", ["one row masked", "no row masked", "all masked"])
@pytest.mark.parametrize("gradients", [False, True])
def test_attention_with_a_fully_masked_row(kind, row, gradients):
    """U009: padded batches gave NaN on the device only."""
    q, k, v = (torch.randn(2, 4, 8, 16) for _ in range(3))
    mask = torch.rand(2, 1, 8, 8) > 0.3
    mask[..., 0] = True
    if row == "one row masked":
        mask[0, :, 3] = False
    elif row == "all masked":
        mask[:] = False

    def attend(q, k, v, m):
        return F.scaled_dot_product_attention(q, k, v, MASKS[kind](m))

    agree(with_gradients(attend) if gradients else attend, q, k, v, mask, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("compile_it", [False, True])
def test_scores_masked_by_where(compile_it, fresh_dynamo):
    """U009: the GPT-2 way of writing it."""

    def attend(q, k, v, m):
        scores = q @ k.transpose(-1, -2) / q.size(-1) ** 0.5
        scores = torch.where(m, scores, torch.full([], torch.finfo(scores.dtype).min).to(m.device))
        return scores.softmax(-1) @ v

    q, k, v = (torch.randn(2, 4, 8, 16) for _ in range(3))
    mask = torch.ones(8, 8, dtype=torch.bool).tril()
    mask[5] = False
    agree(compiled(attend) if compile_it else attend, q, k, v, mask, atol=1e-5, rtol=1e-4)


BOOLEANS = {
    "set one": lambda m: [m.__setitem__(2, True), m.__setitem__(-1, True), m][-1],
    "set a slice": lambda m: [m.__setitem__(slice(1, None, 3), True), m][-1],
    "new_ones": lambda m: m.new_ones((), dtype=torch.bool),
    "ones": lambda m: torch.ones(4, 4, dtype=torch.bool, device=m.device).tril(),
    "triu": lambda m: torch.ones(4, 4, dtype=torch.bool, device=m.device).triu(1),
    "not": lambda m: ~m,
    "and": lambda m: m & m.flip(0),
    "or": lambda m: m | m.flip(0),
    "xor": lambda m: m ^ m.flip(0),
    "sum": lambda m: m.sum(),
    "any": lambda m: (m.any(), m.any(0), m.reshape(2, 4).any(1)),
    "all": lambda m: (m.all(), m.all(0), m.reshape(2, 4).all(1)),
    "cumsum": lambda m: m.cumsum(0),
    "max": lambda m: (m.max(), m.int().argmax()),
    "float": lambda m: m.float() * 2,
    "cat": lambda m: torch.cat([m, ~m]),
    "where": lambda m: torch.where(m, ~m, m),
    "equal to": lambda m: m == m.flip(0),
    "fill": lambda m: m.fill_(True),
    "masked_fill": lambda m: m.masked_fill(m.flip(0), True),
}


@pytest.mark.parametrize("op", BOOLEANS)
@pytest.mark.parametrize("compile_it", [False, True])
def test_boolean_tensors(op, compile_it, fresh_dynamo):
    """U145: creating, setting and reducing boolean tensors failed one way or another."""
    function = compiled(BOOLEANS[op]) if compile_it else BOOLEANS[op]
    agree(function, torch.zeros(8, dtype=torch.bool), exact=True)
    agree(function, torch.arange(8) % 3 == 0, exact=True)


def test_boolean_mask_is_causal_attention():
    """U145: a lower triangle of True and is_causal=True mean the same."""
    q, k, v = (torch.randn(1, 2, 8, 16) for _ in range(3))

    def masked(q, k, v):
        mask = torch.ones(8, 8, dtype=torch.bool, device=q.device).tril()
        return F.scaled_dot_product_attention(q, k, v, mask)

    def causal(q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)

    one, other = agree(masked, q, k, v), agree(causal, q, k, v)
    torch.testing.assert_close(one, other)
