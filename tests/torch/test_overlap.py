"""Copies beside computing through PyTorch's streams, full queues, and Ctrl-C; each in a process of
its own, on a device made slow."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
from processes import result

START = """
    import json, os, signal, threading, time
    import torch

    MB = 1 << 20
    pinned = torch.ones(MB, dtype=torch.uint8, pin_memory=True)
    x = torch.ones(64, device="neuron")
    y = x + x
    side = torch.Stream("neuron")
    torch.accelerator.synchronize()
"""


def run(program, **variables):
    return result(textwrap.dedent(START) + textwrap.dedent(program), **variables)


def test_copies_run_while_a_program_executes():
    queued, total, value, copied = run(
        """
        start = time.perf_counter()
        for _ in range(5):
            y = y + x
        with side:
            there = pinned.to("neuron", non_blocking=True)
            for _ in range(4):
                there.copy_(pinned, non_blocking=True)
            back = torch.empty(MB, dtype=torch.uint8, pin_memory=True)
            back.copy_(there, non_blocking=True)
        queued = time.perf_counter() - start
        torch.accelerator.synchronize()
        total = time.perf_counter() - start
        print(json.dumps([queued, total, y.cpu()[0].item(), int(back.sum())]))
        """,
        TORCHNEURON_LAUNCH_DELAY_US=100_000,
        TORCHNEURON_COPY_DELAY_US=80_000,
    )
    assert value == 7
    assert copied == 1 << 20
    assert queued < 0.3
    assert 0.5 <= total < 0.85  # 0.98 one after the other


def test_wait_stream_orders():
    values = run(
        """
        values = []
        main = torch.accelerator.current_stream()
        for i in range(1, 4):
            host = torch.full((MB,), i, dtype=torch.uint8).pin_memory()
            side.wait_stream(main)
            with side:
                there = host.to("neuron", non_blocking=True)
            main.wait_stream(side)
            there.record_stream(main)
            values.append((there[:1].int() + 1).item())
        print(json.dumps(values))
        """,
        TORCHNEURON_COPY_DELAY_US=50_000,
    )
    assert values == [2, 3, 4]


def test_events_time_what_overlaps():
    computing, copying, both, ordered = run(
        """
        a = torch.ones(512, 512, device="neuron")
        a @ a
        there = pinned.to("neuron")
        main = torch.accelerator.current_stream()

        def compute():
            for _ in range(4):
                a @ a

        def copy():
            for _ in range(4):
                there.copy_(pinned, non_blocking=True)

        def measure(on_main, on_side):
            torch.accelerator.synchronize()
            begin = torch.Event("neuron", enable_timing=True)
            end = torch.Event("neuron", enable_timing=True)
            begin.record(main)
            side.wait_event(begin)
            on_main()
            with side:
                on_side()
            main.wait_stream(side)
            end.record(main)
            torch.accelerator.synchronize()
            return begin.elapsed_time(end)

        nothing = lambda: None
        print(json.dumps([
            measure(compute, nothing),
            measure(nothing, copy),
            measure(compute, copy),
            measure(lambda: (compute(), copy()), nothing),
        ]))
        """
    )
    assert computing > 0
    assert copying > 0
    assert both == pytest.approx(max(computing, copying), rel=0.02)
    assert ordered == pytest.approx(computing + copying, rel=0.02)


# What the main thread does when the signal comes: a loop that launches faster than the device runs,
# or a wait for what was launched.
INTERRUPTED = {
    "full queue": "while True: y = y + x",
    "synchronize": "[y + x for _ in range(40)]; torch.accelerator.synchronize()",
    "stream": "[y + x for _ in range(40)]; torch.accelerator.current_stream().synchronize()",
    "event": "[y + x for _ in range(40)]; e = torch.Event('neuron'); e.record(); e.synchronize()",
    "item": "[y + x for _ in range(40)]; y[0].item()",
    "cpu": "[y + x for _ in range(40)]; (y + 1).cpu()",
    "to device": "[y + x for _ in range(40)]; y.copy_(torch.ones(64)); torch.ones(MB).to('neuron')",
}


@pytest.mark.parametrize("loop", INTERRUPTED.values(), ids=INTERRUPTED)
def test_ctrl_c_ends_a_wait_and_leaves_the_device_usable(loop):
    waited, raised, total = run(
        f"""
        sent = [0.0]

        def send():
            sent[0] = time.perf_counter()
            os.kill(os.getpid(), signal.SIGINT)

        timer = threading.Timer(1.0, send)
        timer.start()
        raised = False
        try:
            {loop}
        except KeyboardInterrupt:
            raised = True
        waited = time.perf_counter() - sent[0]
        torch.accelerator.synchronize()
        print(json.dumps([waited, raised, (x * 3).sum().item()]))
        """,
        TORCHNEURON_LAUNCH_DELAY_US=3_000 if loop.startswith("while") else 60_000,
    )
    assert raised
    assert waited < 0.5
    assert total == 192


def test_ctrl_c_ends_the_process():
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(START) + "print('go', flush=True)\nwhile True: y + x",
        ],
        env={**os.environ, "TORCHNEURON_LAUNCH_DELAY_US": "20000"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "go\n"
    time.sleep(1)  # the queue is full: 20 s of work
    start = time.perf_counter()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
    assert time.perf_counter() - start < 10
