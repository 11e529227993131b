"""Run-time scalars: registers of the sequencers."""

from __future__ import annotations

from typing import Any

from nki import _core
from nki._errors import NkiValidationError
from nki._scalar import NkiScalar, as_affine
from nki._tensor import NkiTensor
from nki._trace import current

__all__ = ["register_alloc", "register_load", "register_move", "scalar_load"]

_INT32 = (-(2**31), 2**31 - 1)


class VirtualRegister(NkiScalar):
    """A register that register_move and register_load write."""

    __slots__ = ("register",)

    def __init__(self) -> None:
        self.register = current().builder.add_register(*_INT32)
        super().__init__(_core.Affine(self.register), *_INT32)


def register_alloc(x: int | None = None) -> VirtualRegister:
    """A new register, with the value `x` if given."""
    register = VirtualRegister()
    if x is not None:
        register_move(register, x)
    return register


def register_move(dst: VirtualRegister, src: int | NkiScalar) -> None:
    """dst = src."""
    current().emit("register_alu", "sync", dst=dst.register, op="move", a=as_affine(src))


def _element(src: NkiTensor) -> _core.AccessPattern:
    if src.size != 1:
        raise NkiValidationError(f"register_load.shape: {list(src.shape)}, expected one element")
    if src.is_on_chip:
        return src.operand()
    offset = as_affine(src._offset).times(src.dtype.itemsize)
    return _core.hbm(src.dtype.number, src._storage.tensor, offset, 1, 0, [(1, 1)])


def register_load(dst: VirtualRegister, src: NkiTensor) -> None:
    """dst = the one element of `src`, an integer of up to 32 bits in SBUF or HBM."""
    current().emit("register_load", "sync", dst=dst.register, src=_element(src))


def bounded(value: NkiScalar | NkiTensor, least: int, most: int) -> NkiScalar:
    """The run-time number, declared to lie in [least, most]: a run in which it does not, fails."""
    if isinstance(value, NkiScalar) and least <= value.min and value.max <= most:
        return value
    trace = current()
    register = trace.builder.add_register(least, most)
    if isinstance(value, NkiTensor):
        trace.emit("register_load", "sync", dst=register, src=_element(value))
    else:
        trace.emit("register_alu", "sync", dst=register, op="move", a=value.affine)
    return NkiScalar(_core.Affine(register), least, most)


def scalar_load(src: NkiTensor, *, least: int | None = None, most: int | None = None) -> NkiScalar:
    """The one element of `src` (int32 or int64, SBUF or HBM) as a run-time scalar.

    `least` and `most` (ours): bounds that the value is brought into, so that what it indexes is
    known to stay inside its tensor.
    """
    if src.dtype not in ("int32", "uint32", "int64"):
        raise NkiValidationError(f"scalar_load.dtype: {src.dtype}, expected int32 or int64")
    trace = current()
    loaded = trace.builder.add_register(-(2**63), 2**63 - 1)
    trace.emit("register_load", "sync", dst=loaded, src=_element(src))
    low, high = _INT32 if least is None or most is None else (least, most)
    value: Any = loaded
    for op, bound in (("max", low), ("min", high)):
        register = trace.builder.add_register(low, high if op == "min" else 2**63 - 1)
        trace.emit(
            "register_alu",
            "sync",
            dst=register,
            op=op,
            a=_core.Affine(value),
            b=_core.Affine(bound),
        )
        value = register
    return NkiScalar(_core.Affine(value), low, high)
