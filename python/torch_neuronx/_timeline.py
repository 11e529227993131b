"""The modelled time of the device: a clock, and what its engines did between two points."""

from __future__ import annotations

import contextlib
import json
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
