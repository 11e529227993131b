"""Python's operators on tiles: `x - y` is nl.subtract(x, y); `x -= y` writes into x."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nki import isa
from nki._errors import NkiValidationError
from nki._ops import OPS, Op
from nki._scalar import NkiScalar
from nki._tensor import NkiTensor

_NAMES = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "divide",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
}


def _is_operand(value: Any) -> bool:
    return isinstance(value, (NkiTensor, NkiScalar, int, float))


def _binary(op: Op, reflected: bool = False) -> Callable[[NkiTensor, Any], Any]:
    def method(self: NkiTensor, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        return op(other, self) if reflected else op(self, other)

    return method


def _in_place(op: Op) -> Callable[[NkiTensor, Any], Any]:
    def method(self: NkiTensor, other: Any) -> Any:
        if not _is_operand(other):
            return NotImplemented
        if not self.is_on_chip:
            raise NkiValidationError(
                f"{self.name}: it is in {self.buffer}; load it, compute, and store it back"
            )
        if not isinstance(other, NkiTensor) or (
            other.shape != self.shape and other.shape == (self.shape[0], 1)
        ):
            isa.tensor_scalar(self, self, op, other)
        else:
            isa.tensor_tensor(self, self, other.broadcast_to(self.shape), op)
        return self

    return method


def install() -> None:
    for name, op in _NAMES.items():
        if op not in OPS:
            continue
        setattr(NkiTensor, f"__{name}__", _binary(OPS[op]))
        setattr(NkiTensor, f"__r{name}__", _binary(OPS[op], reflected=True))
        setattr(NkiTensor, f"__i{name}__", _in_place(OPS[op]))
    for name, op in _COMPARISONS.items():
        setattr(NkiTensor, f"__{name}__", _binary(OPS[op]))
    setattr(NkiTensor, "__neg__", lambda self: OPS["negate"](self))  # noqa: B010
