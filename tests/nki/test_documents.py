"""The tutorial's code runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


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
