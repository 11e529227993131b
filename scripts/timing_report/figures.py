"""A published figure beside the model's, and how the model is asked. Nothing is executed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import nki.language as nl
import numpy as np

import nki
from nki import _core

CLOCK_GHZ = {"tensor": 2.4, "vector": 0.96, "scalar": 1.2, "gpsimd": 1.2}


@dataclass(frozen=True)
class Row:
    """A published figure and the model's."""

    what: str
    published: float
    model: float
    source: str
    formula: str = ""

    @property
    def ratio(self) -> float:
        return self.model / self.published


def programs_of(body: Callable[[], None]) -> list[_core.Program]:
    def kernel() -> None:
        body()

    return list(nki.jit(kernel).trace().programs)


def cost_ns(body: Callable[[], None], mnemonic: str) -> tuple[float, str]:
    """Busy time and engine of the last instruction of that name."""
    (program,) = programs_of(body)
    found = [(ns, engine) for name, engine, ns in program.costs() if name == mnemonic]
    return found[-1]


def duration_us(
    body: Callable[..., None], *shapes: tuple[int, ...], dtype: Any = np.float32
) -> float:
    """Modelled time of a kernel on HBM tensors of these shapes; no data is needed."""

    def kernel() -> None:
        body(*[nl.ndarray(shape, dtype, nl.private_hbm) for shape in shapes])

    programs = list(nki.jit(kernel).trace().programs)
    return _core.Executable(programs, 0).duration_ps() / 1e6


def sbuf(free: int, dtype: Any = nl.float32, partitions: int = 128) -> Any:
    return nl.ndarray((partitions, free), dtype)


def psum(free: int, dtype: Any = nl.float32, partitions: int = 128) -> Any:
    return nl.ndarray((partitions, free), dtype, nl.psum)
