"""The Python blocks of README, tutorials and how-to pages run as they stand."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# first-kernel.md builds one kernel over several blocks; tests/nki runs it.
PAGES = [
    ROOT / "README.md",
    ROOT / "docs/tutorials/first-model.md",
    *sorted((ROOT / "docs/how-to").glob("*.md")),
]
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
]


def test_there_are_blocks():
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs(block, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(block)
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
