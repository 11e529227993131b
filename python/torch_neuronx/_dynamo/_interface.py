"""What Dynamo asks about the device."""

from __future__ import annotations

from typing import Any

import torch
from torch._dynamo.device_interface import DeviceInterface, register_interface_for_device

from torch_neuronx import neuron


class NeuronInterface(DeviceInterface):
    device = neuron.device
    Event = neuron.Event
    Stream = neuron.Stream

    class Worker:
        set_device = staticmethod(neuron.set_device)
        current_device = staticmethod(neuron.current_device)
        get_device_properties = staticmethod(neuron.get_device_properties)

    current_device = staticmethod(neuron.current_device)
    set_device = staticmethod(neuron.set_device)
    exchange_device = staticmethod(neuron.exchange_device)
    maybe_exchange_device = staticmethod(neuron.maybe_exchange_device)
    device_count = staticmethod(neuron.device_count)
    is_available = staticmethod(neuron.is_available)
    stream = staticmethod(neuron.stream)
    current_stream = staticmethod(neuron.current_stream)
    set_stream = staticmethod(neuron.set_stream)
    synchronize = staticmethod(neuron.synchronize)
    get_device_properties = staticmethod(neuron.get_device_properties)
    memory_allocated = staticmethod(neuron.memory_allocated)
    is_bf16_supported = staticmethod(neuron.is_bf16_supported)

    @staticmethod
    def _set_stream_by_id(stream_id: int, device_index: int, device_type: int) -> None:
        torch.accelerator.set_stream(
            torch.Stream(stream_id=stream_id, device_index=device_index, device_type=device_type)
        )

    @staticmethod
    def get_raw_stream(device_idx: int) -> int:
        return neuron.current_stream(device_idx).stream_id

    @staticmethod
    def get_compute_capability(device: Any = None) -> str:
        return neuron.get_device_properties(device).name


def register_interfaces() -> None:
    register_interface_for_device("neuron", NeuronInterface)
    for index in range(neuron.device_count()):
        register_interface_for_device(f"neuron:{index}", NeuronInterface)
