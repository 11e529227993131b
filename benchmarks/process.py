"""What a whole process costs: the import, and the memory that it takes at most."""

import os
import statistics
import subprocess
import sys
from collections.abc import Iterator

from benchmarks.measure import Record, record

ROUNDS = 7
STEPS = 3
# VmHWM is the high-water mark of the resident set, which getrusage would inherit from the parent.
PEAK = "print(next(int(l.split()[1]) for l in open('/proc/self/status') if 'VmHWM' in l))"
STEP = """
import sys, torch
from benchmarks.gpt import GptLike, training_step
torch.manual_seed(0)
device, steps = sys.argv[1], int(sys.argv[2])
step = training_step(GptLike().to(device), device, False)
for _ in range(steps):
    step()
if device != "cpu":
    torch.accelerator.synchronize()
"""
IMPORT = """
import time
start = time.perf_counter()
import torch
print(time.perf_counter() - start)
"""


def printed(script: str, *arguments: str, **environment: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def process() -> Iterator[Record]:
    """`import torch` with the backend and without; peak memory of a few GPT-like steps."""
    ours, ref = [], []
    for n in range(ROUNDS + 1):
        times = [1e3 * printed(IMPORT, TORCH_DEVICE_BACKEND_AUTOLOAD=load) for load in "10"]
        if n > 0:  # the first fills the page cache
            ours.append(times[0])
            ref.append(times[1])
    reference = statistics.median(ref)
    yield record("process", "import torch", "ms", ours, reference, "without the backend")
    peaks = {
        device: [printed(STEP + PEAK, device, str(STEPS)) / 1024 for _ in range(2)]
        for device in ("neuron", "cpu")
    }
    reference = statistics.median(peaks["cpu"])
    name = "peak memory, GPT-like fp32 eager"
    yield record("process", name, "MB", peaks["neuron"], reference, "cpu eager")
