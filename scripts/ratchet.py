#!/usr/bin/env python3
"""Numbers that may only get better: compares measurements with tests/ratchet.json.

    scripts/ratchet.py                                   lengths of the exception lists, no run
    scripts/ratchet.py --measured measured.json          and what scripts/measure.py measured
    scripts/ratchet.py ... --update                      write what got better (or is new)

How many ops of the database are right and native needs no row: the conformance suite fails where
one is worse than its exception list says, and the list's length is a row.

A row of ratchet.json is "name": {"value", "better": "higher" or "lower", "slack": 0.1}; slack is
the fraction by which a timing may be worse before it counts. A row that has to get worse is edited
by hand, with the reason in the commit.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RATCHET = ROOT / "tests" / "ratchet.json"
SLACK = 0.4  # of a timing: CI's machines differ in their caches and instruction sets


LISTS = {  # row: file, table
    "expected failures/conformance": ("tests/conformance/expected_failures.py", "EXPECTED"),
    "expected failures/modules": ("tests/conformance/expected_modules.py", "EXPECTED"),
    "expected failures/honesty": ("tests/honesty/not_yet.py", "NOT_YET"),
    "expected failures/user cases": ("tests/user_cases/expected_failures.py", "EXPECTED"),
    "unsupported ops/conformance": ("tests/conformance/expected_failures.py", "UNSUPPORTED"),
    "ops on the CPU/conformance": ("tests/conformance/on_cpu.py", "ON_CPU"),
    "ops on the CPU/user cases": ("tests/user_cases/fallbacks.py", "ON_CPU"),
}


def table_lengths() -> dict[str, float]:
    """Entries of the exception lists, by the names they have in ratchet.json."""
    return {row: len(_load(path, table)) for row, (path, table) in LISTS.items()}


def _load(path: str, name: str):
    spec = importlib.util.spec_from_file_location("table", ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def is_worse(row: dict, value: float) -> bool:
    allowed = row["value"] * row.get("slack", 0)
    if row["better"] == "higher":
        return value < row["value"] - allowed
    return value > row["value"] + allowed


def is_better(row: dict, value: float) -> bool:
    return value > row["value"] if row["better"] == "higher" else value < row["value"]


def new_row(name: str, value: float) -> dict:
    if name.startswith("bench/"):
        return {"value": value, "better": "lower", "slack": SLACK}
    return {"value": value, "better": "lower"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measured", type=Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()

    measured = table_lengths()
    if options.measured:
        measured |= json.loads(options.measured.read_text())
    rows = json.loads(RATCHET.read_text())
    return judge(rows, measured, complete=bool(options.measured), update=options.update)


def judge(rows: dict, measured: dict, complete: bool, update: bool) -> int:
    """Prints a line per row; the exit code. `complete`: every row must have been measured."""
    worse = 0
    for name, value in sorted(measured.items()):
        row = rows.get(name)
        if row is None:
            state, bar = "new", ""
            rows[name] = new_row(name, value)
        else:
            bar = f"{row['value']:g}" + (f" + {row['slack']:.0%}" if row.get("slack") else "")
            state = "same"
            if is_worse(row, value):
                worse, state = worse + 1, "WORSE"
            elif is_better(row, value):
                state = "better"
                row["value"] = value
        print(f"{state:7} {name:44} {value:10g}   {bar}")
    left = sorted(set(rows) - set(measured))
    for name in left:
        print(f"{'MISSING' if complete else 'not run':7} {name}")
    if update:
        RATCHET.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n")
    if worse:
        print(f"{worse} worse: mend it, or change tests/ratchet.json and say why in the commit")
    return 1 if worse or (complete and left) else 0


if __name__ == "__main__":
    sys.exit(main())
