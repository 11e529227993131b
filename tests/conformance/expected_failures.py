# ruff: noqa: E501  a row is a line
# fmt: off
"""What does not pass: cases that are not right yet, and ops that the device refuses by design.

A case listed in EXPECTED still runs and must still fail, as soon as the run includes that sample;
one that passes fails the suite, and its row goes. `python tests/conformance/report.py
--write-expected` rewrites the rows from what the device does now, with the raw message as reason;
a reason is a sentence that a person can act on, so replace it. An op listed in UNSUPPORTED must be
refused with NotImplementedError in the words stated, which are the documented behaviour.
"""

# (test, op, dtype) -> (index of the first failing sample, reason)
EXPECTED: dict[tuple[str, str, str], tuple[int, str]] = {
}

SPARSE = "no kernels for sparse tensors"
# op -> (part of the message, reason)
UNSUPPORTED: dict[str, tuple[str, str]] = {
    "sparse.mm.reduce": (SPARSE, "takes a sparse tensor: docs/reference/limits.md says what to do instead"),
    "sparse.sampled_addmm": (SPARSE, "takes a sparse tensor: docs/reference/limits.md says what to do instead"),
    "to_sparse": (SPARSE, "makes a sparse tensor: docs/reference/limits.md says what to do instead"),
}
