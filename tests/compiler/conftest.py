"""Programs run on the emulator that device `neuron` uses: one process has one."""

import ctypes
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def emulator():
    from torch_neuronx import _C

    # From here on the loader finds it by its name.
    return ctypes.CDLL(str(Path(_C.__file__).parent / "lib" / "libnrt_emulator.so.1"))
