"""Samples of an op: made on the CPU, copied for the CPU call and moved for the device call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
from torch.testing._internal import common_methods_invocations
from torch.testing._internal.opinfo import core
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils import _pytree as pytree

# Many entries of op_db reseed the generator around the call and so look deterministic. Without
# that, a call that draws numbers moves the generator, which is how randomness is recognised.
for _module in (common_methods_invocations, core):
    if hasattr(_module, "wrapper_set_seed"):
        _module.wrapper_set_seed = lambda function, *args, **kwargs: function(*args, **kwargs)

# Arguments that must stay on the CPU whatever the device of the others: op -> positions.
STAYS_ON_CPU = {"tensor_split": (1,)}

Call = tuple[tuple[Any, ...], dict[str, Any]]


@dataclass(frozen=True)
class Check:
    """A test of an op that is run once, not per dtype: which ops have it, on what, and how."""

    supports: Callable[[OpInfo], bool]
    inputs: Callable[[OpInfo, int | None], Iterable[Any]]
    step: Callable[[OpInfo, Any, str], None]  # op, one of the inputs, device


def samples(
    op: OpInfo, dtype: torch.dtype, limit: int | None, requires_grad: bool = False
) -> Iterator[SampleInput]:
    torch.manual_seed(0)
    return islice(op.sample_inputs("cpu", dtype, requires_grad=requires_grad), limit)


def call_of(sample: SampleInput) -> Call:
    return (sample.input, *sample.args), dict(sample.kwargs)


def tensors(tree: Any) -> list[torch.Tensor]:
    return [leaf for leaf in pytree.tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def _replica(t: torch.Tensor, device: str) -> torch.Tensor:
    """A copy with strides and storage offset of its own: a view stays a view of as much memory."""
    if t.is_meta:
        return t  # a sample whose fault this is
    t = t.detach()
    if t.layout != torch.strided or t.is_nested or t.is_conj() or t.is_neg():
        return t.clone() if device == "cpu" else t.to(device)
    elements = t.untyped_storage().nbytes() // t.element_size()
    whole = torch.as_strided(t, (elements,), (1,), 0)
    replica = whole.clone() if device == "cpu" else whole.to(device)
    return replica.as_strided(t.shape, t.stride(), t.storage_offset())


def copied(call: Call) -> Call:
    return pytree.tree_map_only(torch.Tensor, lambda t: _replica(t, "cpu"), call)


def moved(op_name: str, call: Call, device: str) -> Call:
    """The call with its tensors, and any device it names, on `device`."""
    args, kwargs = call
    keep = STAYS_ON_CPU.get(op_name, ())

    def move(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return _replica(leaf, device)
        if isinstance(leaf, torch.device) or (isinstance(leaf, str) and leaf == "cpu"):
            return torch.device(device)
        return leaf

    new_args = tuple(
        a if i in keep and isinstance(a, torch.Tensor) else pytree.tree_map(move, a)
        for i, a in enumerate(args)
    )
    return new_args, pytree.tree_map(move, kwargs)


def names_a_device(call: Call) -> bool:
    return any(isinstance(x, torch.device) or x == "cpu" for x in _names(call))


def _names(call: Call) -> list[Any]:
    return [x for x in pytree.tree_leaves(call) if isinstance(x, (str, torch.device))]


WIDE = {
    torch.float16: torch.float64,
    torch.bfloat16: torch.float64,
    torch.float32: torch.float64,
    torch.complex64: torch.complex128,
}


def widened(call: Call) -> Call:
    """The call in float64 and complex128, dtypes that it names included; shares no memory."""

    def widen(leaf: Any) -> Any:
        if isinstance(leaf, torch.Tensor):
            return leaf.detach().to(WIDE.get(leaf.dtype, leaf.dtype), copy=True)
        return WIDE.get(leaf, leaf) if isinstance(leaf, torch.dtype) else leaf

    return pytree.tree_map(widen, call)
