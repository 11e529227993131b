#!/usr/bin/env python3
"""Measures what the ratchet holds and prints it as JSON: {"row of tests/ratchet.json": number}.

The counts: CPU fallbacks of a few steps of the demo, GpSimd kernels in the programs of the dense op
families. The ratios to PyTorch CPU, in one run each: a small op, a GEMM, a 4M add, a GPT-like step.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATH = [str(ROOT), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])]
RATIOS = """
import json
from benchmarks.cases import CASES
first = {n: next(iter(CASES[n]())) for n in ("small_op", "gemm", "pointwise", "gpt_step")}
print(json.dumps({f"bench/{r.bench}/{r.case}": r.ratio for r in first.values()}))
"""


def run(*arguments: str, **environment: str) -> dict:
    done = subprocess.run(
        [sys.executable, *arguments],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(PATH), **environment},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    measured = {"demo/fallback_ops": len(run("-m", "honesty.run_demo", "7")["fallbacks"])}
    sys.path[:0] = PATH[:2]
    from honesty import disassembly

    kernels = 0
    for dtype in ("float32", "bfloat16"):
        with tempfile.TemporaryDirectory() as cache:
            records = run("-m", "honesty.run_gallery", dtype, TORCH_NEURONX_NEFF_CACHE_DIR=cache)
            programs = {p for r in records[""].values() for p in r.get("programs", [])}
            kernels += sum(len(disassembly.gpsimd_kernels(p)) for p in programs)
    measured["gpsimd kernels/dense programs"] = kernels
    measured |= run("-c", RATIOS)
    print(json.dumps(measured))


if __name__ == "__main__":
    main()
