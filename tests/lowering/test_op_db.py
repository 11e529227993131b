"""Every row that PyTorch's op database reaches in f32, forward and backward, against CPU."""

import pytest
import torch
from lowering.op_db import REFUSES, UNDEFINED, WIDE, problems_of
from lowering.replay import ROWS, TOLERANCE, Recorder, compare
from torch.testing._internal.common_methods_invocations import op_db

RECORDER = Recorder(limit=1)


@pytest.mark.parametrize("op", op_db, ids=lambda op: op.name + op.variant_test_name)
def test_rows_match_cpu(op):
    problems = problems_of(op, [torch.float32], 6, RECORDER)
    assert not problems, "\n".join(problems)


def test_perturbed_results_fail():
    """The comparison is able to fail: results off by one percent do."""
    recorder = Recorder()
    x = torch.rand(4, 4)
    with recorder:
        torch.tanh(x)
    (call,) = recorder.calls
    call.results[0] *= 1.01
    with pytest.raises(AssertionError, match="aten::tanh"):
        compare(call)


def test_tolerances_are_those_of_dtypes_with_rounding():
    assert all(d.is_floating_point or d.is_complex for d in TOLERANCE)
    assert UNDEFINED | set(WIDE) <= set(ROWS)
    assert set(REFUSES) <= set(ROWS)
