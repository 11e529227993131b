"""Calls that differ in one length, for test_run_time_extents.py.

As a program (python run_time_extent_cases.py FILE) it writes what every case gives for every length
of LENGTHS, for another process to compare with.
"""

import random
import sys
from collections.abc import Callable

import torch
from torch.nn import functional as F

random.seed(3)
LENGTHS = [*random.sample(range(2, 65), 63), 128, 129, 300, 777, 1]

Tensors = list[torch.Tensor]
CASES: dict[str, tuple[Callable[[int], Tensors], Callable[..., torch.Tensor]]] = {}


def case(name: str, function: Callable[..., torch.Tensor], make: Callable[[int], Tensors]) -> None:
    CASES[name] = (make, function)


def r(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes)


# Pointwise.
case("relu of rows", torch.relu, lambda t: [r(t, 64)])
case("gelu of a batch of sequences", F.gelu, lambda t: [r(2, t, 64)])
case("sum of two", torch.add, lambda t: [r(t, 64), r(t, 64)])
case("sum with a bias", torch.add, lambda t: [r(t, 64), r(64)])
case("along the last dimension, one broadcast", torch.add, lambda t: [r(3, 12, t), r(1, 1, t)])
case("a column broadcast over a length", torch.mul, lambda t: [r(12, t), r(12, 1)])
case("operands of two orders", torch.mul, lambda t: [r(12, t).t(), r(t, 12)])
case("half precision", torch.mul, lambda t: [r(t, 40).bfloat16(), r(t, 40).bfloat16()])
case("a condition", torch.where, lambda t: [r(t, 5) > 0, r(t, 5), r(t, 5)])
case("integers", torch.add, lambda t: [torch.arange(3 * t).view(3, t), torch.arange(t)])
case("a mask over scores", lambda x, m: x.masked_fill(m, -1e9), lambda t: [r(2, 3, t), r(t) > 0])
case("in place", lambda x, y: x.clone().mul_(y), lambda t: [r(t, 64), r(t, 64)])
case("views of a cache", torch.sub, lambda t: [r(2, 3, 800, 8)[:, :, :t], r(2, 3, t, 8)])
# Copies.
case(
    "cat along a length",
    lambda a, b: torch.cat([a, b], 2),
    lambda t: [r(1, 6, t, 16), r(1, 6, 1, 16)],
)
case("cat of rows", lambda a, b: torch.cat([a, b]), lambda t: [r(t, 64), r(3, 64)])
case("heads to the front", lambda x: x.transpose(0, 1).contiguous(), lambda t: [r(t, 12, 64)])
case("heads to the back", lambda x: x.transpose(0, 1).contiguous(), lambda t: [r(12, t, 64)])
case("another dtype", lambda x: x.to(torch.bfloat16), lambda t: [r(t, 64)])
case("a copy of a view", lambda x: x.contiguous(), lambda t: [r(2, 3, 800, 8)[:, :, :t]])
# Reductions, with the length kept and reduced.
case("sums of rows", lambda x: x.sum(1), lambda t: [r(t, 64)])
case("sums of columns", lambda x: x.sum(0), lambda t: [r(t, 64)])
case("sums over a length", lambda x: x.sum(1), lambda t: [r(12, t)])
case("a sum of all", torch.sum, lambda t: [r(t)])
case("means of rows", lambda x: x.mean(1), lambda t: [r(t, 64)])
case("means over a length", lambda x: x.mean(1), lambda t: [r(12, t)])
case("maxima over a length", lambda x: x.amax(1), lambda t: [r(12, t)])
case("softmax over a length", lambda x: torch.softmax(x, -1), lambda t: [r(2, 6, 1, t)])
case("log_softmax of a batch", lambda x: torch.log_softmax(x, -1), lambda t: [r(t, 100)])
case(
    "layer_norm",
    lambda x, w, b: F.layer_norm(x, (64,), w, b),
    lambda t: [r(2, t, 64), r(64), r(64)],
)
case("a loss", F.mse_loss, lambda t: [r(t, 50), r(t, 50)])
# Products, with the length in every place.
case("rows of a product", torch.mm, lambda t: [r(t, 64), r(64, 48)])
case("columns of a product", torch.mm, lambda t: [r(20, 64), r(64, t)])
case("a contraction", torch.mm, lambda t: [r(20, t), r(t, 48)])
case("a linear layer", F.linear, lambda t: [r(2, t, 64), r(48, 64), r(48)])
case("scores", lambda q, k: q @ k.transpose(1, 2), lambda t: [r(6, 1, 32), r(6, t, 32)])
case("values", torch.bmm, lambda t: [r(6, 1, t), r(6, t, 32)])
case("a batch of products", torch.bmm, lambda t: [r(t, 3, 16), r(t, 16, 20)])
case(
    "attention on a cache",
    F.scaled_dot_product_attention,
    lambda t: [r(1, 6, 1, 32), r(1, 6, t, 32), r(1, 6, t, 32)],
)
case(
    "attention on views of a cache",
    F.scaled_dot_product_attention,
    lambda t: [r(1, 6, 1, 32), r(1, 6, 800, 32)[:, :, :t], r(1, 6, 800, 32)[:, :, :t]],
)
# By index.
case(
    "an embedding",
    lambda i, w: F.embedding(i, w),
    lambda t: [torch.randint(0, 50, (t,)), r(50, 64)],
)
case("cross entropy", F.cross_entropy, lambda t: [r(t, 50), torch.randint(0, 50, (t,))])


def arguments(name: str, length: int) -> Tensors:
    torch.manual_seed(length)
    return CASES[name][0](length)


def on_device(tensors: Tensors) -> Tensors:
    """The same, views of caches being views there, too."""
    moved = []
    for x in tensors:
        base = x._base if x._base is not None else x
        y = base.to("neuron")
        moved.append(y if base is x else y.as_strided(x.shape, x.stride(), x.storage_offset()))
    return moved


def results(name: str) -> dict[int, torch.Tensor]:
    function = CASES[name][1]
    return {t: function(*on_device(arguments(name, t))).cpu() for t in LENGTHS}


if __name__ == "__main__":
    torch.save({name: results(name) for name in CASES}, sys.argv[1])
