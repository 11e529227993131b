"""Instructions against NumPy.

What trn3 alone has is marked so, and skipped where the process's chip is another one; test_trn3.py
runs all of it in a process with that chip.
"""

import os

import numpy as np
import pytest


@pytest.fixture
def rng():
    return np.random.default_rng(2026)


def pytest_configure(config):
    config.addinivalue_line("markers", "trn2: needs a process whose chip is trn2")
    config.addinivalue_line("markers", "trn3: needs a process whose chip is trn3")


def pytest_collection_modifyitems(items):
    trn3 = os.environ.get("NEURON_PLATFORM_TARGET_OVERRIDE") in ("trn3", "gen4")
    for item in items:
        if item.get_closest_marker("trn2" if trn3 else "trn3"):
            item.add_marker(pytest.mark.skip(reason="for the other chip; see test_trn3.py"))
