"""DLPack between tensors of the device: its type code is `kDLExtDev`.

PyTorch's C++ side exports and imports PrivateUse1 so. `Tensor.__dlpack_device__` looks for the name
"privateuse1", which a renamed backend no longer has.
"""

from __future__ import annotations

import enum

import torch


def install() -> None:
    of_others = torch.Tensor.__dlpack_device__

    def dlpack_device(self: torch.Tensor) -> tuple[enum.IntEnum, int]:
        if type(self) in (torch.Tensor, torch.nn.Parameter) and self.device.type == "neuron":
            from torch.utils.dlpack import DLDeviceType

            return DLDeviceType.kDLExtDev, self.device.index
        return of_others(self)

    torch.Tensor.__dlpack_device__ = dlpack_device  # type: ignore[method-assign]
