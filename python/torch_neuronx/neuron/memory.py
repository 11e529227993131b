"""Device memory: statistics, cache, snapshots. Sizes are bytes."""

from __future__ import annotations

import json
from typing import Any

from torch_neuronx import _C
from torch_neuronx.neuron._device import index_of

_GROUPS = {
    "allocated_bytes": ("allocated_bytes", "peak_allocated_bytes"),
    "reserved_bytes": ("reserved_bytes", "peak_reserved_bytes"),
    "active_bytes": ("allocated_bytes", "peak_allocated_bytes"),
}


def memory_stats(device: Any = None) -> dict[str, Any]:
    """Counters of the caching allocator.

    `stats["allocated_bytes.all.current"]` as in CUDA, and nested,
    `stats["allocated_bytes"]["current"]`.
    """
    raw = _C.memory_statistics(index_of(device))
    stats: dict[str, Any] = {}
    for group, (current, peak) in _GROUPS.items():
        nested = {"current": raw[current], "peak": raw[peak]}
        stats[group] = nested
        for key, value in nested.items():
            stats[f"{group}.all.{key}"] = value
    stats["allocation.all.current"] = raw["active_blocks"]
    stats["allocation.all.allocated"] = raw["allocations"]
    stats["allocation.all.freed"] = raw["frees"]
    stats["segment.all.current"] = raw["segments"]
    stats["num_alloc_retries"] = raw["retries"]
    stats["num_ooms"] = raw["out_of_memory"]
    return stats


def memory_allocated(device: Any = None) -> int:
    return _C.memory_statistics(index_of(device))["allocated_bytes"]


def max_memory_allocated(device: Any = None) -> int:
    return _C.memory_statistics(index_of(device))["peak_allocated_bytes"]


def memory_reserved(device: Any = None) -> int:
    return _C.memory_statistics(index_of(device))["reserved_bytes"]


def max_memory_reserved(device: Any = None) -> int:
    return _C.memory_statistics(index_of(device))["peak_reserved_bytes"]


def reset_peak_memory_stats(device: Any = None) -> None:
    _C.reset_peak_memory_statistics(index_of(device))


def reset_accumulated_memory_stats(device: Any = None) -> None:
    """The counters run since the start of the process; only peaks can be reset."""


def empty_cache(device: Any = None) -> None:
    """Return cached blocks that no tensor uses."""
    _C.empty_cache(index_of(device))


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """(free, total) bytes of HBM of one logical core."""
    total = _C.properties(index_of(device))["total_memory"]
    return max(total - memory_reserved(device), 0), total


def memory_snapshot(device: Any = None) -> Any:
    """Segments and blocks of the caching allocator."""
    return json.loads(_C.memory_snapshot_json(index_of(device)))


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """The statistics as a table."""
    stats = memory_stats(device)
    mib = 1024 * 1024
    lines = [f"neuron:{index_of(device)} memory (MiB)      current       peak"]
    for group, label in (("allocated_bytes", "allocated"), ("reserved_bytes", "reserved")):
        current, peak = stats[group]["current"] / mib, stats[group]["peak"] / mib
        lines.append(f"  {label:<20} {current:14.1f} {peak:10.1f}")
    if not abbreviated:
        lines.append(f"  blocks in use        {stats['allocation.all.current']:14d}")
        lines.append(f"  segments             {stats['segment.all.current']:14d}")
        lines.append(f"  out of memory        {stats['num_ooms']:14d}")
    return "\n".join(lines)
