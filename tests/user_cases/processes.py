"""Programs in processes of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path


def start(program: str, **variables: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**os.environ, "OMP_NUM_THREADS": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 100) -> tuple[int, str, str]:
    """Exit status, what it printed, what it complained about."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"no end after {timeout} s\n{out}\n{err}") from None
    return process.returncode, out, err


def run(program: str, **variables: str) -> tuple[int, str, str]:
    return finish(start(program, **variables))


def output(program: str, **variables: str) -> str:
    status, out, err = run(program, **variables)
    assert status == 0, f"status {status}\n{out}\n{err}"
    return out.strip()


def programs_in(directory: Path) -> int:
    """Files in a cache of compiled programs."""
    return sum(1 for path in directory.rglob("*") if path.is_file())
