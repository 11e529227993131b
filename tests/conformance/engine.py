"""Runs one case and says how it went. No pytest here: the report uses the same engine."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from dataclasses import dataclass, field

import torch
from conformance import compare, variants
from conformance.cases import CHECKS, Case, ops
from conformance.samples import (
    call_of,
    copied,
    moved,
    names_a_device,
    samples,
    tensors,
    widened,
)


@dataclass
class Result:
    case: str
    samples: int = 0
    first_failure: int = -1  # index of the first sample that failed, -1: none
    message: str = ""
    fallbacks: dict[str, int] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        return self.first_failure < 0


def run(case: Case, device: str, limit: int | None) -> Result:
    """Every sample up to `limit`; stops at the first that fails."""
    warnings.simplefilter("ignore")
    result = Result(str(case))
    _clear_fallbacks(device)
    step = _step_of(case)
    op = ops()[case.op]
    try:
        if case.test in CHECKS:
            inputs = [(None, s) for s in CHECKS[case.test].inputs(op, limit)]
        else:
            dtype = getattr(torch, case.dtype)
            backward = case.test == "test_gradients_match_cpu"
            inputs = [(dtype, s) for s in samples(op, dtype, limit, requires_grad=backward)]
    except Exception as e:
        return Result(str(case), 0, 0, f"op_db cannot make samples: {_one_line(e)}")
    for index, (dtype, sample) in enumerate(inputs):
        result.samples += 1
        try:
            step(case, op, dtype, sample, device)
        except variants.NotApplicable:
            continue
        except Exception as e:
            result.first_failure = index
            result.message = f"{type(e).__name__}: {_one_line(e)}"
            break
    result.fallbacks = _fallbacks(device)
    return result


def _step_of(case: Case):
    if case.test in variants.STEPS:
        variant = variants.STEPS[case.test]
        return lambda case, op, dtype, sample, device: variant(op, dtype, sample, device)
    if case.test in CHECKS:
        check = CHECKS[case.test].step
        return lambda case, op, dtype, sample, device: check(op, sample, device)
    return _match


def _match(case: Case, op, dtype, sample, device: str) -> None:
    call = call_of(sample)
    cpu_call, device_call = copied(call), moved(op.name, call, device)
    state = torch.get_rng_state()
    want = op.op(*cpu_call[0], **cpu_call[1])
    is_random = not torch.equal(state, torch.get_rng_state())
    # A factory that is told no device makes its tensor on the default one.
    is_factory = not tensors(call) and not names_a_device(call)
    with torch.device(device) if is_factory else nullcontext():
        got = op.op(*device_call[0], **device_call[1])
    places = {t.device.type for t in tensors(want)}

    def on_meta():
        args, kwargs = moved(op.name, call, "meta")
        return op.op(*args, **kwargs)

    compare.same_metadata(got, want, device if places == {"cpu"} else None, on_meta)
    if is_random or op.name in compare.UNDEFINED_CONTENT:
        return
    got = compare.to_cpu(got)

    def wide():
        args, kwargs = wide_call = widened(call)
        return op.op(*args, **kwargs), tensors(wide_call)

    try:
        compare.same_values(op, dtype, got, want, lambda: wide()[0])
    except AssertionError:
        if not compare.same_up_to_ties(case.op, call, got, want):
            raise
    # An argument may be written although the schema does not say so (running statistics).
    try:
        after = compare.to_cpu(tensors(device_call))
        compare.same_values(op, dtype, after, tensors(cpu_call), lambda: wide()[1])
    except AssertionError as e:
        raise AssertionError(f"inputs after the call: {e}") from e


def _one_line(e: BaseException) -> str:
    text = " ".join(str(e).split())
    return text if len(text) <= 300 else text[:297] + "..."


def _clear_fallbacks(device: str) -> None:
    if device == "neuron":
        import torch_neuronx

        torch_neuronx.clear_op_tracking()


def _fallbacks(device: str) -> dict[str, int]:
    if device != "neuron":
        return {}
    import torch_neuronx

    return torch_neuronx.get_fallback_counts()
