"""The GPT-like model that the reference figures of PyTorch CPU were taken with."""

import contextlib
from collections.abc import Callable

import torch
from torch import nn
from torch.nn import functional as F


class Layer(nn.Module):
    def __init__(self, width: int, heads: int, gelu: str = "none"):
        super().__init__()
        self.heads, self.gelu = heads, gelu
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        b, t, d = x.shape
        qkv = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, d // self.heads)
        q, k, v = qkv.permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, d))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate=self.gelu))


class GptLike(nn.Module):
    """tokens [B, T] -> logits [B, T, V]."""

    def __init__(
        self, vocabulary=4096, length=256, width=384, heads=6, layers=6, gelu: str = "none"
    ):
        super().__init__()
        self.vocabulary, self.length = vocabulary, length
        self.token, self.position = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Layer(width, heads, gelu) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.token(tokens) + self.position(torch.arange(self.length, device=tokens.device))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x))


def gpt2() -> GptLike:
    """GPT-2 small, untrained: 124M parameters, the head is the embedding."""
    model = GptLike(50257, 1024, 768, heads=12, layers=12, gelu="tanh")
    model.head = nn.Linear(768, model.vocabulary, bias=False)
    for name, parameter in model.named_parameters():
        if parameter.dim() > 1:
            nn.init.normal_(parameter, std=0.02)
        elif name.endswith("bias"):
            nn.init.zeros_(parameter)
    model.head.weight = model.token.weight
    return model


def training_step(
    model: GptLike, device: str, autocast: bool, batch: int = 4
) -> Callable[[], None]:
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    data = torch.randint(model.vocabulary, (batch, model.length + 1)).to(device)
    tokens, targets = data[:, :-1].contiguous(), data[:, 1:].contiguous()

    def step() -> None:
        context = torch.autocast(device, torch.bfloat16) if autocast else contextlib.nullcontext()
        with context:
            logits = model(tokens)
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step
