"""Random state: one Philox generator per device, (seed, offset)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch

from torch_neuronx import _C
from torch_neuronx.neuron._device import index_of


class _Generators:
    """Sequence of the devices' default generators, made when first asked for."""

    def __len__(self) -> int:
        return _C.device_count()

    def __getitem__(self, index: int) -> torch.Generator:
        if not 0 <= index < len(self):
            raise IndexError(f"neuron: no device {index}; there are {len(self)}")
        return _C.default_generator(index)

    def __iter__(self) -> Iterator[torch.Generator]:
        return (self[i] for i in range(len(self)))


default_generators = _Generators()


def get_rng_state(device: Any = "neuron") -> torch.Tensor:
    return default_generators[index_of(device)].get_state()


def get_rng_state_all() -> list[torch.Tensor]:
    return [generator.get_state() for generator in default_generators]


def set_rng_state(new_state: torch.Tensor, device: Any = "neuron") -> None:
    default_generators[index_of(device)].set_state(new_state)


def set_rng_state_all(new_states: Iterable[torch.Tensor]) -> None:
    for generator, state in zip(default_generators, new_states, strict=True):
        generator.set_state(state)


def manual_seed(seed: int) -> None:
    """Seed the current device."""
    default_generators[_C.current_device()].manual_seed(int(seed))


def manual_seed_all(seed: int) -> None:
    for generator in default_generators:
        generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the current device from the system's entropy; returns the seed."""
    return default_generators[_C.current_device()].seed()


def seed_all() -> None:
    manual_seed_all(seed())


def initial_seed() -> int:
    return default_generators[_C.current_device()].initial_seed()
