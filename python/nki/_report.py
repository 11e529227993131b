"""What a run costs on the chip, by the model."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any

__all__ = ["Event", "Report"]


@dataclass(frozen=True)
class Event:
    """One execution of an instruction on the modelled time line of its core."""

    mnemonic: str
    engine: str
    queue: int
    start_ps: int
    end_ps: int
    source: str  # "kernel.py:41"
    core: int = 0


@dataclass(frozen=True)
class Report:
    """Of one run of a kernel."""

    kernel: str
    target: str
    time_ps: int | None  # modelled device time; None where the library has no model
    instructions: dict[str, int]  # by mnemonic, loop bodies once
    busy_ns: dict[str, float]  # by engine: sum of costs alone, loop bodies once
    sbuf_bytes: int  # highest byte per partition that was in use
    psum_bytes: int
    programs: tuple[Any, ...] = field(repr=False, default=())
    executable: Any = field(repr=False, default=None)

    @property
    def time_us(self) -> float | None:
        return None if self.time_ps is None else self.time_ps / 1e6

    def disassemble(self) -> str:
        """The program's text, one per core."""
        return "\n".join(program.disassemble() for program in self.programs)

    def timeline(self) -> list[Event]:
        """What ran when, by the model; empty where the library does not say."""
        rows = json.loads(self.executable.trace_json() if self.executable else "[]")
        names = [f.name for f in fields(Event)]  # a row has a trace viewer's fields, too
        return [Event(**{name: row[name] for name in names}) for row in rows]

    def __str__(self) -> str:
        time = "time not modelled" if self.time_us is None else f"{self.time_us:.2f} us"
        busy = ", ".join(
            f"{name} {ns / 1e3:.2f}" for name, ns in sorted(self.busy_ns.items()) if ns
        )
        return (
            f"{self.kernel} on {self.target}: {time}, {sum(self.instructions.values())} "
            f"instructions; engine busy us: {busy}; SBUF {self.sbuf_bytes} B, "
            f"PSUM {self.psum_bytes} B per partition"
        )
