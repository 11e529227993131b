"""Console commands: each becomes the program of its name in torch_neuronx/bin."""

from __future__ import annotations

import os
import sys
from importlib.metadata import distribution


def neuron_compile() -> None:
    _become("neuron-compile")


def neuron_info() -> None:
    _become("neuron-info")


def neuron_objdump() -> None:
    _become("neuron-objdump")


def _become(program: str) -> None:
    path = str(distribution("torchneuron").locate_file(f"torch_neuronx/bin/{program}"))
    os.execv(path, [path, *sys.argv[1:]])
