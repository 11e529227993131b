"""The instructions' tests once more in a process whose chip is trn3, and what they use of rows.

No operand, engine or rule of a row is without a test: that run notes what it has used.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from nki import _core

TESTS = Path(__file__).parents[1]
INSTRUCTIONS = TESTS / "nki" / "instructions"
ROWS = {row["mnemonic"]: row for row in _core.instructions()}
# Not written by nki.isa's functions: control flow, registers and our kernels have tests of theirs.
INTERNAL = {"gpsimd_kernel", "loop_begin", "loop_end", "register_alu", "while_begin"}
# Operands that are given by position, and those that no function sets.
UNNAMED = {("dma_compute", "srcs"), ("activation", "alpha")}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    used = tmp_path_factory.mktemp("trn3") / "used.json"
    environment = os.environ | {
        "NEURON_PLATFORM_TARGET_OVERRIDE": "trn3",
        "TORCHNEURON_TEST_USED_FILE": str(used),
    }
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "not trn2", INSTRUCTIONS],
        env=environment,
        capture_output=True,
        text=True,
    )
    return result, json.loads(used.read_text()) if used.exists() else {}


def test_instructions_on_trn3(run):
    result, _ = run
    assert result.returncode == 0, result.stdout[-4000:]
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None, result.stdout[-400:]
    assert int(passed[1]) > 500
    assert "skipped" not in result.stdout, result.stdout[-400:]


def test_each_operand_is_set_by_some_test(run):
    used = {tuple(pair) for pair in run[1]["operands"]}
    operands = {
        (mnemonic, operand["name"])
        for mnemonic, row in ROWS.items()
        for operand in row["operands"]
        if mnemonic not in INTERNAL
    }
    assert operands - used - UNNAMED == set()


def test_each_engine_runs_in_some_test(run):
    used = {tuple(pair) for pair in run[1]["engines"]}
    engines = {
        (mnemonic, engine)
        for mnemonic, row in ROWS.items()
        for engine in row["engines"]
        if mnemonic not in INTERNAL
    }
    assert engines - used == set()


def labels():
    """Of the rules in the rows' own files: "nc_matmul.bank"; shared rules get theirs there."""
    found = set()
    for path in (TESTS.parent / "src" / "isa" / "instructions").glob("*.cpp"):
        text = path.read_text()
        found |= set(re.findall(rf'"({path.stem}\.[a-z0-9_]+)[:"]', text))
        for rule, marks in {
            "reduce_cmd": ".commands =",
            "reduce_op": ".ops =",
            "reduce_init": ".init =",
        }.items():
            if marks in text:
                found.add(f"{path.stem}.{rule}")
    return found


def test_each_rule_refuses_something_in_some_test(run):
    sources = [*(TESTS / "isa").glob("*.cpp"), *TESTS.glob("nki/**/*.py")]
    named = "".join(path.read_text() for path in sources)
    provoked = set(run[1]["labels"]) | {label for label in labels() if label in named}
    assert len(labels()) > 100
    assert labels() - provoked == set()
