"""One record per compiled graph."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class GraphMetrics:
    """Times are seconds; `modelled_seconds` is one execution on the device, alone and cold."""

    graph_name: str
    graph_node_count: int
    lowering_time: float
    compile_time: float
    modelled_seconds: float


_records: list[GraphMetrics] = []


def record(metrics: GraphMetrics) -> None:
    _records.append(metrics)


def get_dynamo_metrics() -> list[GraphMetrics]:
    """Metrics of the graphs compiled so far in this process, in order."""
    return list(_records)
