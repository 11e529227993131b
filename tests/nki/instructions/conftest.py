"""Instructions against NumPy.

What trn3 alone has is marked so, and skipped where the process's chip is another one; test_trn3.py
runs all of it in a process with that chip.
"""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from nki._errors import NkiValidationError
from nki._trace import Trace

# Where a run writes what it has used of the table: [mnemonic, engine], [mnemonic, operand] and
# the labels of the rules that refused something. test_trn3.py asks for it.
USED_FILE = "TORCHNEURON_TEST_USED_FILE"


class Used:
    def __init__(self):
        self.engines, self.operands, self.labels = set(), set(), set()

    def note(self, emit):
        def noting(trace, mnemonic, engine, *tail, **operands):
            try:
                index = emit(trace, mnemonic, engine, *tail, **operands)
            except NkiValidationError as error:
                self.labels.update(re.findall(r"\b[a-z0-9_]+\.[a-z0-9_]+(?=:)", str(error)))
                raise
            self.engines.add((mnemonic, engine))
            given = {name for name, value in operands.items() if value is not None}
            self.operands.update((mnemonic, name) for name in given)
            return index

        return noting

    def write(self, path):
        parts = {name: sorted(getattr(self, name)) for name in ("engines", "operands", "labels")}
        Path(path).write_text(json.dumps(parts))


@pytest.fixture
def rng():
    return np.random.default_rng(2026)


def pytest_configure(config):
    config.addinivalue_line("markers", "trn2: needs a process whose chip is trn2")
    config.addinivalue_line("markers", "trn3: needs a process whose chip is trn3")
    if USED_FILE in os.environ:
        config.used = Used()
        Trace.emit = config.used.note(Trace.emit)


def pytest_sessionfinish(session):
    if hasattr(session.config, "used"):
        session.config.used.write(os.environ[USED_FILE])


def pytest_collection_modifyitems(items):
    trn3 = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE") in ("trn3", "gen4")
    for item in items:
        if item.get_closest_marker("trn2" if trn3 else "trn3"):
            item.add_marker(pytest.mark.skip(reason="for the other chip; see test_trn3.py"))
