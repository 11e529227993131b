"""nn's attention layers in evaluation take fast paths of their own: on the device, equal to CPU."""

import copy

import pytest
import torch
from torch import nn

pytestmark = pytest.mark.usefixtures("strict")

PADDING = torch.zeros(2, 5, dtype=torch.bool)
PADDING[1, 3:] = True
CAUSAL = nn.Transformer.generate_square_subsequent_mask(5)
MASKS = {
    "none": {},
    "padding": {"src_key_padding_mask": PADDING},
    "causal": {"src_mask": CAUSAL},
    "bool": {"src_mask": CAUSAL.isinf()},
    "both": {"src_mask": CAUSAL, "src_key_padding_mask": PADDING},
}


def on_device(tree):
    return torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.to("neuron"), tree)


def agree(module, *args, **kwargs):
    module.eval()
    with torch.no_grad():
        want = module(*args, **kwargs)
        got = copy.deepcopy(module).to("neuron")(*on_device(args), **on_device(kwargs))
    got = torch.utils._pytree.tree_map_only(torch.Tensor, lambda t: t.cpu(), got)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_encoder_layer(norm_first, activation, mask):
    layer = nn.TransformerEncoderLayer(
        16, 4, 32, activation=activation, norm_first=norm_first, batch_first=True
    )
    agree(layer, torch.randn(2, 5, 16), **MASKS[mask])


@pytest.mark.parametrize("mask", MASKS)
def test_encoder(mask):
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    options = {"mask" if k == "src_mask" else k: v for k, v in MASKS[mask].items()}
    agree(encoder, torch.randn(2, 5, 16), **options)


def test_encoder_of_padded_sequences():
    """CPU makes a nested tensor of them and returns zeros, or a shorter batch, for the padding."""
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)
    encoder.eval()
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        want = encoder(x, src_key_padding_mask=PADDING)
        got = copy.deepcopy(encoder).to("neuron")(
            x.to("neuron"), src_key_padding_mask=PADDING.to("neuron")
        )
    for row in range(2):
        valid = int((~PADDING[row]).sum())
        torch.testing.assert_close(got[row, :valid].cpu(), want[row, :valid], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"need_weights": False},
        {"average_attn_weights": False},
        {"key_padding_mask": PADDING},
        {"attn_mask": CAUSAL, "need_weights": False},
    ],
    ids=str,
)
def test_multi_head_attention(options):
    attention = nn.MultiheadAttention(16, 4, batch_first=True)
    x = torch.randn(2, 5, 16)
    agree(attention, x, x, x, **options)
    memory = torch.randn(2, 5, 16)
    agree(attention, x, memory, memory, **options)
