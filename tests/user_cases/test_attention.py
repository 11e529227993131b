"""Attention and transformer blocks as models write them."""

import pytest
import torch
from user_cases.beside_cpu import agree, compiled, equal

HEADS, KEY, VALUE, POINTS = 2, 16, 32, 49


def _by_split(qkv):
    return qkv.view(-1, HEADS, 2 * KEY + VALUE, POINTS).split([KEY, KEY, VALUE], dim=2)


def _by_narrow(qkv):
    x = qkv.view(-1, HEADS, 2 * KEY + VALUE, POINTS)
    return x.narrow(2, 0, KEY), x.narrow(2, KEY, KEY), x[:, :, 2 * KEY :]


def _attend(cut, qkv):
    q, k, v = cut(qkv)
    scores = (q.transpose(-2, -1) @ k) * KEY**-0.5
    return v @ scores.softmax(-1).transpose(-2, -1)


@pytest.mark.parametrize("batch", [1, 2, 4, 8])
@pytest.mark.parametrize("compile_it", [False, True])
def test_attention_over_a_split_channel_axis(batch, compile_it, fresh_dynamo):
    """U012: splitting a viewed qkv along its channels gave wrong results, worse in batches."""
    qkv = torch.randn(batch, HEADS * (2 * KEY + VALUE), POINTS)
    results = []
    for cut in (_by_split, _by_narrow):
        function = lambda x, cut=cut: _attend(cut, x)  # noqa: E731
        function = compiled(function) if compile_it else function
        results.append(agree(function, qkv, rtol=1e-4, atol=1e-5))
    equal(results[0], results[1].cpu(), exact=True)
