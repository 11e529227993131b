"""The modelled time of the device: a clock, and what its engines did between two points."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from torch_neuronx import _C


@dataclass(frozen=True)
class EngineEvent:
    """One instruction on the modelled time line; picoseconds from the start of the recording."""

    device: int
    op: str  # the PyTorch op or graph whose program it belongs to
    engine: str  # "Tensor", "Vector", "Scalar", "GpSimd" or "DMA"
    instruction: str  # mnemonic
    start_ps: int
    end_ps: int


@dataclass
class Timeline:
    """What `record_timeline` fills when its block ends."""

    events: list[EngineEvent] = field(default_factory=list)

    @property
    def duration_ps(self) -> int:
        return max((event.end_ps for event in self.events), default=0)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the events in Chrome's trace-event format, for Perfetto or chrome://tracing.

        A process is a device, a row one of its engines; times are microseconds.
        """
        rows = list(dict.fromkeys([*_ENGINES.values(), "DMA"]))
        trace: list[dict[str, object]] = []
        for device in sorted({event.device for event in self.events}):
            names = [("process_name", 0, f"neuron:{device}")]
            names += [("thread_name", tid, row) for tid, row in enumerate(rows)]
            trace += [
                {"ph": "M", "name": what, "pid": device, "tid": tid, "args": {"name": name}}
                for what, tid, name in names
            ]
        trace += [
            {
                "ph": "X",
                "name": event.instruction,
                "cat": event.op,
                "pid": event.device,
                "tid": rows.index(event.engine),
                "ts": event.start_ps / 1e6,
                "dur": (event.end_ps - event.start_ps) / 1e6,
                "args": {"op": event.op},
            }
            for event in self.events
        ]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"displayTimeUnit": "ns", "traceEvents": trace}, file)


_ENGINES = {"tensor": "Tensor", "vector": "Vector", "scalar": "Scalar", "gpsimd": "GpSimd"}


@contextlib.contextmanager
def record_timeline() -> Iterator[Timeline]:
    """Record the modelled engine activity of everything launched inside the block.

    The device is synchronised at both ends. One recording at a time in a process. Programs of more
    than 100,000 executed instructions are cut there.
    """
    import torch

    torch.accelerator.synchronize()
    timeline = Timeline()
    _C.start_timeline()
    try:
        yield timeline
    finally:
        torch.accelerator.synchronize()
        launches = _C.stop_timeline()
    origin = min((start for _, _, start, _, _ in launches), default=0)
    for device, op, start, _, events in launches:
        for event in json.loads(events):
            timeline.events.append(
                EngineEvent(
                    device=device,
                    op=op,
                    engine=_ENGINES.get(str(event["engine"]).lower(), "DMA"),
                    instruction=event["mnemonic"],
                    start_ps=start - origin + event["start_ps"],
                    end_ps=start - origin + event["end_ps"],
                )
            )


def modelled_device_seconds(device: int | None = None) -> float:
    """Seconds that the chip would have worked until now: the device's virtual clock.

    Queued work counts once it has run; synchronise first.
    """
    return float(_C.modelled_device_seconds(-1 if device is None else device))
