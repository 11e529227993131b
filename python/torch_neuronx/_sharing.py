"""Device memory and other processes: refused at once, with the way that works.

Without this, PyTorch would take the storage for CPU memory and the receiver would wait for ever.
"""

from __future__ import annotations

from typing import Any

import torch


def install() -> None:
    storage = torch.UntypedStorage
    for name in ("_share_filename_cpu_", "_share_fd_cpu_"):
        setattr(storage, name, _guarded(getattr(storage, name)))


def _guarded(share: Any) -> Any:
    def refuse_or_share(self: torch.UntypedStorage, *args: Any, **kwargs: Any) -> Any:
        if self.device.type == "neuron":
            raise NotImplementedError(
                "neuron: memory of the device cannot be shared between processes; send x.cpu() "
                "and move it to 'neuron' in the process that receives it"
            )
        return share(self, *args, **kwargs)

    return refuse_or_share
