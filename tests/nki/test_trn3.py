"""The instructions' tests once more in a process whose chip is trn3."""

import os
import re
import subprocess
import sys
from pathlib import Path

INSTRUCTIONS = Path(__file__).parent / "instructions"


def test_instructions_on_trn3():
    environment = os.environ | {"NEURON_PLATFORM_TARGET_OVERRIDE": "trn3"}
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-m", "not trn2", INSTRUCTIONS],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout[-4000:]
    passed = re.search(r"(\d+) passed", result.stdout)
    assert passed is not None, result.stdout[-400:]
    assert int(passed[1]) > 500
    assert "skipped" not in result.stdout, result.stdout[-400:]
