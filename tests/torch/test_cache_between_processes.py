"""Processes that want the same programs at the same time: one of them compiles each."""

from processes import finish, start

SCRIPT = """
import sys, torch
from torch_neuronx import _C
x = torch.arange(6, dtype=torch.float32, device="neuron")
torch.neuron.synchronize()
print("ready", flush=True)
sys.stdin.readline()  # all begin together
for k in range(2, 10):
    y = x.repeat(k)
    assert ((y * 3.5 + 1).sum() > 0).item()
s = _C.cache_statistics()
print(s["compiled"], s["disk_hits"])
"""


def test_each_program_is_compiled_once(tmp_path):
    processes = [start(SCRIPT, TORCH_NEURONX_NEFF_CACHE_DIR=tmp_path) for _ in range(3)]
    for process in processes:
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        process.stdin.write("go\n")
        process.stdin.flush()
    counts = [tuple(map(int, finish(p)[1].split())) for p in processes]
    entries = len(list(tmp_path.rglob("*.neff")))
    assert entries > 8
    assert sum(compiled for compiled, _ in counts) == entries
    assert all(compiled + hits == entries for compiled, hits in counts)
