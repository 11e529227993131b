"""The Dynamo backend `neuron`: AOT Autograd's graphs as one program each.

Loaded through the `torch_dynamo_backends` entry point, so that importing torch does not import
Dynamo.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._functorch.partitioners import min_cut_rematerialization_partition
from torch.fx import GraphModule

from torch_neuronx._dynamo._compiled_graph import compile_graph
from torch_neuronx._dynamo._decompositions import decompositions
from torch_neuronx._dynamo._interface import register_interfaces
from torch_neuronx._dynamo._metrics import get_dynamo_metrics

__all__ = ["get_dynamo_metrics", "neuron", "touches_neuron"]

register_interfaces()

_OPTIONS = {"fallback_execution"}


@functools.cache
def _say_once(message: str) -> None:
    logging.getLogger("torch_neuronx").warning("torch.compile: %s", message)


def neuron(
    gm: GraphModule,
    example_inputs: Sequence[Any],
    *,
    mode: str | None = None,
    options: dict[str, Any] | None = None,
) -> Callable[..., Any]:
    """Compile an FX graph; graphs without neuron tensors go to Inductor.

    options: `fallback_execution` (bool): run a graph that fails to compile op by op instead of
    raising; default from TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION. Other options and every `mode`
    have no effect, which is said once.
    """
    if mode not in (None, "default"):
        _say_once(f"mode={mode!r} has no effect on backend 'neuron'")
    for name in sorted(set(options or {}) - _OPTIONS):
        _say_once(f"option {name!r} is unknown to backend 'neuron' and has no effect")
    if not touches_neuron(gm, example_inputs):
        from torch._inductor.compile_fx import compile_fx

        compiled = compile_fx(gm, list(example_inputs))
        assert callable(compiled)  # AOTInductor's other results are not asked for
        return compiled

    def compiler(graph: GraphModule, inputs: Sequence[Any]) -> Callable[..., Any]:
        return compile_graph(graph, inputs, options or {})

    backend = aot_autograd(
        fw_compiler=compiler,
        bw_compiler=compiler,
        inference_compiler=compiler,
        decompositions=decompositions(),
        partition_fn=min_cut_rematerialization_partition,
        keep_inference_input_mutations=True,
    )
    return backend(gm, example_inputs)


def touches_neuron(gm: GraphModule, inputs: Sequence[Any]) -> bool:
    """Whether an input, a parameter or a value of the graph is on the device."""
    tensors = [x for x in inputs if isinstance(x, torch.Tensor)]
    tensors += [*gm.parameters(), *gm.buffers()]
    if any(tensor.device.type == "neuron" for tensor in tensors):
        return True
    for node in gm.graph.nodes:
        value = node.meta.get("example_value", node.meta.get("val"))
        if isinstance(value, torch.Tensor) and value.device.type == "neuron":
            return True
    return False
