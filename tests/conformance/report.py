"""How much of PyTorch's op database works on the device.

    python tests/conformance/report.py                    3 samples each, CI's dtypes
    python tests/conformance/report.py --samples 0 --dtypes all --json report.json
    python tests/conformance/report.py --write-expected   rewrite expected_failures.py

Two columns per dtype, since an op that ran on the CPU was not served by the device:
passed (whatever ran it) and native (passed without any CPU fallback).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path
from queue import Empty, Queue

TESTS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))
CASE_SECONDS = 120


class Worker:
    """A worker process that is replaced when a case kills or blocks it."""

    def __init__(self, device: str, samples: int):
        self._command = [sys.executable, "-m", "conformance.worker", device, str(samples)]
        self._process: subprocess.Popen | None = None

    def run(self, case: str) -> dict:
        if self._process is None or self._process.poll() is not None:
            self._start()
        process = self._process
        process.stdin.write(case + "\n")
        process.stdin.flush()
        clock = threading.Timer(CASE_SECONDS, process.kill)
        clock.start()
        line = process.stdout.readline()
        timed_out = not clock.is_alive()
        clock.cancel()
        if line:
            return json.loads(line)
        code = process.wait()
        why = f"hangs for {CASE_SECONDS} s" if timed_out else f"the process dies with code {code}"
        return {"case": case, "samples": 0, "first_failure": 0, "message": why, "fallbacks": {}}

    def _start(self) -> None:
        path = os.pathsep.join(filter(None, [str(TESTS), os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        )
        self._process.stdout.readline()  # "ready"

    def close(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.stdin.close()
            self._process.wait()


def run_all(names: list[str], device: str, samples: int, jobs: int) -> list[dict]:
    queue: Queue[str] = Queue()
    for name in names:
        queue.put(name)
    results: list[dict] = []

    def work() -> None:
        worker = Worker(device, samples)
        while True:
            try:
                name = queue.get_nowait()
            except Empty:
                worker.close()
                return
            results.append(worker.run(name))
            if len(results) % 50 == 0:
                print(f"\r{len(results)}/{len(names)}", end="", file=sys.stderr, flush=True)

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\r", end="", file=sys.stderr)
    return sorted(results, key=lambda r: r["case"])


def summary(results: list[dict]) -> dict:
    """Counts per dtype, and of ops that pass in every dtype that was run."""
    from conformance.cases import CHECKS

    rows: dict[str, Counter] = {}
    by_op: dict[str, list[dict]] = {}
    for r in results:
        test, op, dtype = r["case"].split(":")
        row = rows.setdefault("checks" if test in CHECKS else dtype, Counter())
        passed = r["first_failure"] < 0
        row["ops"] += 1
        row["samples"] += r["samples"]
        row["passed"] += passed
        row["native"] += passed and not r["fallbacks"]
        row["fallback"] += bool(r["fallbacks"])
        if test == "test_matches_cpu":
            by_op.setdefault(op, []).append(r)
    ops = Counter(
        ops=len(by_op),
        passed=sum(all(r["first_failure"] < 0 for r in rs) for rs in by_op.values()),
        native=sum(
            all(r["first_failure"] < 0 and not r["fallbacks"] for r in rs) for rs in by_op.values()
        ),
        fallback=sum(any(r["fallbacks"] for r in rs) for rs in by_op.values()),
        samples=sum(r["samples"] for rs in by_op.values() for r in rs),
    )
    return {**{k: dict(v) for k, v in rows.items()}, "every dtype": dict(ops)}


def print_summary(counts: dict) -> None:
    columns = ("ops", "passed", "native", "fallback", "samples")
    print(f"{'':12}" + "".join(f"{c:>10}" for c in columns))
    for name, row in counts.items():
        print(f"{name:12}" + "".join(f"{row.get(c, 0):10}" for c in columns))


def write_expected(results: list[dict]) -> None:
    """Rows of what fails; reasons of rows that were there stay, cases not run keep their rows."""
    from conformance.expected_failures import EXPECTED, UNSUPPORTED

    rows = dict(EXPECTED)
    for r in results:
        if r["case"].split(":")[1] in UNSUPPORTED:
            continue
        key = tuple(r["case"].split(":"))
        old = rows.pop(key, None)
        if r["first_failure"] >= 0:
            first, reason = r["first_failure"], r["message"]
            rows[key] = (first, old[1] if old and old[0] == first else reason)
        elif old and r["samples"] <= old[0]:
            rows[key] = old  # the failing sample was not run
    path = Path(__file__).with_name("expected_failures.py")
    head, _, rest = path.read_text().partition("EXPECTED: dict")
    tail = rest[rest.index("}\n") + 2 :]
    lines = [
        f"    {json.dumps(key)}: ({rows[key][0]}, {json.dumps(rows[key][1][:160])}),\n"
        for key in sorted(rows)
    ]
    lines = [line.replace("[", "(", 1).replace("]:", "):", 1) for line in lines]
    body = "EXPECTED: dict[tuple[str, str, str], tuple[int, str]] = {\n"
    path.write_text(head + body + "".join(lines) + "}\n" + tail)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="neuron")
    parser.add_argument("--samples", type=int, default=3, help="0: all")
    parser.add_argument("--dtypes", default="", help="comma list; 'all'")
    parser.add_argument("--op", default="", help="only ops whose name contains this")
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", type=Path, help="write every result here")
    parser.add_argument("--failures", action="store_true", help="print each failing case")
    parser.add_argument("--write-expected", action="store_true")
    options = parser.parse_args()

    from conformance import cases

    chosen = cases.ALL_DTYPES if options.dtypes == "all" else options.dtypes.split(",")
    dtypes = tuple(filter(None, chosen)) or cases.CI_DTYPES
    found = [c for c in cases.cases(dtypes) if options.op in c.op]
    names = [str(c) for c in cases.shard(found, *map(int, options.shard.split("/")))]
    results = run_all(names, options.device, options.samples, options.jobs)
    counts = summary(results)
    print_summary(counts)
    if options.failures:
        for r in results:
            if r["first_failure"] >= 0:
                print(f"{r['case']} sample {r['first_failure']}: {r['message']}")
    if options.json:
        options.json.write_text(json.dumps({"summary": counts, "results": results}, indent=1))
    if options.write_expected:
        write_expected(results)


if __name__ == "__main__":
    main()
