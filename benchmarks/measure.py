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
from collections.abc import Callable
from dataclasses import asdict, dataclass


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
    a, b = statistics.median(mine), statistics.median(theirs)
    quarters = statistics.quantiles(mine, n=4)
    return Record(
        bench=bench,
        case=case,
        unit=unit,
        ours=round(a * scale, 4),
        ref=round(b * scale, 4),
        against=against,
        ratio=round(a / b, 3),
        spread=round((quarters[2] - quarters[0]) / a, 3),
        host=host(),
        commit=commit(),
    )
