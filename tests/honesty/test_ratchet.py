"""The ratchet itself: what it lets through and what it stops."""

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


def test_exception_lists_did_not_grow():
    rows = json.loads(ratchet.RATCHET.read_text())
    for name, length in ratchet.table_lengths().items():
        assert not ratchet.is_worse(rows[name], length), f"{name} grew to {length}"
