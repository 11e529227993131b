"""`make check` and a commit run the same hooks, and none of them comes from elsewhere."""

import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
CONFIG = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
HOOKS = {hook["id"]: hook for repo in CONFIG["repos"] for hook in repo["hooks"]}
PROVIDERS = {"pytest": "pytest", "scripts/generate.py": "pybind11-stubgen"}  # of `python ...` hooks


def test_hooks_are_local():
    assert {repo["repo"] for repo in CONFIG["repos"]} == {"local"}
    assert {hook["language"] for hook in HOOKS.values()} == {"system"}


@pytest.mark.parametrize("name", sorted(HOOKS))
def test_what_a_hook_runs_is_pinned_or_in_the_repository(name):
    program, *words = HOOKS[name]["entry"].split()
    if not program.startswith(".venv/bin/"):
        assert (ROOT / program).stat().st_mode & 0o100, f"{program} is not executable"
        return
    tool = program.removeprefix(".venv/bin/")
    if tool == "python":
        (tool,) = (PROVIDERS[word] for word in words if word in PROVIDERS)
    pinned = "".join((ROOT / f"requirements/{f}.txt").read_text() for f in ("test", "develop"))
    assert re.search(rf"^{tool}==[\d.]+$", pinned, re.MULTILINE), f"{tool} has no pinned version"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("clang-format", "src/isa/encoder.cpp"),
        ("mypy", "python/nki/_core.pyi"),
        ("layering", "src/isa/encoder.cpp"),
        ("generated", "src/nki/tables.cpp"),
        ("clang-tidy", "src/isa/encoder.cpp"),
    ],
)
def test_a_hook_sees_the_files_it_judges(name, path):
    assert (ROOT / path).exists()
    assert re.search(HOOKS[name]["files"], path)


def test_make_check_runs_every_hook():
    """All hooks at once, clang-tidy by itself on fewer files: nothing is listed a second time."""
    script = (ROOT / "scripts/check.sh").read_text()
    assert "run --all-files" in script
    assert re.findall(r"SKIP=(\S+)", script) == ["clang-tidy"]
    assert "run clang-tidy --files" in script


def test_every_change_is_linted():
    assert "make lint" in (ROOT / ".ci/run").read_text().splitlines()
