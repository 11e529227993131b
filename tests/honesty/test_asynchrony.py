"""A launch returns before the device has done it."""

import pytest
from processes import output

pytestmark = pytest.mark.usefixtures("device")
DELAY_US, LAUNCHES = 50_000, 20


def test_slow_launches_do_not_block_the_host():
    script = f"""
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
    """
    said = output(script, TORCHNEURON_LAUNCH_DELAY_US=DELAY_US, TORCHNEURON_STRICT=1)
    queued, finished, value = map(float, said.split())
    assert value == 1 + 1.5 * LAUNCHES
    assert finished >= 0.9 * LAUNCHES * DELAY_US / 1e6
    assert queued < 0.5 * finished
