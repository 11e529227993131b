"""The figures in README: the last record of each case that somebody chose to publish.

`python -m benchmarks --publish` replaces the records of the cases it ran and writes the table anew;
tests/test_generated.py checks that the table is what the records make.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from benchmarks.measure import Record

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "benchmarks" / "published.jsonl"
README = ROOT / "README.md"
DETAILED = {"rows"}  # benches of many cases that README leaves to who runs them
BEGIN, END = "<!-- figures of benchmarks/published.jsonl -->\n", "<!-- end of figures -->\n"


def load() -> dict[tuple[str, str], Record]:
    records = [Record(**json.loads(line)) for line in RECORDS.read_text().splitlines()]
    return {(r.bench, r.case): r for r in records}


def publish(records: Iterable[Record], order: Iterable[str]) -> None:
    """Benches in the order given; one that was measured replaces all its earlier cases."""
    records = list(records)
    measured = {r.bench for r in records}
    kept = [r for r in load().values() if r.bench not in measured] if RECORDS.exists() else []
    place = {bench: i for i, bench in enumerate(order)}
    rows = sorted([*kept, *records], key=lambda r: place.get(r.bench, len(place)))
    RECORDS.write_text("".join(r.to_json() + "\n" for r in rows))
    README.write_text(with_table(README.read_text(), rows))


def table(records: Iterable[Record]) -> str:
    lines = ["| work | neuron | reference | time ratio | against |", "|---|---|---|---|---|"]
    lines += [
        f"| {r.case} | {r.ours:.3g} {r.unit} | {r.ref:.3g} | {r.ratio:.2f} | {r.against} |"
        for r in records
        if r.bench not in DETAILED
    ]
    hosts = sorted({r.host for r in records})
    return "\n".join(lines) + f"\n\nHost: {', '.join(hosts)}.\n"


def with_table(readme: str, records: Iterable[Record]) -> str:
    before, rest = readme.split(BEGIN)
    return before + BEGIN + table(list(records)) + END + rest.split(END)[1]
