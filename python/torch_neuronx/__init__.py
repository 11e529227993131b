"""PyTorch device `neuron`: AWS Trainium on a machine that has the chip, and on every other.

Nobody needs to import this package: PyTorch loads it through the `torch.backends` entry point.
`torch.neuron` is the device module; what is here is the rest of the public surface.
"""

from __future__ import annotations

_loaded = False


def _autoload() -> None:
    """Entry point of group `torch.backends`; called once at the end of `import torch`."""
    global _loaded
    if _loaded:
        return
    _loaded = True
    from torch_neuronx import _registration

    _registration.register()


# After _autoload: importing torch calls it through the entry point, while this module is half done.
import torch  # noqa: E402, F401

_autoload()

from torch_neuronx._fallback import (  # noqa: E402
    clear_op_tracking,
    get_fallback_counts,
    get_fallback_ops,
)
from torch_neuronx._timeline import (  # noqa: E402
    EngineEvent,
    Timeline,
    modelled_device_seconds,
    record_timeline,
)
from torch_neuronx.neuron import (  # noqa: E402
    Event,
    Stream,
    current_stream,
    device_count,
    empty_cache,
    is_available,
    max_memory_allocated,
    max_memory_reserved,
    memory_allocated,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_peak_memory_stats,
    stream,
    synchronize,
)

__all__ = [
    "EngineEvent",
    "Event",
    "Stream",
    "Timeline",
    "clear_op_tracking",
    "current_stream",
    "device_count",
    "empty_cache",
    "get_fallback_counts",
    "get_fallback_ops",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "modelled_device_seconds",
    "record_timeline",
    "reset_peak_memory_stats",
    "stream",
    "synchronize",
]
