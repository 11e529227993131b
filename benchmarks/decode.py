"""Decoding with the GPT-like model: one token at a time, on caches that grow by it."""

from collections.abc import Callable, Iterator

import torch
from torch.nn import functional as F

from benchmarks.gpt import GptLike, Layer
from benchmarks.measure import Record, compare

PROMPT, TOKENS = 64, 64
Cache = tuple[torch.Tensor, torch.Tensor]


def next_of(layer: Layer, x: torch.Tensor, cache: Cache) -> tuple[torch.Tensor, Cache]:
    """x [B, 1, D] -> the layer's result, and keys and values [B, H, T + 1, D / H]."""
    b, t, d = x.shape
    qkv = layer.qkv(layer.norm1(x)).view(b, t, 3, layer.heads, d // layer.heads)
    q, k, v = qkv.permute(2, 0, 3, 1, 4)
    cache = torch.cat([cache[0], k], 2), torch.cat([cache[1], v], 2)
    y = F.scaled_dot_product_attention(q, *cache)
    x = x + layer.out(y.transpose(1, 2).reshape(b, t, d))
    return x + layer.down(F.gelu(layer.up(layer.norm2(x)))), cache


def generation(model: GptLike, device: str, dtype: torch.dtype, batch: int) -> Callable[[], None]:
    """TOKENS tokens after a prompt, whose caches are numbers that stand for it."""
    model = model.to(device=device, dtype=dtype)
    heads, width = model.layers[0].heads, model.token.embedding_dim
    prompt = torch.randn(batch, heads, PROMPT, width // heads).to(device=device, dtype=dtype)

    @torch.inference_mode()
    def run() -> None:
        caches = [(prompt, prompt)] * len(model.layers)
        token = torch.zeros(batch, 1, dtype=torch.long, device=device)
        for n in range(PROMPT, PROMPT + TOKENS):
            x = model.token(token) + model.position.weight[n]
            for i, layer in enumerate(model.layers):
                x, caches[i] = next_of(layer, x, caches[i])
            token = model.head(model.norm(x)).argmax(-1)
        token.cpu()

    return run


def decode() -> Iterator[Record]:
    """The GPT-like model: d 384, 6 heads, 6 layers, V 4096; tokens 65 to 128."""
    for dtype in (torch.float32, torch.bfloat16):
        for batch in (1, 8):
            runs = {}
            for device in ("neuron", "cpu"):
                torch.manual_seed(0)
                runs[device] = generation(GptLike(), device, dtype, batch)
            name = f"decode {str(dtype).removeprefix('torch.')}, batch {batch}"
            yield compare(
                "decode",
                name,
                runs["neuron"],
                runs["cpu"],
                unit="ms/token",
                calls=TOKENS,
                rounds=3,
            )
