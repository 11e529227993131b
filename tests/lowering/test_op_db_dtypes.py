"""Every row that PyTorch's op database reaches in other dtypes, against CPU."""

import pytest
import torch
from lowering.op_db import problems_of
from lowering.replay import Recorder
from torch.testing._internal.common_methods_invocations import op_db

RECORDER = Recorder(limit=1)
DTYPES = [torch.bfloat16, torch.int64, torch.bool, torch.uint8]


@pytest.mark.parametrize("op", op_db, ids=lambda op: op.name + op.variant_test_name)
def test_rows_match_cpu(op):
    problems = problems_of(op, DTYPES, 2, RECORDER)
    assert not problems, "\n".join(problems)
