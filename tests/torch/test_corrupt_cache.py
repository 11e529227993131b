"""A damaged entry of the directory of compiled programs: found out, said once, compiled anew."""

import pytest
from processes import outputs

SCRIPT = """
import torch, torch_neuronx
from torch_neuronx import _C
x = torch.arange(6, dtype=torch.float32, device="neuron")
y = (x * 3.5 + 1).tolist()
assert y == [3.5 * i + 1 for i in range(6)], y
s = _C.cache_statistics()
print(s["corrupt"], s["compiled"], s["disk_hits"])
"""


def _run(directory):
    counts, said = outputs(SCRIPT, TORCH_NEURONX_NEFF_CACHE_DIR=directory)
    return list(map(int, counts.split())), said


def _flip(data: bytearray) -> bytes:
    data[len(data) // 2] ^= 0x40
    return bytes(data)


DAMAGE = {
    "a flipped bit": _flip,
    "cut short": lambda data: bytes(data[: len(data) // 2]),
    "empty": lambda data: b"",
    "another file": lambda data: b"#!/bin/sh\n" * 100,
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_is_detected_said_once_and_compiled_anew(damage, tmp_path):
    (corrupt, compiled, _), _ = _run(tmp_path)
    assert corrupt == 0
    entries = sorted(tmp_path.rglob("*.neff"))
    assert len(entries) == compiled > 0
    for entry in entries:
        entry.write_bytes(DAMAGE[damage](bytearray(entry.read_bytes())))
    (corrupt, again, hits), said = _run(tmp_path)
    assert (corrupt, again, hits) == (len(entries), compiled, 0)
    assert said.count("fails its checksum") == 1
    (corrupt, again, hits), said = _run(tmp_path)
    assert (corrupt, again, hits) == (0, 0, len(entries))
    assert "checksum" not in said
