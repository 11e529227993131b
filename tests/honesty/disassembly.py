"""The text of compiled programs, by the disassembler that ships."""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path

from torch_neuronx import _C

# Beside the extension module: an editable install has its Python files elsewhere.
OBJDUMP = Path(_C.__file__).parent / "bin" / "neuron-objdump"
CACHE_HEADER = 48  # bytes before the container (src/runtime/disk_cache.cpp)


def of(program: str) -> str:
    """`program`: a file of the directory of compiled programs."""
    with tempfile.NamedTemporaryFile(suffix=".neff") as container:
        container.write(Path(program).read_bytes()[CACHE_HEADER:])
        container.flush()
        done = subprocess.run([OBJDUMP, container.name], capture_output=True, text=True, check=True)
    return done.stdout


def gpsimd_kernels(program: str) -> list[str]:
    """Lines that call a GpSimd kernel. A program without an instruction is an error."""
    text = of(program)
    assert "dma_copy" in text or "dma_transpose" in text, text[:300]
    return re.findall(r"^.*\bgpsimd_kernel\b.*$", text, re.M)


def on_engine(program: str, engine: str) -> set[str]:
    """Mnemonics of the instructions that the engine executes."""
    return set(re.findall(rf"^ *\d+ {engine} +(\w+)", of(program), re.M))
