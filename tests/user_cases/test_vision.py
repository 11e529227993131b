"""Vision models: convolutions at any batch size, resizing, detection, windows."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from user_cases.beside_cpu import agree, agree_on, compiled, with_gradients


class SmallCnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 6, 5)
        self.second = nn.Conv2d(6, 16, 5)
        self.out = nn.Linear(16 * 8 * 8, 10)

    def forward(self, x):
        x = F.max_pool2d(self.first(x).relu(), 2)
        return self.out(self.second(x).flatten(1)).log_softmax(-1)


@pytest.mark.parametrize("batch", [1, 7, 25, 32, 33])
def test_training_at_any_batch_size(batch):
    """U014: a small CNN could be trained only when the batch was a multiple of 25."""

    def function(device):
        model = SmallCnn().to(device)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        x, y = torch.randn(batch, 1, 28, 28).to(device), torch.randint(10, (batch,)).to(device)
        losses = []
        for _ in range(2):
            loss = F.nll_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.detach())
        return losses

    agree_on(function, rtol=1e-4, atol=1e-4)


RESIZES = {
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "bilinear corners": lambda x: F.interpolate(
        x, scale_factor=2, mode="bilinear", align_corners=True
    ),
    "pyramid": lambda x: F.interpolate(F.adaptive_avg_pool2d(x, 3), 16, mode="bilinear"),
    "odd target": lambda x: F.interpolate(F.adaptive_avg_pool2d(x, 5), (7, 13), mode="bilinear"),
    "nearest": lambda x: F.interpolate(x, scale_factor=2, mode="nearest"),
    "nearest odd": lambda x: F.interpolate(x, (11, 5), mode="nearest"),
    "nearest exact": lambda x: F.interpolate(x, (11, 5), mode="nearest-exact"),
    "bicubic": lambda x: F.interpolate(x, (11, 13), mode="bicubic"),
    "bicubic corners": lambda x: F.interpolate(x, (16, 16), mode="bicubic", align_corners=True),
    "antialias": lambda x: F.interpolate(x, (5, 3), mode="bilinear", antialias=True),
    "bicubic antialias": lambda x: F.interpolate(x, (5, 3), mode="bicubic", antialias=True),
    "area": lambda x: F.interpolate(x, (4, 4), mode="area"),
    "pixel shuffle": lambda x: F.pixel_unshuffle(F.pixel_shuffle(x, 2), 2),
}


@pytest.mark.parametrize("resize", RESIZES)
def test_resizing(resize):
    """U015: bilinear upsampling was unknown; pooling to odd sizes failed."""
    x = torch.randn(1, 4, 8, 8)
    agree(with_gradients(RESIZES[resize]), x)
    if "antialias" not in resize:  # which CPU has for fp32 only
        agree(RESIZES[resize], x.bfloat16())


@pytest.mark.parametrize("resize", ["bilinear", "nearest odd", "bicubic", "antialias"])
def test_resizing_compiled(resize, fresh_dynamo):
    """U015: the same in a compiled graph."""
    agree(compiled(RESIZES[resize]), torch.randn(2, 4, 8, 8))


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize("corners", [False, True])
def test_grid_sample(mode, padding, corners):
    """U017: sampling at given points was unknown."""

    def sample(x, grid):
        return F.grid_sample(x, grid, mode, padding, align_corners=corners)

    x, grid = torch.randn(2, 3, 8, 8), torch.rand(2, 5, 5, 2) * 2.6 - 1.3
    agree(with_gradients(sample), x, grid, rtol=1e-4, atol=1e-4)


POST_PROCESSING = {
    "either": lambda a, b: (a > 0) | (b > 0),
    "clamp": lambda a, b: a.clamp_min_(0),
    "affine grid": lambda a, b: F.affine_grid(a[:2, :3].reshape(1, 2, 3), [1, 1, 4, 4]),
    "boxes": lambda a, b: torch.stack([torch.max(a, b), torch.min(a, b)], -1).prod(-1),
    "topk": lambda a, b: a.flatten().topk(5),
    "sort": lambda a, b: a.sort(descending=True),
    "kept": lambda a, b: a[a > 0],
    "where": lambda a, b: torch.where(a > b),
}


@pytest.mark.parametrize("step", POST_PROCESSING)
def test_detection_post_processing(step):
    """U017: what comes after a detector: masks, clamps, boxes, the best ones."""
    agree(POST_PROCESSING[step], torch.randn(6, 8), torch.randn(6, 8))


class VitBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, 16, 16, stride=16)
        self.token = nn.Parameter(torch.randn(1, 1, 16))
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), -1, -1), x], 1)
        q, k, v = self.qkv(self.norm(x)).chunk(3, -1)
        heads = [t.unflatten(-1, (2, 8)).transpose(1, 2) for t in (q, k, v)]
        return x + self.out(F.scaled_dot_product_attention(*heads).transpose(1, 2).flatten(2))


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("compile_it", [False, True])
def test_vit_block_at_any_batch_size(batch, compile_it, fresh_dynamo):
    """U040: vision models compiled at batch 1 and at no other size."""
    run = lambda model, x: model(x)  # noqa: E731
    run = compiled(run) if compile_it else with_gradients(run)
    agree(run, VitBlock(), torch.randn(batch, 3, 48, 32), rtol=1e-4, atol=1e-4)


def _windows(x, size=4):
    x = x.roll(shifts=(-2, -2), dims=(1, 2))
    b, h, w, c = x.shape
    x = x.view(b, h // size, size, w // size, size, c).permute(0, 1, 3, 2, 4, 5)
    return x.reshape(-1, size * size, c)


@pytest.mark.parametrize("batch", [1, 2, 3])
@pytest.mark.parametrize("compile_it", [False, True])
def test_shifted_windows(batch, compile_it, fresh_dynamo):
    """U040: roll and window partition, as in Swin."""
    run = compiled(_windows) if compile_it else with_gradients(_windows)
    agree(run, torch.randn(batch, 8, 8, 6))


class TinyClip(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(20, 16)
        self.patches = nn.Conv2d(3, 16, 8, stride=8)
        self.token = nn.Parameter(torch.randn(16))
        self.qkv = nn.Linear(16, 48)
        self.scale = nn.Parameter(torch.tensor(2.6592))

    def attend(self, x, mask=None):
        q, k, v = self.qkv(x).chunk(3, -1)
        scores = q @ k.transpose(-1, -2) / 4
        return x + (scores if mask is None else scores + mask).softmax(-1) @ v

    def forward(self, tokens, image):
        n = tokens.size(1)
        low = torch.finfo(self.token.dtype).min
        mask = torch.full((n, n), low, dtype=self.token.dtype, device=tokens.device).triu(1)
        text = self.attend(self.embed(tokens), mask)[torch.arange(len(tokens)), tokens.argmax(-1)]
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.token.expand(x.size(0), 1, -1), x], 1)
        picture = self.attend(x)[:, 0]
        text, picture = (t / t.norm(dim=-1, keepdim=True) for t in (text, picture))
        return self.scale.exp() * text @ picture.t()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("compile_it", [False, True])
def test_text_and_image_towers(dtype, compile_it, fresh_dynamo):
    """U011: the similarity of two towers was NaN in every precision."""
    run = lambda model, tokens, image: model(tokens, image)  # noqa: E731
    model = TinyClip().to(dtype).requires_grad_(False)
    arguments = (model, torch.randint(20, (3, 7)), torch.randn(2, 3, 16, 16).to(dtype))
    rtol, atol = (1e-4, 1e-4) if dtype == torch.float32 else (3e-2, 0.3)
    got = agree(compiled(run) if compile_it else run, *arguments, rtol=rtol, atol=atol)
    assert got.isfinite().all()
