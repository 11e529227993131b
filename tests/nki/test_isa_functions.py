"""nki.isa covers the instruction table, and its docstrings come from there."""

import inspect

import nki.isa as nisa
import nki.language as nl
import pytest

from nki import _core

ROWS = {row["mnemonic"]: row for row in _core.instructions()}
# Not public instructions: control flow, registers (nl.dynamic_range, NkiScalar) and our kernels.
INTERNAL = {"gpsimd_kernel", "loop_begin", "loop_end", "register_alu", "while_begin"}
# Operands of the table that NKI spells otherwise.
SPELLED = {
    "tensor_reduce": {"num_reduced": "axis"},
    "dma_copy": dict.fromkeys(("index", "index_side", "index_step", "index_bound"), "src")
    | {"trigger_engine": "engine"},
    "dma_transpose": dict.fromkeys(("index", "index_side", "index_step", "index_bound"), "src"),
    "dma_compute": dict.fromkeys(("index", "index_side", "index_step", "index_bound"), "srcs")
    | {"op": "reduce_op"},
    "activation": {"alpha": "op"},
}


@pytest.mark.parametrize("mnemonic", sorted(set(ROWS) - INTERNAL))
def test_every_row_is_a_function_with_its_operands(mnemonic):
    function = getattr(nisa, mnemonic)
    assert mnemonic in nisa.__all__
    parameters = inspect.signature(function).parameters
    for operand in ROWS[mnemonic]["operands"]:
        name = SPELLED.get(mnemonic, {}).get(operand["name"], operand["name"])
        assert name in parameters, f"{mnemonic} has no parameter {name}"
    if mnemonic not in ("register_load", "register_store"):
        assert ROWS[mnemonic]["summary"] in function.__doc__
        assert f"Source: {ROWS[mnemonic]['source']}" in function.__doc__


@pytest.mark.parametrize(("name", "mnemonic"), _core.public_names())
def test_every_public_name_has_a_row_and_a_function(name, mnemonic):
    assert mnemonic in ROWS
    assert name in nisa.__all__
    assert (getattr(nisa, name).__doc__ or "").strip()


def test_every_operator_has_a_name_in_the_language():
    for name, *_ in _core.alu_operators():
        assert hasattr(nl, name), name
    for name, *_ in _core.activation_functions():
        assert hasattr(nl, name), name


def test_all_lists_are_exact():
    for module in (nl, nisa):
        assert len(set(module.__all__)) == len(module.__all__)
        for name in module.__all__:
            assert hasattr(module, name), name
