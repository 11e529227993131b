"""Streams and events; both are PyTorch's own classes with the device filled in."""

from __future__ import annotations

from typing import Any

import torch

from torch_neuronx.neuron._device import index_of


class Stream(torch.Stream):
    """A queue of device work, in order; work of different streams may overlap copies."""

    def __new__(cls, device: Any = None, priority: int = 0, **kwargs: Any) -> Stream:
        if "stream_id" in kwargs:
            return super().__new__(cls, **kwargs)
        return super().__new__(cls, torch.device("neuron", index_of(device)), priority=priority)


class _NeuronEvents(type):
    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, torch.Event) and instance.device.type == "neuron"


class Event(torch.Event, metaclass=_NeuronEvents):
    """A point in a stream. `elapsed_time` between two events is modelled device time in ms."""

    # An instance is a plain torch.Event: its elapsed_time refuses subclasses (2.13).
    def __new__(  # type: ignore[misc]
        cls, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> torch.Event:
        return torch.Event(
            "neuron",
            enable_timing=enable_timing,
            blocking=blocking,
            interprocess=interprocess,
        )


def _wrap(stream: torch.Stream) -> Stream:
    return Stream(
        stream_id=stream.stream_id,
        device_index=stream.device_index,
        device_type=stream.device_type,
    )


def current_stream(device: Any = None) -> Stream:
    return _wrap(torch.accelerator.current_stream(torch.device("neuron", index_of(device))))


def default_stream(device: Any = None) -> Stream:
    like = torch.accelerator.current_stream(torch.device("neuron", index_of(device)))
    return Stream(stream_id=0, device_index=like.device_index, device_type=like.device_type)


def set_stream(stream: torch.Stream | None) -> None:
    if stream is not None:
        torch.accelerator.set_stream(stream)


class StreamContext:
    """Context manager: another current stream, on its device. None changes nothing."""

    def __init__(self, stream: torch.Stream | None) -> None:
        self.stream = stream
        self._previous: list[Any] = []

    def __enter__(self) -> None:
        if self.stream is None:
            return
        device = torch.accelerator.current_device_index()
        self._previous.append((device, current_stream(self.stream.device)))
        torch.accelerator.set_stream(self.stream)

    def __exit__(self, *_: Any) -> None:
        if self.stream is None:
            return
        device, previous = self._previous.pop()
        torch.accelerator.set_stream(previous)
        torch.accelerator.set_device_index(device)


def stream(stream: torch.Stream | None) -> StreamContext:
    return StreamContext(stream)
