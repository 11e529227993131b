"""Generated pages and type stubs are current."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module")
def generate():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "scripts/generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_current(generate):
    from nki import _core

    assert not generate.stale(_core.reference_pages())  # the others need a build tree


def test_stubs_are_current(generate):
    assert not generate.stale(generate.stubs())


def test_a_changed_signature_makes_the_stub_stale(generate):
    path = "python/nki/_core.pyi"
    text = (ROOT / path).read_text().replace("start_partition", "first_partition")
    (sentence,) = generate.stale({path: text})
    assert sentence.startswith(f"{path} is stale (4 lines)")


def test_no_activated_environment_is_needed(generate):
    """`make lint` calls the environment's Python by its path: ninja need not be on PATH."""
    assert generate.NINJA.is_file()


def test_figures_in_readme_are_those_published():
    """And of cases that exist."""
    from benchmarks import cases, published

    records = published.load()
    text = published.README.read_text()
    assert published.with_table(text, records.values()) == text
    assert {bench for bench, _ in records} <= set(cases.CASES)
