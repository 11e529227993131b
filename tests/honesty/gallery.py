"""Calls of the dense op families: what must run as Tensor, Vector, Scalar and DMA instructions.

An entry is a function of tensors, the shapes of its inputs, and for contractions how many products
it takes: one number, or the bounds (valid taps, taps with padding) of a padded convolution.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F

DTYPES = ("float32", "bfloat16", "float16")


@dataclass(frozen=True)
class Entry:
    name: str
    function: Callable
    shapes: tuple[tuple[int, ...], ...]
    multiplies: tuple[int, int] | None = None  # at least, at most; None: no contraction
    positive: bool = False

    def inputs(self, dtype: str) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(len(self.name))
        made = [torch.randn(s, generator=generator) for s in self.shapes]
        if self.positive:
            made = [t.abs() + 0.5 for t in made]
        return [t.to(getattr(torch, dtype)) for t in made]


def _gradients(function: Callable, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Gradients of a weighted sum of the results; the weights keep them from being trivial."""
    leaves = [t.detach().requires_grad_() for t in inputs]
    result = function(*leaves)
    weights = torch.linspace(0.5, 1.5, result.numel()).reshape(result.shape)
    return torch.autograd.grad(result, leaves, weights.to(result.dtype).to(result.device))


def _pointwise(name: str, function: Callable, count: int = 1, positive: bool = False) -> Entry:
    return Entry(name, function, ((37, 65),) * count, positive=positive)


def _dot(name: str, function: Callable, *shapes: tuple[int, ...], products: int) -> Entry:
    return Entry(name, function, shapes, (products, products))


