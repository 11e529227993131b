"""The conformance harness counts what it says and notices what is wrong."""

import pytest
import torch
from conformance import cases, compare, engine, samples
from torch.utils import _pytree as pytree

CASES = [c for c in cases.cases(("float32",), ("test_matches_cpu",))][::6]


@pytest.mark.parametrize("case", CASES[::10], ids=str)
def test_sample_counts_are_op_dbs(case):
    torch.manual_seed(0)
    op = cases.ops()[case.op]
    independent = sum(1 for _ in op.sample_inputs("cpu", torch.float32, requires_grad=False))
    assert engine.run(case, "cpu", None).samples == independent


def test_one_percent_is_noticed(monkeypatch):
    """A device whose results are one percent off fails nearly every floating case."""

    def off_by_a_percent(tree):
        def change(t):
            return t * 1.01 if t.is_floating_point() and t.layout == torch.strided else t

        return pytree.tree_map_only(torch.Tensor, change, tree)

    monkeypatch.setattr(compare, "to_cpu", off_by_a_percent)
    judged, missed = 0, []
    for case in CASES:
        op = cases.ops()[case.op]
        inputs = [samples.call_of(s) for s in samples.samples(op, torch.float32, 3)]
        state = torch.get_rng_state()
        results = [op.op(*samples.copied(c)[0], **samples.copied(c)[1]) for c in inputs]
        is_random = not torch.equal(state, torch.get_rng_state())
        values = [t for t in samples.tensors(results) if t.is_floating_point() and t.numel()]
        if is_random or op.name in compare.UNDEFINED_CONTENT:
            continue
        # Only zeros, infinities and NaN stay what they are when scaled.
        if not any((t.isfinite() & (t.abs() > 1e-3)).any() for t in values if not t.is_sparse):
            continue
        judged += 1
        if engine.run(case, "cpu", 3).passed:
            missed.append(case.op)
    assert judged > 60
    assert len(missed) <= 0.02 * judged, missed
