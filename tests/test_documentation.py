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


DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


@pytest.mark.parametrize("page", DOCUMENTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`]*`", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", prose):
        if "://" not in target:
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


@pytest.mark.parametrize("block", BLOCKS)
def test_block_runs(block, tmp_path):
    script = tmp_path / "block.py"
    script.write_text(block)
    result = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip()
