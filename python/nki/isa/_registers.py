"""Run-time scalars: registers of the sequencers."""

from __future__ import annotations

from typing import Any

from nki import _core
from nki._errors import NkiValidationError
from nki._scalar import NkiScalar, as_affine
from nki._tensor import NkiTensor
from nki._trace import current
from nki.isa._dma import written

__all__ = [
    "register_alloc",
    "register_load",
    "register_move",
    "register_store",
    "scalar_load",
    "scalar_store",
]

_BOUNDS = {
    "int32": (-(2**31), 2**31 - 1),
    "uint32": (0, 2**32 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
_WORD = (-(2**31), 2**32 - 1)  # 32 bits, whether they are meant as signed or not


class VirtualRegister(NkiScalar):
    """A register that register_move and register_load write."""

    __slots__ = ("register",)

    def __init__(self) -> None:
        self.register = current().builder.add_register(*_WORD)
        super().__init__(_core.Affine(self.register), *_WORD)


def register_alloc(x: int | None = None) -> VirtualRegister:
    """A new register, with the value `x` if given."""
    register = VirtualRegister()
    if x is not None:
        register_move(register, x)
    return register


def register_move(dst: VirtualRegister, src: int | NkiScalar) -> None:
    """dst = src."""
    current().emit("register_alu", "sync", dst=dst.register, op="move", a=as_affine(src))


def _element(src: NkiTensor, mnemonic: str = "register_load") -> _core.AccessPattern:
    if src.size != 1:
        raise NkiValidationError(f"{mnemonic}.shape: {list(src.shape)}, expected one element")
    if src.is_on_chip:
        return src.operand()
    offset = as_affine(src._offset).times(src.dtype.itemsize)
    if src.is_indirect():
        raise NkiValidationError(
            "register_load.index: a register takes one known element; select it by a number"
        )
    return _core.hbm(src.dtype.number, src._storage.tensor, offset, 1, 0, [(1, 1)])


def register_load(dst: VirtualRegister, src: NkiTensor) -> None:
    """dst = the one element of `src`, an integer of up to 32 bits in SBUF or HBM."""
    current().emit("register_load", "sync", dst=dst.register, src=_element(src))


def register_store(dst: NkiTensor, src: int | NkiScalar) -> None:
    """The one element of `dst`, of up to 32 bits in SBUF or HBM, = src."""
    if dst.dtype.itemsize > 4:
        raise NkiValidationError(f"register_store.dtype: {dst.dtype}, expected up to 32 bits")
    _store("register_store", dst, src)


def _store(mnemonic: str, dst: NkiTensor, src: int | NkiScalar) -> None:
    pattern = _element(dst, mnemonic)
    if not dst.is_on_chip:
        written(dst)
    current().emit("register_store", "sync", dst=pattern, src=as_affine(src))


def scalar_store(dst: NkiTensor, value: NkiScalar) -> None:
    """The one element of `dst` (int32 or int64, SBUF or HBM) = the run-time scalar."""
    if not isinstance(value, NkiScalar):
        raise NkiValidationError(
            f"scalar_store.value: {type(value).__name__}, expected a run-time scalar; constants "
            "are written with nisa.memset"
        )
    if dst.dtype not in ("int32", "int64"):
        raise NkiValidationError(f"scalar_store.dtype: {dst.dtype}, expected int32 or int64")
    _store("scalar_store", dst, value)


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
    natural = _BOUNDS[str(src.dtype)]
    low = natural[0] if least is None else least
    high = natural[1] if most is None else most
    loaded = trace.builder.add_register(*natural)
    trace.emit("register_load", "sync", dst=loaded, src=_element(src))
    value: Any = loaded
    for op, bound, known in (("max", low, natural[0]), ("min", high, natural[1])):
        if bound == known:
            continue
        register = trace.builder.add_register(low, high if op == "min" else natural[1])
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
