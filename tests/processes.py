"""Programs in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Collection
from pathlib import Path
from typing import Any


def start(
    program: str, *arguments: str, without: Collection[str] = (), **variables: object
) -> subprocess.Popen[str]:
    """`program` in this environment but for `without`, with `variables`."""
    inherited = {name: value for name, value in os.environ.items() if name not in without}
    given = {name: str(value) for name, value in variables.items()}
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        env={**inherited, "OMP_NUM_THREADS": "1", **given},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str], timeout: float = 300) -> tuple[int, str, str]:
    """Exit status, what it printed, what it complained about."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"no end after {timeout} s\n{out}\n{err}") from None
    return process.returncode, out, err


def run(program: str, *arguments: str, **variables: Any) -> tuple[int, str, str]:
    return finish(start(program, *arguments, **variables))


def outputs(program: str, *arguments: str, **variables: Any) -> tuple[str, str]:
    """What a program that ends well printed and complained about."""
    status, out, err = run(program, *arguments, **variables)
    assert status == 0, f"status {status}\n{out}\n{err}"
    return out.strip(), err


def output(program: str, *arguments: str, **variables: Any) -> str:
    return outputs(program, *arguments, **variables)[0]


def result(program: str, **variables: Any) -> Any:
    """What the last line says as JSON."""
    return json.loads(output(program, **variables).splitlines()[-1])


def programs_in(directory: Path) -> int:
    """Files in a cache of compiled programs."""
    return sum(1 for path in directory.rglob("*") if path.is_file())
