"""channels_last in, channels_last out where the CPU does so: the strides of results."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch
from conformance import compare
from conformance.samples import Check, call_of, copied, moved, samples, tensors
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils import _pytree as pytree

# Which of its kernels CPU takes decides there.
UNSPECIFIED = {"nn.functional.scaled_dot_product_attention"}
FORMATS = {4: torch.channels_last, 5: torch.channels_last_3d}


def _has_images(sample: SampleInput) -> bool:
    return any(t.dim() in FORMATS and min(t.shape) > 1 for t in tensors(call_of(sample)))


def image_samples(op: OpInfo, limit: int | None) -> Iterator[SampleInput]:
    """Samples with tensors of four or five dimensions, these in channels_last."""

    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.dim() not in FORMATS:
            return leaf
        return leaf.detach().contiguous(memory_format=FORMATS[leaf.dim()])

    found = (s for s in samples(op, torch.float32, 40) if _has_images(s))
    for sample in islice(found, limit):
        args, kwargs = pytree.tree_map(convert, call_of(sample))
        yield SampleInput(args[0], args=args[1:], kwargs=kwargs)


def _places(t: torch.Tensor) -> list[tuple[int, int]]:
    """Strides that mean anything: of dimensions with more than one element."""
    return [(d, t.stride(d)) for d in range(t.dim()) if t.shape[d] > 1 and t.numel() > 0]


def channels_last(op: OpInfo, sample: SampleInput, device: str) -> None:
    call = call_of(sample)
    args, kwargs = copied(call)
    want = op.op(*args, **kwargs)
    args, kwargs = moved(op.name, call, device)
    got = op.op(*args, **kwargs)
    compare.same_metadata(got, want, None)
    for g, w in zip(tensors(got), tensors(want), strict=True):
        assert _places(g) == _places(w), (
            f"strides {g.stride()} instead of {w.stride()} of {list(w.shape)}"
        )


CHECKS = {
    "test_channels_last_matches_cpu": Check(
        lambda op: torch.float32 in op.supported_dtypes("cpu") and op.name not in UNSPECIFIED,
        image_samples,
        channels_last,
    ),
}
