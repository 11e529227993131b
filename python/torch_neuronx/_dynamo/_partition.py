"""Graphs with nodes that no row serves: the rest is compiled in parts, those nodes run eagerly."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner
from torch.fx.passes.operator_support import OperatorSupportBase

from torch_neuronx import _C
from torch_neuronx._dynamo._decompositions import row_name

REFUSED = "neuron_refused"  # in a node's meta: its row refused it


class _HasRow(OperatorSupportBase):
    def is_node_supported(self, submodules: Any, node: Node) -> bool:
        if node.op != "call_function" or node.meta.get(REFUSED):
            return False
        if node.target is operator.getitem:
            return self.is_node_supported(submodules, node.args[0])  # type: ignore[arg-type]
        if not isinstance(node.target, torch._ops.OpOverload) or node.target._schema.is_mutable:
            return False
        value = node.meta.get("val")
        first = value[0] if isinstance(value, (list, tuple)) and value else value
        on_device = isinstance(first, torch.Tensor) and first.device.type == "neuron"
        return on_device and _C.has_row(row_name(node.target))


def partition(gm: GraphModule, options: dict[str, Any]) -> Callable[..., Any]:
    """A callable over the graph's inputs in which each supported part is one program."""
    from torch_neuronx._dynamo._compiled_graph import CompiledGraph

    partitioner = CapabilityBasedPartitioner(gm, _HasRow(), allows_single_node_partition=True)
    fused = partitioner.partition_and_fuse()
    for name, module in fused.named_children():
        if isinstance(module, GraphModule) and name.startswith("fused_"):
            setattr(fused, name, _Part(CompiledGraph(module, options)))
    return fused


class _Part(torch.nn.Module):
    """A compiled part in the place of its submodule."""

    def __init__(self, graph: Any) -> None:
        super().__init__()
        self.graph = graph

    def forward(self, *arguments: Any) -> Any:
        results = self.graph(list(arguments))
        return results[0] if isinstance(results, list) and len(results) == 1 else results
