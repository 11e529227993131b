"""Numbers that a kernel learns at run time: loop counters and loaded scalars."""

from __future__ import annotations

from typing import Any, NoReturn

from nki import _core
from nki._errors import NkiValidationError

__all__ = ["NkiScalar", "as_affine"]


class NkiScalar:
    """An integer expression over registers, with bounds that hold for every run.

    `+`, `-` and `*` by integers are free (they become addresses); other arithmetic emits a
    register instruction. Usable wherever a tensor is indexed and as a loop bound.
    """

    __slots__ = ("affine", "max", "min")

    def __init__(self, affine: _core.Affine, least: int, most: int) -> None:
        self.affine = affine
        self.min = least
        self.max = most

    def __repr__(self) -> str:
        return f"NkiScalar({self.affine!r} in [{self.min}, {self.max}])"

    def __add__(self, other: int | NkiScalar) -> NkiScalar:
        if isinstance(other, NkiScalar):
            try:
                total = self.affine.plus(other.affine)
            except _core.Error as error:
                raise NkiValidationError(f"scalar.terms: {error.args[1]}") from None
            return NkiScalar(total, self.min + other.min, self.max + other.max)
        other = int(other)
        return NkiScalar(self.affine.plus(other), self.min + other, self.max + other)

    __radd__ = __add__

    def __neg__(self) -> NkiScalar:
        return NkiScalar(self.affine.times(-1), -self.max, -self.min)

    def __sub__(self, other: int | NkiScalar) -> NkiScalar:
        return self + (-other)

    def __rsub__(self, other: int) -> NkiScalar:
        return -self + other

    def __mul__(self, other: int | NkiScalar) -> NkiScalar:
        if isinstance(other, NkiScalar):
            return _register_alu("mul", self, other)
        ends = (self.min * other, self.max * other)
        return NkiScalar(self.affine.times(int(other)), min(ends), max(ends))

    __rmul__ = __mul__

    def __floordiv__(self, other: int) -> NkiScalar:
        return _register_alu("floordiv", self, other)

    def __mod__(self, other: int) -> NkiScalar:
        return _register_alu("mod", self, other)

    def _compared(self, other: object) -> NoReturn:
        raise NkiValidationError(
            "scalar.compare: what a comparison with a number known at run time only gives cannot "
            "be used; bound the number (nisa.scalar_load(least=, most=)) or compare tiles"
        )

    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _compared
    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        raise NkiValidationError(
            "scalar.branch: a kernel cannot branch on a number known at run time only; "
            "use nl.fori_loop or a predicated copy"
        )

    def __index__(self) -> int:
        if self.affine.is_constant:
            return int(self.affine.base)
        raise NkiValidationError(
            "scalar.index: a number known at run time only was used where Python needs an integer"
        )


def _register_alu(op: str, a: NkiScalar, b: NkiScalar | int) -> NkiScalar:
    from nki._trace import current

    least, most = (b.min, b.max) if isinstance(b, NkiScalar) else (b, b)
    if op == "mul":
        ends = [x * y for x in (a.min, a.max) for y in (least, most)]
    elif least <= 0:
        raise NkiValidationError(f"scalar.{op}: the divisor may be {least}, it must be positive")
    elif op == "floordiv":
        ends = [x // y for x in (a.min, a.max) for y in (least, most)]
    else:
        ends = [0, most - 1]
    trace = current()
    register = trace.builder.add_register(min(ends), max(ends))
    trace.emit("register_alu", "sync", dst=register, op=op, a=a.affine, b=as_affine(b))
    return NkiScalar(_core.Affine(register), min(ends), max(ends))


def as_affine(value: Any) -> _core.Affine:
    return value.affine if isinstance(value, NkiScalar) else _core.Affine(value)
