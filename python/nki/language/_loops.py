"""Loops and the grid.

Python's own loops are unrolled while tracing. dynamic_range and fori_loop make hardware loops: the
body is traced once, with a counter known at run time only.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from typing import Any

from nki import _core
from nki._errors import NkiValidationError
from nki._scalar import NkiScalar, as_affine
from nki._trace import current

__all__ = [
    "affine_range",
    "dynamic_range",
    "fori_loop",
    "no_reorder",
    "num_programs",
    "program_id",
    "program_ndim",
    "sequential_range",
    "static_range",
    "while_loop",
]

affine_range = sequential_range = static_range = range
no_reorder = contextlib.nullcontext  # program order is kept everywhere


def dynamic_range(start: Any, stop: Any = None, step: int = 1) -> Iterator[NkiScalar]:
    """`for i in nl.dynamic_range(n)`: a hardware loop; bounds are integers or run-time scalars."""
    if stop is None:
        start, stop = 0, start
    if int(step) < 1:
        raise NkiValidationError(f"dynamic_range.step: {step}, expected a positive constant")
    known = not isinstance(start, NkiScalar) and not isinstance(stop, NkiScalar)
    if known and 0 <= int(stop) <= int(start):
        return  # no trip: nothing is traced
    least = start.min if isinstance(start, NkiScalar) else int(start)
    most = (stop.max if isinstance(stop, NkiScalar) else int(stop)) - 1
    if least < 0 or most < least:
        raise NkiValidationError(
            f"dynamic_range.bounds: the counter would go from {least} to {most}"
        )
    trace = current()
    if known:
        most = least + (most - least) // int(step) * int(step)
    counter = trace.builder.loop_begin(as_affine(start), as_affine(stop), int(step), most)
    with trace.loop():
        yield NkiScalar(_core.Affine(counter), least, most)


def fori_loop(lower: Any, upper: Any, body_fun: Callable[[NkiScalar], None], step: int = 1) -> None:
    """Call `body_fun` once, with the counter; it runs for lower, lower + step, ... below upper."""
    for i in dynamic_range(lower, upper, step):
        body_fun(i)


def while_loop(init: Any, body_fun: Callable[..., NkiScalar]) -> None:
    """Run the body as long as a register is not 0.

    The register begins as `init`; `body_fun`, traced once, returns what it becomes after each pass.
    A body that takes an argument gets the register. State is carried in memory.
    """
    from nki.isa._registers import register_alloc, register_move

    trace = current()
    condition = register_alloc()
    register_move(condition, init)
    trace.builder.while_begin(condition.affine)
    with trace.loop():
        takes_register = bool(inspect.signature(body_fun).parameters)
        after = body_fun(condition) if takes_register else body_fun()
        if not isinstance(after, (int, NkiScalar)):
            raise NkiValidationError(
                f"while_loop.body: returns {type(after).__name__}, expected the next condition, "
                "a register"
            )
        register_move(condition, after)


def program_id(axis: int = 0) -> int:
    """Which of the num_programs cores this program runs on."""
    return current().program_id


def num_programs(axes: int = 0) -> int:
    return current().grid


def program_ndim() -> int:
    return 1 if current().grid > 1 else 0
