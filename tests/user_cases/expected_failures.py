"""Tests that do not hold yet: file::test[parameters] -> reason.

A row still runs and must still fail; one that holds fails the suite, and its row goes.
"""

EXPECTED: dict[str, str] = {}
