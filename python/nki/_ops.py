"""Operators as nl names them: passed to instructions as `op`, or called on tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nki import _core
from nki._errors import NkiValidationError

__all__ = ["OPS", "Op", "activation_name", "alu_name"]

_ALU = {name: arity for name, arity, _, _ in _core.alu_operators()}
_ACTIVATIONS = {name for name, _ in _core.activation_functions()}
# Names that nl spells otherwise than the ALU table, and NumPy's for nl's.
_ALU_NAMES = {
    "max": "maximum",
    "min": "minimum",
    "sum": "add",
    "mod": "remainder",
    "fmod": "remainder",
}
_NUMPY_NAMES = {"amax": "maximum", "amin": "minimum", "true_divide": "divide", "sum": "add"}


class Op:
    """nl.add and its like: `alu` and `activation` are its names in the two operator tables."""

    def __init__(self, name: str) -> None:
        alu = _ALU_NAMES.get(name, name)
        self.name = name
        self.alu: str | None = alu if alu in _ALU else None
        self.activation: str | None = name if name in _ACTIVATIONS else None
        self.arity = _ALU[alu] if self.alu else 1
        self.call: Callable[..., Any] | None = None  # the tile-level function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.call is None:
            raise NkiValidationError(f"nl.{self.name}: is passed as an operator, not called")
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"nl.{self.name}"


OPS: dict[str, Op] = {name: Op(name) for name in sorted({*_ALU, *_ACTIVATIONS, *_ALU_NAMES})}


def _find(op: Any) -> Op | None:
    if isinstance(op, Op):
        return op
    name = op if isinstance(op, str) else getattr(op, "__name__", "")
    return OPS.get(_NUMPY_NAMES.get(name, name))


def alu_name(op: Any, what: str = "op") -> str | None:
    """The ALU table's name of an nl operator, a NumPy function or a name; None for None."""
    if op is None:
        return None
    found = _find(op)
    if found is None or found.alu is None:
        raise NkiValidationError(f"{what}: {op!r} is no ALU operator")
    return found.alu


def activation_name(op: Any) -> str:
    found = _find(op)
    if found is None or found.activation is None:
        raise NkiValidationError(f"op: {op!r} is no activation function")
    return found.activation
