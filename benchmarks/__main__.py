"""python -m benchmarks [--only small_op,gemm] [--json FILE]: ratios to PyTorch CPU, or to a bar."""

import argparse
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import track
from rich.table import Table

from benchmarks import published
from benchmarks.cases import CASES


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--only", default=",".join(CASES), help=f"of: {', '.join(CASES)}")
    parser.add_argument("--json", type=Path, help="append a JSON line per case to this file")
    parser.add_argument(
        "--publish", action="store_true", help="put the figures into README (a quiet machine's)"
    )
    arguments = parser.parse_args()
    unknown = set(arguments.only.split(",")) - set(CASES)
    if unknown:
        parser.error(f"no case {', '.join(sorted(unknown))}; there are: {', '.join(CASES)}")
    if not torch.accelerator.is_available():
        parser.error("device neuron is not installed in this environment")
    records = []
    for name in track(arguments.only.split(","), description="benchmarks"):
        records.extend(CASES[name]())
    table = Table(title=f"Time relative to a reference, {records[0].host}")
    for column in ("bench", "case", "unit"):
        table.add_column(column)
    for column in ("neuron", "reference", "ratio", "spread"):
        table.add_column(column, justify="right")
    table.add_column("against")
    for r in records:
        table.add_row(
            r.bench,
            r.case,
            r.unit,
            f"{r.ours:g}",
            f"{r.ref:g}",
            f"{r.ratio:.2f}",
            f"{r.spread:.0%}",
            r.against,
        )
    Console().print(table)
    for r in records:
        if r.details:
            print(f"{r.case}:", ", ".join(f"{name} {value:g}" for name, value in r.details.items()))
    if arguments.json:
        with arguments.json.open("a") as out:
            out.writelines(record.to_json() + "\n" for record in records)
    if arguments.publish:
        published.publish(records, CASES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
