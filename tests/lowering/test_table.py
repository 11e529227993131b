"""The table itself: every row is an overload that exists and that autograd can live with."""

import pytest
import torch
from neuron_testing import lowering

ROWS = {row["overload"]: row for row in lowering.rows()}


# Composite, but with kernels of their own on PyTorch's devices: autograd calls them only while it
# records nothing (derivatives.yaml takes infinitely_differentiable_* forms otherwise).
BACKWARD_KERNELS = {"aten::silu_backward", "aten::mish_backward"}


def schema_of(overload: str):
    name, _, variant = overload.partition(".")
    packet = getattr(torch.ops.aten, name.removeprefix("aten::"))
    return getattr(packet, variant or "default")._schema


def test_overloads_are_unique():
    assert len(ROWS) == len(lowering.rows())


@pytest.mark.parametrize("overload", sorted(set(ROWS) - BACKWARD_KERNELS))
def test_row_is_a_leaf_of_autograd(overload):
    """A kernel on a composite op would cut its gradient without a word."""
    schema = schema_of(overload)
    assert not torch._C._dispatch_has_kernel_for_dispatch_key(
        overload, "CompositeImplicitAutograd"
    ), f"{schema} is composite: PyTorch decomposes it, a row must not exist"


@pytest.mark.parametrize("overload", ROWS)
def test_masks_name_arguments_of_their_kind(overload):
    row = ROWS[overload]
    arguments = schema_of(overload).arguments
    for i in range(32):
        if row["run_time_scalars"] >> i & 1:
            kind = str(arguments[i].type)
            assert "Tensor" in kind or "number" in kind or "float" in kind, (i, kind)
        if row["mutates"] >> i & 1:
            assert "Tensor" in str(arguments[i].type), (i, str(arguments[i].type))


def test_mutating_rows_have_no_functional_row():
    for overload in ROWS:
        base, _, variant = overload.partition(".")
        if base.endswith("_"):
            functional = base[:-1] + ("." + variant if variant else "")
            follows = functional in ROWS and not ROWS[functional]["mutates"]
            assert not follows, f"{overload} follows from {functional} by rule"
