"""Starts run_gallery with a changed environment and returns its records."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def run_perturbed(
    dtype: str, mnemonics: list[str], names: tuple[str, ...] = (), **environment: str
) -> dict[str, dict[str, dict]]:
    """Records of the entries, for each mnemonic whose results are made wrong ("": none)."""
    path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
    changed = {
        "PYTHONPATH": path,
        "OMP_NUM_THREADS": "1",
        "HONESTY_PERTURB": ",".join(mnemonics),
        **environment,
    }
    done = subprocess.run(
        [sys.executable, "-m", "honesty.run_gallery", dtype, *names],
        env=os.environ | changed,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stderr[-3000:]}"
    return json.loads(done.stdout)


def run(dtype: str, names: tuple[str, ...] = (), **environment: str) -> dict[str, dict]:
    return run_perturbed(dtype, [""], names, **environment)[""]
