"""docs/reference/operators.md, column "without GpSimd kernel": op_db's calls, compiled.

A row that claims a kind of dtype must compile to programs that call no GpSimd kernel whenever all
its operands and results are of that kind. A row may claim less than its samples show.
"""

import pytest
import torch
from lowering.op_db import record
from lowering.replay import DTYPES, Recorder, encode, prepared, tensors_in
from neuron_testing import compiler, lowering
from torch.testing._internal.common_methods_invocations import op_db

FLOATS = {torch.float32, torch.bfloat16, torch.float16}
REAL32 = FLOATS | {torch.int32, torch.int16, torch.int8, torch.uint8, torch.bool}
CLAIMS = [set(), REAL32, FLOATS, set(DTYPES)]  # by lowering::Native
RECORDER = Recorder(limit=1)
RUN = [torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.uint8, torch.bool]


def places(argument) -> bool:
    """Whether a tensor argument names places; its dtype is then no operand's."""
    return "ind" in argument.name or argument.name == "target"


def operands(call):
    kept = [
        value
        for argument, value in zip(call.schema.arguments, call.arguments, strict=True)
        if not places(argument)
    ]
    return {t.dtype for t in tensors_in([*kept, *call.results]) if t is not None}


def kernels(call) -> list[str]:
    encoded, _ = encode(prepared(call))
    lowered = lowering.lower(call.row["overload"], encoded)
    scalars = [parameter for *_, parameter in lowered["scalars"]]
    return compiler.compile(lowered["proto"], scalars).gpsimd_kernels


@pytest.mark.parametrize("op", op_db, ids=lambda op: op.name + op.variant_test_name)
def test_rows_hold_what_they_claim(op):
    if op.name.startswith("jiterator"):
        pytest.skip("CUDA source as an argument")
    torch.manual_seed(0)
    for dtype in RUN:
        if dtype not in op.supported_dtypes("cpu"):
            continue
        for call in record(op, dtype, 2, RECORDER):
            if not operands(call) or not operands(call) <= CLAIMS[call.row["native"]]:
                continue
            try:
                found = kernels(call)
            except NotImplementedError:
                continue  # a row may refuse a call (op_db.py)
            assert not found, f"{call}: {found}"


def test_most_rows_claim_something():
    claimed = [row for row in lowering.rows() if CLAIMS[row["native"]]]
    assert len(claimed) > 0.7 * len(lowering.rows())