def _valid_taps(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """How many (output, tap) pairs of one dimension fall on the input."""
    out = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    positions = (o * stride - padding + t * dilation for o in range(out) for t in range(kernel))
    return sum(0 <= p < size for p in positions)


def _conv(name, n, c, size, out_channels, kernel, stride=1, padding=0, dilation=1, groups=1):
    function = partial(F.conv2d, stride=stride, padding=padding, dilation=dilation, groups=groups)
    out = (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1
    planes = n * out_channels * (c // groups)
    valid = planes * _valid_taps(size, kernel, stride, padding, dilation) ** 2
    padded = planes * (out * kernel) ** 2
    shapes = ((n, c, size, size), (out_channels, c // groups, kernel, kernel))
    return Entry(name, function, shapes, (valid, padded))


def _conv_backward(name, n, c, size, out_channels, kernel, stride=1, padding=0, groups=1):
    """Forward, and the gradients of input and weight."""
    forward = _conv(name, n, c, size, out_channels, kernel, stride, padding, 1, groups)
    valid, padded = forward.multiplies
    # Each input pixel meets every tap, also where a stride leaves most without a gradient.
    of_input = n * c * size**2 * kernel**2 * (out_channels // groups)
    function = partial(_gradients, forward.function)
    return Entry(name, function, forward.shapes, (3 * valid, 2 * padded + of_input))


def _attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v)


def _causal_attention(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def _batch_norm(x, w, b):
    return F.batch_norm(x, None, None, w, b, training=True)


POINTWISE = [
    _pointwise("add", torch.add, 2),
    _pointwise("add_scaled", lambda x, y: torch.add(x, y, alpha=0.3), 2),
    _pointwise("sub", torch.sub, 2),
    _pointwise("mul", torch.mul, 2),
    _pointwise("div", torch.div, 2, positive=True),
    _pointwise("maximum", torch.maximum, 2),
    _pointwise("pow_scalar", lambda x: x**3),
    _pointwise("where", lambda x, y: torch.where(x > y, x, y), 2),
    _pointwise("clamp", lambda x: x.clamp(-0.5, 0.5)),
    _pointwise("exp", torch.exp),
    _pointwise("log", torch.log, positive=True),
    _pointwise("sqrt", torch.sqrt, positive=True),
    _pointwise("rsqrt", torch.rsqrt, positive=True),
    _pointwise("reciprocal", torch.reciprocal, positive=True),
    _pointwise("sin", torch.sin),
    _pointwise("tanh", torch.tanh),
    _pointwise("sigmoid", torch.sigmoid),
    _pointwise("erf", torch.erf),
    _pointwise("relu", torch.relu),
    _pointwise("gelu", F.gelu),
    _pointwise("gelu_tanh", partial(F.gelu, approximate="tanh")),
    _pointwise("silu", F.silu),
    _pointwise("softplus", F.softplus),
    _pointwise("floor", torch.floor),
    _pointwise("gelu_backward", partial(_gradients, F.gelu)),
    _pointwise("addcmul", lambda x, y, z: torch.addcmul(x, y, z, value=0.5), 3),
    _pointwise("lerp", lambda x, y: torch.lerp(x, y, 0.25), 2),
    Entry("add_broadcast", torch.add, ((37, 65), (65,))),
]
REDUCTIONS = [
    Entry("sum_rows", lambda x: x.sum(1), ((37, 65),)),
    Entry("sum_columns", lambda x: x.sum(0), ((37, 65),)),
    Entry("sum_all", lambda x: x.sum(), ((37, 65),)),
    Entry("mean", lambda x: x.mean((0, 2)), ((5, 7, 33),)),
    Entry("amax", lambda x: x.amax(1), ((37, 65),)),
    Entry("var", lambda x: x.var(1), ((37, 65),)),
    Entry("argmax", lambda x: x.argmax(1), ((37, 65),)),
    Entry("prod", lambda x: x.prod(1), ((37, 9),)),
    Entry("norm", lambda x: torch.linalg.vector_norm(x, dim=1), ((37, 65),)),
    Entry("logsumexp", lambda x: x.logsumexp(1), ((37, 65),)),
]
CONTRACTIONS = [
    _dot("mm", torch.mm, (37, 65), (65, 29), products=37 * 65 * 29),
    _dot("mm_large", torch.mm, (256, 384), (384, 640), products=256 * 384 * 640),
    _dot("mm_transposed", lambda a, b: a.t() @ b.t(), (65, 37), (29, 65), products=37 * 65 * 29),
    _dot("linear", F.linear, (37, 65), (29, 65), (29,), products=37 * 65 * 29),
    _dot("linear_backward", partial(_gradients, F.linear), (37, 65), (29, 65),
         products=3 * 37 * 65 * 29),
    _dot("bmm", torch.bmm, (5, 17, 33), (5, 33, 9), products=5 * 17 * 33 * 9),
    _dot("matvec", torch.mv, (37, 65), (65,), products=37 * 65),
    _dot("row_times_matrix", torch.mm, (1, 384), (384, 640), products=384 * 640),
    _conv("conv", 2, 3, 9, 8, 3),
    _conv("conv_padded", 2, 8, 8, 16, 3, padding=1),
    _conv("conv_strided", 2, 8, 9, 16, 3, stride=2, padding=1),
    _conv("conv_pointwise", 2, 16, 7, 24, 1),
    _conv("conv_dilated", 2, 4, 11, 8, 3, dilation=2),
    _conv("conv_grouped", 2, 8, 8, 16, 3, groups=2),
    _conv("conv_one_channel", 4, 1, 8, 16, 3, padding=1),
    _conv_backward("conv_backward", 2, 8, 8, 16, 3, padding=1),
    _conv_backward("conv_backward_strided", 2, 8, 9, 16, 3, stride=2, padding=1),
    _conv_backward("conv_backward_pointwise", 2, 16, 7, 24, 1),
    _conv_backward("conv_backward_grouped", 2, 8, 8, 16, 3, padding=1, groups=2),
    _conv_backward("conv_backward_one_channel", 4, 1, 8, 16, 3, padding=1),
    _dot("attention", _attention, (2, 3, 16, 8), (2, 3, 16, 8), (2, 3, 16, 8),
         products=2 * 2 * 3 * 16 * 16 * 8),
    # Forward 2, backward 5 (the scores again); a causal mask may leave out what it hides.
    Entry("attention_backward", partial(_gradients, _causal_attention), ((2, 3, 16, 8),) * 3,
          (7 * 2 * 3 * 8 * 16 * 17 // 2, 7 * 2 * 3 * 16 * 16 * 8)),
]  # fmt: skip
NORMALISATIONS = [
    Entry("softmax", lambda x: x.softmax(1), ((37, 65),)),
    Entry("log_softmax", lambda x: x.log_softmax(1), ((37, 65),)),
    Entry("softmax_backward", partial(_gradients, lambda x: x.softmax(1)), ((37, 65),)),
    Entry("layer_norm", lambda x, w, b: F.layer_norm(x, (65,), w, b), ((37, 65), (65,), (65,))),
    Entry("layer_norm_backward", partial(_gradients, lambda x, w, b: F.layer_norm(x, (65,), w, b)),
          ((37, 65), (65,), (65,))),
    Entry("batch_norm", _batch_norm, ((4, 5, 6, 6), (5,), (5,))),
    Entry("batch_norm_backward", partial(_gradients, _batch_norm), ((4, 5, 6, 6), (5,), (5,))),
    Entry("max_pool", lambda x: F.max_pool2d(x, 2), ((2, 5, 8, 8),)),
    Entry("avg_pool", lambda x: F.avg_pool2d(x, 2), ((2, 5, 8, 8),)),
    Entry("avg_pool_backward", partial(_gradients, lambda x: F.avg_pool2d(x, 2)),
          ((2, 5, 8, 8),)),
    Entry("max_pool_backward", partial(_gradients, lambda x: F.max_pool2d(x, 2)),
          ((2, 5, 8, 8),)),
]  # fmt: skip
MOVEMENT = [
    Entry("transpose", lambda x: x.t().contiguous(), ((37, 65),)),
    Entry("permute", lambda x: x.permute(2, 0, 1).contiguous(), ((5, 7, 33),)),
    Entry("strided_slice", lambda x: x[::2, 1::3].contiguous(), ((37, 65),)),
    Entry("cat", lambda x, y: torch.cat([x, y], 1), ((37, 65), (37, 12))),
    Entry("pad", lambda x: F.pad(x, (1, 2)), ((37, 65),)),
    Entry("expand", lambda x: x.expand(9, 65).contiguous(), ((1, 65),)),
    Entry("cast_bfloat16", lambda x: (x * 2).to(torch.bfloat16), ((37, 65),)),
    Entry("cast_float32", lambda x: x.to(torch.float32) * 2, ((37, 65),)),
    Entry("full_like", lambda x: torch.full_like(x, 3) + x, ((37, 65),)),
]
# Not dense: what a GpSimd kernel is for, by which the checks themselves are checked.
IRREGULAR = {"sort": Entry("sort", lambda x: x.sort(1).values, ((37, 65),))}
ENTRIES = {e.name: e for e in POINTWISE + REDUCTIONS + CONTRACTIONS + NORMALISATIONS + MOVEMENT}


def bytes_of(tensors: list[torch.Tensor]) -> int:
    return sum(math.prod(t.shape) * t.element_size() for t in tensors)
