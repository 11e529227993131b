#!/usr/bin/env python3
"""Numbers that may only get better: compares measurements with tests/ratchet.json.

    scripts/ratchet.py                                   lengths of the exception lists, no run
    scripts/ratchet.py --conformance report.json         of tests/conformance/report.py --json
    scripts/ratchet.py --bench bench.jsonl               of python -m benchmarks --json
    scripts/ratchet.py --measured measured.json          of scripts/measure.py
    scripts/ratchet.py ... --update                      write what got better (or is new)

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


def table_lengths() -> dict[str, float]:
    """Exception lists, by the names they have in ratchet.json."""
    return {
        "expected failures/conformance": len(
            _load("tests/conformance/expected_failures.py", "EXPECTED")
        ),
        "unsupported ops/conformance": len(
            _load("tests/conformance/expected_failures.py", "UNSUPPORTED")
        ),
        "expected failures/honesty": len(_load("tests/honesty/not_yet.py", "NOT_YET")),
    }


def _load(path: str, name: str):
    spec = importlib.util.spec_from_file_location("table", ROOT / path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def conformance(path: Path) -> dict[str, float]:
    counts = json.loads(path.read_text())["summary"]
    return {
        f"conformance/{dtype}/{column}": row[column]
        for dtype, row in counts.items()
        for column in ("passed", "native")
    }


def benchmarks(path: Path) -> dict[str, float]:
    records = [json.loads(line) for line in path.read_text().splitlines() if line]
    return {f"bench/{r['bench']}/{r['case']}": r["ratio"] for r in records}


def measured_rows(path: Path) -> dict[str, float]:
    return json.loads(path.read_text())


def is_worse(row: dict, value: float) -> bool:
    allowed = row["value"] * row.get("slack", 0)
    if row["better"] == "higher":
        return value < row["value"] - allowed
    return value > row["value"] + allowed


def is_better(row: dict, value: float) -> bool:
    return value > row["value"] if row["better"] == "higher" else value < row["value"]


def new_row(name: str, value: float) -> dict:
    if name.startswith("bench/"):
        return {"value": value, "better": "lower", "slack": 1.0}  # CI's machines are noisy
    return {"value": value, "better": "higher" if name.startswith("conformance/") else "lower"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("conformance", "bench", "measured"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()

    measured = table_lengths()
    for path, reader in (
        (options.conformance, conformance),
        (options.bench, benchmarks),
        (options.measured, measured_rows),
    ):
        if path:
            measured |= reader(path)

    rows = json.loads(RATCHET.read_text())
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
                # A ratio is not tightened by one lucky run: --bench does that.
                if not (row.get("slack") and options.measured):
                    row["value"] = value
        print(f"{state:7} {name:44} {value:10g}   {bar}")
    left = len(set(rows) - set(measured))
    if left:
        print(f"{left} rows were not run (scripts/ratchet.py --help)")
    if options.update:
        RATCHET.write_text(json.dumps(rows, indent=2, sort_keys=True) + "\n")
    if worse:
        print(f"{worse} worse: mend it, or change tests/ratchet.json and say why in the commit")
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
