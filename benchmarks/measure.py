"""Interleaved timing of two callables and the record that a case leaves.

A round runs ours, reference, reference, ours, so that a drift of the machine meets both alike.
PyTorch's CPU threads spin for some milliseconds after their work and hold the cores for so long: a
short call is made once untimed before it is timed, so that no side starts on the other's cores.
The figure of a side is the median of its rounds; the spread is the interquartile range of ours
over its median.
"""

import json
import os
import platform
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field


@dataclass(frozen=True)
class Record:
    bench: str
    case: str
    unit: str
    ours: float
    ref: float
    against: str
    ratio: float  # time of ours / time of the reference: below 1 is faster than the reference
    spread: float
    host: str
    commit: str
    details: Mapping[str, float] = field(default_factory=dict)  # further figures, unit in the name

    def to_json(self) -> str:
        return json.dumps(asdict(self))


def host() -> str:
    flags = ""
    try:
        with open("/proc/cpuinfo") as cpu:
            flags = next((line for line in cpu if line.startswith("flags")), "")
    except OSError:
        pass
    for name, flag in (("avx512_bf16", "avx512_bf16"), ("avx512", "avx512bw"), ("avx2", "avx2")):
        if f" {flag} " in flags + " ":
            return f"{name} x{os.cpu_count()}"
    return f"{platform.machine()} x{os.cpu_count()}"


def commit() -> str:
    try:
        command = ["git", "rev-parse", "--short", "HEAD"]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def seconds(function: Callable[[], None]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


SPIN_SECONDS = 0.02  # beyond it the other side's threads sleep


def settled_seconds(function: Callable[[], None]) -> float:
    first = seconds(function)
    return first if first > SPIN_SECONDS else seconds(function)


def compare(
    bench: str,
    case: str,
    ours: Callable[[], None],
    reference: Callable[[], None],
    *,
    unit: str = "ms",
    calls: int = 1,
    rounds: int = 7,
    against: str = "cpu eager",
) -> Record:
    """Each callable does `calls` units of work and returns when they are done."""
    ours()
    reference()
    mine, theirs = [], []
    for _ in range(rounds):
        mine.append(settled_seconds(ours))
        theirs.append(settled_seconds(reference))
        theirs.append(settled_seconds(reference))
        mine.append(settled_seconds(ours))
    scale = {"ms": 1e3, "us": 1e6}[unit.split("/")[0]] / calls
    return record(
        bench, case, unit, [t * scale for t in mine], statistics.median(theirs) * scale, against
    )


def against_bar(
    bench: str,
    case: str,
    times: Sequence[float],
    *,
    bar: float,
    unit: str,
    details: Mapping[str, float],
) -> Record:
    """A record of what has no counterpart on the CPU: the reference is what it may take at most."""
    rounded = {name: round(value, 3) for name, value in details.items()}
    return record(bench, case, unit, times, bar, "bar", rounded)


def record(
    bench: str,
    case: str,
    unit: str,
    times: Sequence[float],
    reference: float,
    against: str,
    details: Mapping[str, float] | None = None,
) -> Record:
    """Of what was timed one by one; the reference is one figure."""
    ours = statistics.median(times)
    quarters = statistics.quantiles(times, n=4)
    return Record(
        bench=bench,
        case=case,
        unit=unit,
        ours=round(ours, 4),
        ref=round(reference, 4),
        against=against,
        ratio=round(ours / reference, 3),
        spread=round((quarters[2] - quarters[0]) / ours, 3),
        host=host(),
        commit=commit(),
        details=details or {},
    )
