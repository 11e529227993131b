"""Each public report is tested here, or stands in the table of what waits for a feature."""

import re
from pathlib import Path

from user_cases.cases import CASES
from user_cases.later import LATER

TESTS = sorted(Path(__file__).parent.glob("test_*.py"))
TESTED = {
    number
    for path in TESTS
    if path.name != Path(__file__).name
    for number in re.findall(r"\bU\d{3}\b", path.read_text())
}


def test_each_case_is_tested_or_waits():
    whole = {number for number, what in LATER.items() if not what.startswith("rest: ")}
    assert set(LATER) <= set(CASES)
    assert set(CASES) >= TESTED
    assert not TESTED & whole, "tested: the row of later.py goes, or names the rest"
    assert set(LATER) - whole <= TESTED
    assert set(CASES) == TESTED | whole
