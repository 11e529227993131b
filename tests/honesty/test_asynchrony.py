"""A launch returns before the device has done it."""

import os
import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.usefixtures("device")
DELAY_US, LAUNCHES = 50_000, 20


def test_slow_launches_do_not_block_the_host():
    script = textwrap.dedent(f"""
        import time, torch
        x = torch.ones(64, 64).to("neuron")
        (x + 1.5).cpu()  # compiled and loaded before the clock starts
        start = time.monotonic()
        y = x
        for _ in range({LAUNCHES}):
            y = y + 1.5
        queued = time.monotonic() - start
        total = float(y.cpu()[0, 0])
        print(queued, time.monotonic() - start, total)
    """)
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"TORCHNEURON_LAUNCH_DELAY_US": str(DELAY_US), "TORCHNEURON_STRICT": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    queued, finished, value = map(float, done.stdout.split())
    assert value == 1 + 1.5 * LAUNCHES
    assert finished >= 0.9 * LAUNCHES * DELAY_US / 1e6
    assert queued < 0.5 * finished
