"""From NKI's arguments to operands of the declaration; docstrings from the declaration."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from nki._errors import NkiValidationError
from nki._scalar import NkiScalar
from nki._tensor import NkiTensor
from nki._trace import INSTRUCTIONS, current
from nki.isa._enums import engine as Engine

__all__ = ["NkiInstruction", "documented", "emit", "engine_of", "scalar", "tile"]

F = TypeVar("F", bound=Callable[..., Any])


class NkiInstruction:
    """What an instruction returns. Program order already keeps every dependence."""

    __slots__ = ("index",)

    def __init__(self, index: int) -> None:
        self.index = index

    def depends_on(self, *producers: NkiInstruction) -> NkiInstruction:
        for producer in producers:
            if producer.index >= self.index:
                raise NkiValidationError(
                    "depends_on: the producer comes later in the program than its consumer"
                )
        return self


def documented(function: F) -> F:
    """Give an instruction the docstring that its row of the table makes."""
    row = INSTRUCTIONS[function.__name__]
    wrap = textwrap.TextWrapper(width=92, subsequent_indent="    ", initial_indent="    ")
    lines = [row["summary"], ""]
    for paragraph in row["doc"].split("\n"):
        lines += [*textwrap.wrap(paragraph, 92), ""]
    lines.append("Operands:")
    for operand in row["operands"]:
        role = {"in": "", "out": " (written)", "inout": " (read and written)"}[operand["role"]]
        lines += wrap.wrap(f"{operand['name']}{role}: {operand['doc']}")
    lines += ["", f"Engines: {', '.join(row['engines'])}.", f"Cost: {row['cost']} cycles."]
    lines += [
        "Raises: NkiValidationError, with the kernel's line, if a rule is broken.",
        f"Source: {row['source']}.",
    ]
    function.__doc__ = "\n".join(lines)
    return function


def tile(value: Any, what: str) -> Any:
    """The access pattern of an on-chip tensor; None stays None."""
    if value is None:
        return None
    if not isinstance(value, NkiTensor):
        raise NkiValidationError(f"{what} is {type(value).__name__}, expected a tensor")
    if not value.is_on_chip:
        raise NkiValidationError(
            f"{what} is in {value.buffer}; engines compute on SBUF and PSUM, "
            "load it with nl.load or nisa.dma_copy"
        )
    return value.operand()


def scalar(value: Any, what: str) -> Any:
    """A number, a run-time scalar's register or a tensor's access pattern."""
    if value is None or isinstance(value, NkiTensor):
        return tile(value, what)
    if isinstance(value, NkiScalar):
        trace = current()
        register = trace.builder.add_register(value.min, value.max)
        trace.emit("register_alu", "sync", dst=register, op="move", a=value.affine)
        return register
    if isinstance(value, (bool, int, float, np.number)) or hasattr(value, "__float__"):
        return float(value)
    raise NkiValidationError(f"{what} is {type(value).__name__}, expected a number or a tensor")


def engine_of(mnemonic: str, engine: Any, default: str | None = None) -> str:
    """The engine's name; unknown picks `default` or the declaration's first."""
    if engine is None or engine == Engine.unknown:
        return default or INSTRUCTIONS[mnemonic]["engines"][0]
    return Engine(engine).name


def emit(mnemonic: str, engine: str, *tail: Any, **operands: Any) -> NkiInstruction:
    return NkiInstruction(current().emit(mnemonic, engine, *tail, **operands))


def flag(value: Any) -> int | None:
    """A false flag is left out: programs stay short to read."""
    return 1 if value else None
