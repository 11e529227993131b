"""The kernel that is being traced: each call of nki.isa appends to its program."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from nki import _core
from nki._errors import NkiError, NkiValidationError, kernel_location
from nki._memory import PartitionMemory

if TYPE_CHECKING:
    from nki._tensor import Storage

__all__ = ["OPERANDS", "Trace", "current", "is_tracing", "target_row"]

TARGETS: dict[str, dict[str, Any]] = {row["name"]: row for row in _core.targets()}
_BY_ALIAS = {row["alias"]: name for name, row in TARGETS.items()}
INSTRUCTIONS: dict[str, dict[str, Any]] = {row["mnemonic"]: row for row in _core.instructions()}
OPERANDS: dict[str, list[str]] = {
    name: [operand["name"] for operand in row["operands"]] for name, row in INSTRUCTIONS.items()
}

# isa::TensorKind
INPUT, OUTPUT, IN_OUT, SCALARS, CONSTANT, SCRATCH = range(6)


class Trace:
    """One program under construction."""

    def __init__(self, name: str, target: str, grid: int = 1, program_id: int = 0) -> None:
        self.target = target
        self.grid = grid
        self.program_id = program_id
        self.builder = _core.Builder(name, target)
        row = TARGETS[target]
        self.memories = {
            "sbuf": PartitionMemory("sbuf", row["sbuf_bytes_per_partition"], align=64),
            "psum": PartitionMemory(
                "psum", row["psum_bytes_per_partition"], align=64, bank_bytes=row["psum_bank_bytes"]
            ),
        }
        self.hbm: list[Storage] = []
        self._names: dict[str, int] = {}

    def unique_name(self, name: str) -> str:
        count = self._names.get(name, 0)
        self._names[name] = count + 1
        return name if count == 0 else f"{name}_{count}"

    def emit(self, mnemonic: str, engine: str, *tail: Any, **operands: Any) -> int:
        """Append an instruction: operands by the declaration's names, then its variadic tail."""
        filename, lineno = kernel_location()
        self.builder.set_source(f"{os.path.basename(filename)}:{lineno}")
        names = OPERANDS[mnemonic]
        values = [operands.get(name) for name in names]
        if tail:
            values[-1:] = tail
        else:
            while values and values[-1] is None:
                values.pop()
        try:
            return self.builder.emit(mnemonic, engine, values)
        except _core.Error as error:
            raise NkiValidationError(error.args[1], filename=filename, lineno=lineno) from None

    @contextmanager
    def loop(self) -> Iterator[None]:
        for memory in self.memories.values():
            memory.enter_loop()
        yield
        self.builder.loop_end()
        for memory in self.memories.values():
            memory.leave_loop()


class _Thread(threading.local):
    """Each thread traces its own kernels."""

    def __init__(self) -> None:
        self.stack: list[Trace] = []


_thread = _Thread()


def is_tracing() -> bool:
    return bool(_thread.stack)


def current() -> Trace:
    if not _thread.stack:
        raise NkiError(
            "this call belongs in a kernel: call it from a function under nki.jit or nki.simulate"
        )
    return _thread.stack[-1]


@contextmanager
def tracing(trace: Trace) -> Iterator[Trace]:
    _thread.stack.append(trace)
    try:
        yield trace
    finally:
        _thread.stack.pop()


def default_target() -> str:
    name = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE") or "trn2"
    name = _BY_ALIAS.get(name, name)
    if name not in TARGETS:
        known = ", ".join(f"{row['name']} ({row['alias']})" for row in TARGETS.values())
        raise NkiError(f"NEURON_PLATFORM_TARGET_OVERRIDE is {name!r}; known are {known}")
    return name


def target_row() -> dict[str, Any]:
    """The target of the kernel being traced, or the process's."""
    return TARGETS[_thread.stack[-1].target if _thread.stack else default_target()]
