"""Devices: how many, which one is current, what they are."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from torch_neuronx import _C


@dataclasses.dataclass(frozen=True)
class NeuronDeviceProperties:
    """One logical NeuronCore.

    name: "trn2" or "trn3". total_memory: bytes of HBM. multi_processor_count: physical cores.
    """

    name: str
    device_name: str
    total_memory: int
    logical_nc_config: int
    emulated: bool
    host_addressable: bool

    @property
    def multi_processor_count(self) -> int:
        return self.logical_nc_config


def index_of(device: Any = None) -> int:
    """Index of a device given as None (current), int, string or torch.device."""
    if device is None:
        return _C.current_device()
    if isinstance(device, int):
        return _C.current_device() if device < 0 else device
    if isinstance(device, str):
        device = torch.device(device)
    if device.type != "neuron":
        raise ValueError(f"expected a neuron device, got {device}")
    return _C.current_device() if device.index is None else device.index


def is_available() -> bool:
    return _C.device_count() > 0


def is_initialized() -> bool:
    return _C.is_initialized()


def init() -> None:
    """Load the NRT library now instead of at first use."""
    _C.initialize()


def device_count() -> int:
    return _C.device_count()


def current_device() -> int:
    return _C.current_device()


def set_device(device: Any) -> None:
    """Make `device` the current one of this thread; a negative index changes nothing."""
    if isinstance(device, int) and device < 0:
        return
    _C.set_device(index_of(device))


def exchange_device(device: int) -> int:
    """Make `device` current and return the previous one; negative: no change, -1."""
    return -1 if device < 0 else _C.exchange_device(device)


maybe_exchange_device = exchange_device


def synchronize(device: Any = None) -> None:
    """Wait for everything queued on all streams; raises what failed there since the last time."""
    _C.synchronize(index_of(device))


def get_device_properties(device: Any = None) -> NeuronDeviceProperties:
    return NeuronDeviceProperties(**_C.properties(index_of(device)))


def get_device_name(device: Any = None) -> str:
    return get_device_properties(device).device_name


def get_device_capability(device: Any = None) -> None:
    """Trainium has no compute capability number."""
    return None


def get_arch_list() -> list[str]:
    return ["trn2", "trn3"]


def is_bf16_supported(including_emulation: bool = True) -> bool:
    return True


class device:
    """Context manager: another current device. None or a negative index changes nothing."""

    def __init__(self, device: Any) -> None:
        unchanged = device is None or (isinstance(device, int) and device < 0)
        self.idx = -1 if unchanged else index_of(device)
        self.prev_idx = -1

    def __enter__(self) -> None:
        self.prev_idx = exchange_device(self.idx)

    def __exit__(self, *_: Any) -> None:
        exchange_device(self.prev_idx)


class device_of(device):
    """Context manager: the device of a tensor; no change for tensors that are elsewhere."""

    def __init__(self, tensor: torch.Tensor) -> None:
        super().__init__(tensor.device if tensor.device.type == "neuron" else None)


def _is_in_bad_fork() -> bool:
    return _C.is_in_bad_fork()


def _lazy_init() -> None:
    _C.initialize()


def _lazy_call(callback: Callable[[], Any], **_: Any) -> None:
    callback()
