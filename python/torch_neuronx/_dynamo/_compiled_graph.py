"""A compiled graph as AOT Autograd calls it: programs for the shapes met so far."""

from __future__ import annotations

import itertools
import logging
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from torch_neuronx import _C
from torch_neuronx._dynamo._lowering import GraphLowering, NotLowered
from torch_neuronx._dynamo._metrics import GraphMetrics, record
from torch_neuronx._dynamo._partition import REFUSED, partition

logger = logging.getLogger("torch_neuronx")
_numbers = itertools.count()


def compile_graph(
    gm: GraphModule, example_inputs: Sequence[Any], options: dict[str, Any]
) -> Callable[..., Any]:
    graph = CompiledGraph(gm, options)

    def run(inputs: list[Any]) -> Any:
        arguments = list(inputs)
        inputs.clear()  # AOT's boxed convention: nothing else keeps the inputs alive
        return graph(arguments)

    run._boxed_call = True  # type: ignore[attr-defined]
    return run


class _Variant:
    """One program: for these sizes, strides and numbers."""

    def __init__(self, lowering: GraphLowering, executable: Any, numbers: tuple[Any, ...]) -> None:
        self.executable = executable
        self.numbers = numbers
        self.constants = [tensor.to("neuron") for tensor in lowering.constants]
        self.outputs = lowering.outputs
        placeholders = [n for n in lowering.gm.graph.nodes if n.op == "placeholder"]
        self.mutated = [placeholders.index(node) for node in lowering.mutated]


class CompiledGraph:
    def __init__(self, gm: GraphModule, options: dict[str, Any]) -> None:
        self.gm = gm
        self.options = options
        self.name = f"graph_{next(_numbers)}"
        self._variants: list[_Variant] = []
        self._eager: Callable[..., Any] | None = None

    def __call__(self, arguments: list[Any]) -> Any:
        if self._eager is not None:
            return self._eager(*arguments)
        placed = [_on_device(a) for a in arguments]
        tensors = [a for a in placed if isinstance(a, torch.Tensor)]
        numbers = tuple(a for a in placed if not isinstance(a, torch.Tensor))
        for variant in self._variants:
            if variant.numbers == numbers and variant.executable.accepts(
                tensors + variant.constants
            ):
                break
        else:
            built = self._build(placed, numbers)
            if built is None:
                return self(arguments)
            variant = built
        results = variant.executable.run(tensors + variant.constants)
        for index in variant.mutated:
            if placed[index] is not arguments[index]:
                arguments[index].copy_(placed[index])
        outputs: list[Any] = []
        for kind, value in variant.outputs:
            if kind == "tensor":
                outputs.append(results[value])
            elif kind == "view":
                index, *place = value
                outputs.append(results[index].as_strided(*place))
            else:
                outputs.append(arguments[value] if kind == "input" else value)
        return outputs

    def _build(self, placed: list[Any], numbers: tuple[Any, ...]) -> _Variant | None:
        start = time.perf_counter()
        device = next((a.device.index for a in placed if isinstance(a, torch.Tensor)), None)
        device = _C.current_device() if device is None else device
        lowering = GraphLowering(self.gm, placed, self.name, device)
        try:
            lowering.run()
        except NotLowered as error:
            logger.warning(
                "%s: %s%s (%s); the graph is split there",
                self.name,
                error.node.target,
                _user_line(error.node),
                error.reason,
            )
            error.node.meta[REFUSED] = True
            self._eager = partition(self.gm, self.options)
            return None
        lowered = time.perf_counter()
        try:
            executable = lowering.builder.compile()
        except (NotImplementedError, RuntimeError) as error:
            if not self._fallback_execution():
                raise
            logger.warning("%s does not compile and runs op by op: %s", self.name, error)
            self._eager = self.gm
            return None
        record(
            GraphMetrics(
                graph_name=self.name,
                graph_node_count=len(self.gm.graph.nodes),
                lowering_time=lowered - start,
                compile_time=time.perf_counter() - lowered,
                modelled_seconds=executable.modelled_seconds,
            )
        )
        variant = _Variant(lowering, executable, numbers)
        self._variants.insert(0, variant)
        return variant

    def _fallback_execution(self) -> bool:
        if "fallback_execution" in self.options:
            return bool(self.options["fallback_execution"])
        return os.environ.get("TORCH_NEURONX_DISABLE_FALLBACK_EXECUTION", "1") == "0"


def _user_line(node: Node) -> str:
    """Where the user's code has this node, as far as it is known: ` at model.py:12 in layers.1`."""
    frames = [
        line.strip()
        for line in (node.meta.get("stack_trace") or "").splitlines()
        if line.strip().startswith("File ")
    ]
    where = ""
    if frames:
        file, _, rest = frames[-1].removeprefix("File ").partition(", line ")
        where = " at {}:{}".format(file.strip('"'), rest.split(",")[0])
    modules = [path for path, _ in (node.meta.get("nn_module_stack") or {}).values()]
    return where + (f" in {modules[-1]}" if modules and modules[-1] else "")


def _on_device(value: Any) -> Any:
    """CPU tensors are copied to the device, unless the user forbids it."""
    if not isinstance(value, torch.Tensor) or value.device.type == "neuron":
        return value
    if os.environ.get("TORCH_NEURONX_DYNAMO_DISABLE_CPU_AUTOCOPY") == "1":
        raise RuntimeError(
            f"a compiled graph on 'neuron' got a tensor on {value.device}; move it, or unset "
            "TORCH_NEURONX_DYNAMO_DISABLE_CPU_AUTOCOPY"
        )
    return value.to("neuron")
