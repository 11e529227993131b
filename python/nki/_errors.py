"""What nki raises.

NkiError
+-- NkiValidationError   the kernel breaks a rule of the instruction set or of the language
|   +-- NkiCapacityError   SBUF or PSUM has no room left
+-- NkiExecutionError    the program was legal, its run failed (an index out of range, ...)

A validation error knows the kernel's line: `filename`, `lineno`, and the message ends with them.
"""

from __future__ import annotations

import sys
from pathlib import Path

__all__ = ["NkiCapacityError", "NkiError", "NkiExecutionError", "NkiValidationError"]

# This package's files, by the path they were imported from and by where that points.
_PREFIXES = tuple({f"{p}/" for p in (Path(__file__).parent, Path(__file__).resolve().parent)})


class NkiError(Exception):
    """Base of everything that nki raises."""


class NkiValidationError(NkiError, ValueError):
    """A kernel breaks a rule; `rule` is its label ("nc_matmul.moving") where there is one."""

    def __init__(self, message: str, *, filename: str | None = None, lineno: int = 0) -> None:
        if filename is None:
            filename, lineno = kernel_location()
        self.filename = filename
        self.lineno = lineno
        head = message.split(":", 1)[0]
        self.rule = head if "." in head and " " not in head else None
        super().__init__(f"{message} ({filename}:{lineno})" if filename else message)


class NkiCapacityError(NkiValidationError):
    """SBUF or PSUM has no room for a tensor."""


class NkiExecutionError(NkiError, RuntimeError):
    """Loading or running a program failed; `code` is the status's name."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


def kernel_location() -> tuple[str, int]:
    """File and line of the innermost frame that is not nki's own; ("", 0) if there is none."""
    frame = sys._getframe(1)
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(_PREFIXES):
            return filename, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return "", 0
