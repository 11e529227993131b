"""The ratchet itself: what it lets through and what it stops."""

import copy
import importlib.util
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
spec = importlib.util.spec_from_file_location("ratchet", ROOT / "scripts" / "ratchet.py")
ratchet = importlib.util.module_from_spec(spec)
spec.loader.exec_module(ratchet)


@pytest.mark.parametrize(
    ("row", "value", "worse"),
    [
        ({"value": 10, "better": "higher"}, 9, True),
        ({"value": 10, "better": "higher"}, 10, False),
        ({"value": 10, "better": "lower"}, 11, True),
        ({"value": 10, "better": "lower", "slack": 0.25}, 12, False),
        ({"value": 10, "better": "lower", "slack": 0.25}, 13, True),
    ],
)
def test_worse(row, value, worse):
    assert ratchet.is_worse(row, value) is worse


ROWS = {
    "demo/fallback_ops": {"value": 0, "better": "lower"},
    "bench/a": {"value": 1.0, "better": "lower", "slack": 0.4},
}


@pytest.mark.parametrize(
    ("measured", "complete", "code"),
    [
        ({"demo/fallback_ops": 0, "bench/a": 1.3}, True, 0),
        ({"demo/fallback_ops": 1, "bench/a": 1.0}, True, 1),
        ({"demo/fallback_ops": 0, "bench/a": 1.5}, True, 1),
        ({"demo/fallback_ops": 0, "bench/renamed": 1.0}, True, 1),  # not measured, not kept
        ({"demo/fallback_ops": 0}, True, 1),
        ({"demo/fallback_ops": 0}, False, 0),
    ],
)  # fmt: skip
def test_judgement(measured, complete, code):
    assert ratchet.judge(copy.deepcopy(ROWS), measured, complete, update=False) == code


def test_every_exception_list_has_a_row():
    assert set(ratchet.LISTS) <= set(json.loads(ratchet.RATCHET.read_text()))


def test_exception_lists_did_not_grow():
    rows = json.loads(ratchet.RATCHET.read_text())
    for name, length in ratchet.table_lengths().items():
        assert not ratchet.is_worse(rows[name], length), f"{name} grew to {length}"
