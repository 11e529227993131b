"""Other ways to call an op: into given tensors (out=), in place, and backward."""

from __future__ import annotations

from typing import Any

import torch
from conformance import compare
from conformance.samples import Call, call_of, copied, moved, tensors, widened
from torch.testing._internal.opinfo.core import OpInfo


class NotApplicable(Exception):
    """CPU itself does not take this sample this way."""


def supports(test: str, op: OpInfo, dtype: torch.dtype) -> bool:
    if test == "test_out_matches_cpu":
        return op.supports_out
    if test == "test_in_place_matches_cpu":
        return op.inplace_variant is not None
    return op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")


def out(op: OpInfo, dtype: torch.dtype, sample: Any, device: str) -> None:
    """The results are written into the tensors given, and these are returned."""
    call = call_of(sample)
    args, kwargs = copied(call)
    state = torch.get_rng_state()
    want = _on_cpu(op.op, (args, kwargs))
    _skip_random(state, op)
    if not tensors(want) or len(tensors(want)) != len(_leaves(want)):
        raise NotApplicable

    def call_into(device: str, inputs: Call) -> tuple[Any, list[torch.Tensor]]:
        given = [torch.empty_like(t, device=device) for t in tensors(want)]
        into = given[0] if isinstance(want, torch.Tensor) else tuple(given)
        return op.op(*inputs[0], **inputs[1], out=into), given

    _, on_cpu = _on_cpu(call_into, (("cpu", copied(call)), {}))  # some results take no out=
    try:
        compare.same_values(op, dtype, on_cpu, tensors(want), lambda: ())
    except AssertionError as e:  # fft.ihfftn of one dimension leaves `out` as it was
        raise NotApplicable from e
    returned, given = call_into(device, moved(op.name, call, device))
    for a, b in zip(tensors(returned), given, strict=False):
        assert a.data_ptr() == b.data_ptr(), "the result is not the tensor given"

    def wide() -> list[torch.Tensor]:
        args, kwargs = widened(call)
        return tensors(op.op(*args, **kwargs))

    compare.same_values(op, dtype, compare.to_cpu(given), tensors(want), wide)


def in_place(op: OpInfo, dtype: torch.dtype, sample: Any, device: str) -> None:
    if sample.broadcasts_input:
        raise NotApplicable
    call = call_of(sample)
    on_cpu, on_device = copied(call), moved(op.name, call, device)
    state = torch.get_rng_state()
    _on_cpu(op.inplace_variant, on_cpu)
    _skip_random(state, op)
    got = op.inplace_variant(*on_device[0], **on_device[1])
    first = _leaves(on_device)[0]
    if isinstance(got, torch.Tensor) and isinstance(first, torch.Tensor):
        assert got.data_ptr() == first.data_ptr(), "the result is not the first argument"

    def wide() -> list[torch.Tensor]:
        args, kwargs = inputs = widened(call)
        op.inplace_variant(*args, **kwargs)
        return tensors(inputs)

    after = compare.to_cpu(tensors(on_device))
    compare.same_values(op, dtype, after, tensors(on_cpu), wide)


def gradients(op: OpInfo, dtype: torch.dtype, sample: Any, device: str) -> None:
    """Of a weighted sum of the results, by every input that asks for one."""
    call = call_of(sample)
    wanted = [t.requires_grad for t in tensors(call)]
    state = torch.get_rng_state()
    want = _on_cpu(_gradients, ((op, copied(call), wanted), {}))
    _skip_random(state, op)
    got = _gradients(op, moved(op.name, call, device), wanted)
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        assert (g is None) == (w is None), f"gradient {i}: {g} instead of {w}"
        assert w is None or g.dtype == w.dtype, f"gradient {i}: {g.dtype} instead of {w.dtype}"
    pairs = [(g.cpu(), w) for g, w in zip(got, want, strict=True) if w is not None]

    def wide() -> list[torch.Tensor]:
        truth = _gradients(op, widened(call), wanted)
        return [t for t, w in zip(truth, want, strict=True) if w is not None]

    compare.same_values(op, dtype, [g for g, _ in pairs], [w for _, w in pairs], wide)


def _gradients(op: OpInfo, call: Call, wanted: list[bool]) -> tuple:
    leaves = [t for t, w in zip(tensors(call), wanted, strict=True) if w]
    for leaf in leaves:
        leaf.requires_grad_()
    results = [t for t in tensors(op.op(*call[0], **call[1])) if t.requires_grad]
    if not leaves or not results:
        raise NotApplicable
    weights = [torch.linspace(0.5, 1.5, r.numel()).reshape(r.shape).to(r) for r in results]
    return torch.autograd.grad(results, leaves, weights, allow_unused=True)


def _on_cpu(function: Any, call: Call) -> Any:
    try:
        return function(*call[0], **call[1])
    except Exception as e:
        raise NotApplicable from e


def _skip_random(state: torch.Tensor, op: OpInfo) -> None:
    if op.name in compare.UNDEFINED_CONTENT or not torch.equal(state, torch.get_rng_state()):
        raise NotApplicable


def _leaves(tree: Any) -> list:
    return torch.utils._pytree.tree_leaves(tree)


STEPS = {
    "test_out_matches_cpu": out,
    "test_in_place_matches_cpu": in_place,
    "test_gradients_match_cpu": gradients,
}
