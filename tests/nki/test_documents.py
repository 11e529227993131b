"""Generated pages are current, and the tutorial's code runs."""

import importlib.util
import re
from pathlib import Path

import pytest

from nki import _core

ROOT = Path(__file__).resolve().parents[2]


def test_generated_pages_are_current():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "scripts/generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    assert not generate.stale(_core.reference_pages())  # the others need a build tree


@pytest.mark.parametrize("page", ["first-kernel.md"])
def test_tutorial_runs(page, tmp_path, monkeypatch, capsys):
    """The blocks of a page are one program; lines after `# ->` are what it prints."""
    text = (ROOT / "docs/tutorials" / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    file = tmp_path / "page.py"
    file.write_text("\n".join(blocks))
    monkeypatch.chdir(tmp_path)
    exec(compile(file.read_text(), str(file), "exec"), {"__name__": "page"})
    printed = capsys.readouterr().out
    expected = re.findall(r"# -> (.*)", "\n".join(blocks))
    assert expected
    for line in expected:
        assert line in printed
