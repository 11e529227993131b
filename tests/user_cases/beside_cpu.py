"""Runs the same function on CPU and on neuron and compares what comes out and what was written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.utils import _pytree as pytree

DEVICES = ("cpu", "neuron")
# Differences of one rounding; what only moves or counts is compared exactly by `exact=True`.
TOLERANCE = {
    torch.float32: (1e-5, 1e-5),
    torch.float16: (2e-3, 2e-3),
    torch.bfloat16: (1e-2, 1e-2),
}


def agree(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """`function(*arguments)` on copies of the arguments; returns the results on neuron.

    Tensors and modules among the arguments are copied to each device. Results and the tensors of
    the arguments must be equal afterwards: values, dtypes, shapes.
    """
    results, left = {}, {}
    for device in DEVICES:
        copies = pytree.tree_map(lambda value, to=device: _copied(value, to), arguments)
        results[device] = function(*copies)
        left[device] = [value for value in pytree.tree_leaves(copies) if _is_tensor(value)]
    equal(results["neuron"], results["cpu"], **options)
    equal(left["neuron"], left["cpu"], **options)
    return results["neuron"]


def agree_on(function: Callable[[str], Any], **options: Any) -> Any:
    """`function(device)` for both devices; random numbers come from the CPU after one seed."""
    results = {}
    for device in DEVICES:
        torch.manual_seed(0)
        results[device] = function(device)
    equal(results["neuron"], results["cpu"], **options)
    return results["neuron"]


def equal(
    got: Any,
    want: Any,
    *,
    exact: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    strides: bool = False,
) -> None:
    got_leaves, got_form = pytree.tree_flatten(got)
    want_leaves, want_form = pytree.tree_flatten(want)
    assert got_form == want_form
    for ours, theirs in zip(got_leaves, want_leaves, strict=True):
        if not _is_tensor(theirs):
            assert ours == theirs
            continue
        assert ours.device.type == "neuron"
        assert ours.dtype == theirs.dtype, f"{ours.dtype} instead of {theirs.dtype}"
        if strides:
            assert ours.stride() == theirs.stride()
        relative, absolute = TOLERANCE.get(theirs.dtype, (1e-5, 1e-5))
        if exact:
            relative = absolute = 0.0
        torch.testing.assert_close(
            ours.detach().cpu(),
            theirs.detach(),
            rtol=relative if rtol is None else rtol,
            atol=absolute if atol is None else atol,
            equal_nan=True,
        )


def with_gradients(function: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    """The function's result and the gradients of its floating arguments (a module: parameters)."""

    def run(*arguments: Any) -> Any:
        leaves = []
        for value in pytree.tree_leaves(arguments):
            if isinstance(value, torch.nn.Module):
                leaves += [p for p in value.parameters() if p.requires_grad]
            elif _is_tensor(value) and value.is_floating_point():
                leaves.append(value.requires_grad_())
        result = function(*arguments)
        weights = torch.linspace(-1, 1, result.numel()).reshape(result.shape)
        loss = (result.float() * weights.to(result.device)).sum()
        gradients = torch.autograd.grad(loss, leaves, allow_unused=True)
        return result.detach(), [g if g is None else g.detach() for g in gradients]

    return run


def compiled(function: Callable[..., Any], **options: Any) -> Callable[..., Any]:
    """Compiled for whichever device its tensors are on: Inductor is not asked for CPU."""
    on_neuron = torch.compile(function, backend="neuron", **options)

    def run(*arguments: Any) -> Any:
        tensors = [t for t in pytree.tree_leaves(arguments) if _is_tensor(t)]
        here = any(t.device.type == "neuron" for t in tensors)
        return (on_neuron if here else function)(*arguments)

    return run


def _is_tensor(value: Any) -> bool:
    return isinstance(value, torch.Tensor)


def _copied(value: Any, device: str) -> Any:
    if isinstance(value, torch.nn.Module):
        import copy

        return copy.deepcopy(value).to(device)
    if _is_tensor(value):
        return value.detach().clone().to(device)
    return value
