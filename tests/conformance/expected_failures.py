"""Cases that do not pass yet: (test, op, dtype) -> (index of the first failing sample, reason).

A case listed here still runs and must still fail, as soon as the run includes that sample; one that
passes fails the suite, and its row goes. `python tests/conformance/report.py --write-expected`
rewrites the rows from what the device does now; reasons of rows that stay are kept.
"""

EXPECTED: dict[tuple[str, str, str], tuple[int, str]] = {}
