"""Calls that the CPU refuses: the device refuses them too, with the same class and in its sense."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from conformance.samples import Call, Check, call_of, copied, moved, samples, tensors
from torch.testing._internal.opinfo.core import ErrorInput, OpInfo, SampleInput
from torch.utils import _pytree as pytree

Run = Callable[[Call], Any]


def _refusal(run: Run, call: Call) -> Exception | None:
    try:
        for t in tensors(run(call)):
            t.cpu()  # an error of data appears at the latest when the result is read
    except Exception as e:
        return e
    return None


def compare(run: Run, call: Call, op_name: str, device: str, words: str = "") -> bool:
    """Whether the CPU refuses the call; then the device must. `words`: a pattern for both."""
    wanted = _refusal(run, copied(call))
    if wanted is None:
        return False
    got = _refusal(run, moved(op_name, call, device))
    kind = type(wanted).__name__
    assert got is not None, f"no error; CPU raises {kind}: {wanted}"
    if isinstance(got, NotImplementedError) and not isinstance(wanted, NotImplementedError):
        raise got
    assert isinstance(got, type(wanted)), f"{type(got).__name__} instead of {kind}: {got}"
    if words and re.search(words, str(wanted)):
        assert re.search(words, str(got)), f"{str(got)!r} instead of {str(wanted)!r}"
    return True


# CPU's words depend on the algorithm it takes.
OTHER_WORDS = {"multinomial"}


def wrong_arguments(op: OpInfo, error: ErrorInput, device: str) -> None:
    def run(call: Call) -> Any:
        return op.op(*call[0], **call[1])

    words = "" if op.name in OTHER_WORDS else error.error_regex
    compare(run, call_of(error.sample_input), op.name, device, words)


# Dtypes that an op has no CPU kernel for. An accelerator may have one for the floats of 16 bits.
DTYPES = (torch.bool, torch.int64, torch.uint8, torch.uint16, torch.float32, torch.complex64)


def dtype_samples(op: OpInfo) -> Iterator[SampleInput]:
    """The first sample in each of DTYPES that op_db says the CPU refuses."""
    supported = op.supported_dtypes("cpu")
    own = next((d for d in (torch.float32, *DTYPES) if d in supported), None)
    if own is None:
        return
    for dtype in DTYPES:
        if dtype in supported:
            continue
        for sample in samples(op, own, 1):
            yield _in_dtype(sample, own, dtype)


def _in_dtype(sample: SampleInput, own: torch.dtype, dtype: torch.dtype) -> SampleInput:
    def convert(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or leaf.dtype != own:
            return leaf
        return leaf.detach().to(dtype)

    args, kwargs = pytree.tree_map(convert, call_of(sample))
    return SampleInput(args[0], args=args[1:], kwargs=kwargs)


def dtypes(op: OpInfo, sample: SampleInput, device: str) -> None:
    def run(call: Call) -> Any:
        return op.op(*call[0], **call[1])

    compare(run, call_of(sample), op.name, device)


def overlap(op: OpInfo, sample: SampleInput, device: str) -> None:
    """Written memory that the inputs share in part, or that its own elements share."""
    call = call_of(sample)
    first = next((t for t in tensors(call) if t.numel() > 1 and t.layout == torch.strided), None)
    if first is None:
        return
    for run in _overlapping(op, call, first):
        compare(run, call, op.name, device)


def _shifted(t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Two tensors of t's values that share all but one element of their memory."""
    n = t.numel()
    base = torch.zeros(n + 1, dtype=t.dtype, device=t.device)
    base[:n] = t.reshape(-1)
    return base[:n].view(t.shape), base[1:].view(t.shape)


def _overlapping(op: OpInfo, call: Call, first: torch.Tensor) -> Iterator[Run]:
    position = next(i for i, t in enumerate(tensors(call)) if t is first)

    def replaced(call: Call, new: torch.Tensor, at: int = position) -> Call:
        old = tensors(call)[at]
        return pytree.tree_map(lambda leaf: new if leaf is old else leaf, call)

    if op.supports_out:
        try:
            result = op.op(*copied(call)[0], **copied(call)[1])
        except Exception:
            return

        def into_input(call: Call) -> Any:
            source, out = _shifted(tensors(call)[position])
            args, kwargs = replaced(call, source)
            return op.op(*args, **kwargs, out=out)

        def into_expanded(call: Call) -> Any:
            args, kwargs = call
            device = tensors(call)[0].device
            # Memory for all elements: some kernels of the CPU write as if there were no overlap.
            memory = torch.zeros(result.numel(), dtype=result.dtype, device=device)
            return op.op(*args, **kwargs, out=memory[:1].expand(result.shape))

        if isinstance(result, torch.Tensor) and result.numel() > 1:
            if (result.shape, result.dtype) == (first.shape, first.dtype):
                yield into_input
            yield into_expanded
    if op.inplace_variant is not None and position == 0:

        def in_place(call: Call) -> Any:
            others = tensors(call)[1:]
            mate = next(
                (t for t in others if (t.shape, t.dtype) == (first.shape, first.dtype)), None
            )
            if mate is None:
                return None
            target, other = _shifted(tensors(call)[0])
            args, kwargs = replaced(
                pytree.tree_map(lambda t: other if t is mate else t, call), target
            )
            return op.inplace_variant(*args, **kwargs)

        def in_expanded(call: Call) -> Any:
            target = tensors(call)[0].reshape(-1)[:1].expand(first.shape)
            args, kwargs = replaced(call, target)
            return op.inplace_variant(*args, **kwargs)

        yield in_place
        yield in_expanded


CHECKS = {
    "test_errors_match": Check(
        lambda op: op.error_inputs_func is not None,
        lambda op, _: op.error_inputs("cpu"),
        wrong_arguments,
    ),
    "test_dtypes_are_refused_alike": Check(
        lambda op: not set(DTYPES) <= set(op.supported_dtypes("cpu")),
        lambda op, _: dtype_samples(op),
        dtypes,
    ),
    "test_overlap_matches_cpu": Check(
        lambda op: op.supports_out or op.inplace_variant is not None,
        lambda op, _: samples(op, torch.float32, 1),
        overlap,
    ),
}
