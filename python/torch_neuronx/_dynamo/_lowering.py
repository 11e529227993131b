"""An FX graph, node by node, through the lowering rows."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node

from torch_neuronx import _C
from torch_neuronx._dynamo._decompositions import row_name
from torch_neuronx._dynamo._views import shared_storages

aten = torch.ops.aten


class NotLowered(Exception):
    """No row serves this node, or its row refuses it."""

    def __init__(self, node: Node, reason: str) -> None:
        super().__init__(f"{node.format_node()}: {reason}")
        self.node = node
        self.reason = reason


class GraphLowering:
    """Builds the program of `gm` for these inputs: tensors on the device, and numbers."""

    def __init__(self, gm: GraphModule, inputs: Sequence[Any], name: str, device: int) -> None:
        self.gm = gm
        self.builder = _C.GraphBuilder(name, device)
        self.values: dict[Node, Any] = {}
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.constants: list[torch.Tensor] = []  # further inputs: tensors that the module holds
        self.mutated: dict[Node, Any] = {}
        self._inputs = iter(inputs)
        # Of each output: ("tensor", index), ("input", placeholder index), ("number", value) or
        # ("view", (index, sizes, strides, offset)) of a tensor that is returned or kept for it.
        self.outputs: list[tuple[str, Any]] = []

    def run(self) -> None:
        placeholders = [n for n in self.gm.graph.nodes if n.op == "placeholder"]
        for node in placeholders:
            self.values[node] = self._input(next(self._inputs))
        for node in self.gm.graph.nodes:
            if node.op == "get_attr":
                self.values[node] = self._attribute(node)
        for node in self.gm.graph.nodes:
            if node.op == "call_function":
                self.values[node] = self._call(node)
            elif node.op == "output":
                self._output(node, placeholders)
            elif node.op not in ("placeholder", "get_attr"):
                raise NotLowered(node, f"nodes of kind {node.op} are not lowered")

    def _input(self, value: Any) -> Any:
        if not isinstance(value, torch.Tensor):
            return value
        return self.builder.input(value.dtype, list(value.shape), list(value.stride()))

    def _attribute(self, node: Node) -> Any:
        value: Any = self.gm
        for part in str(node.target).split("."):
            value = getattr(value, part)
        if not isinstance(value, torch.Tensor):
            return value  # a submodule of a higher-order op: its caller refuses it
        if value.device.type == "cpu" and value.numel() <= 16:
            return self.builder.constant(value.detach())
        self.constants.append(value)
        return self._input(value.to("neuron"))

    def _call(self, node: Node) -> Any:
        target = node.target
        # A node's value need not be what a graph may hold: Any.
        args: Any = torch.fx.node.map_arg(node.args, self.values.__getitem__)
        kwargs: Any = torch.fx.node.map_arg(node.kwargs, self.values.__getitem__)
        if target is operator.getitem:
            return args[0][args[1]]
        if isinstance(target, torch._ops.OpOverload):
            return self._operator(node, target, args, kwargs)
        module = getattr(target, "__module__", "")
        if module in ("_operator", "math", "builtins") or module.startswith("torch"):
            leaves = torch.utils._pytree.tree_leaves((args, kwargs))
            if callable(target) and not any(isinstance(leaf, _C.GraphValue) for leaf in leaves):
                return target(*args, **kwargs)  # arithmetic on sizes
        raise NotLowered(node, "not an ATen operator")

    def _operator(self, node: Node, op: torch._ops.OpOverload, args: Any, kwargs: Any) -> Any:
        if op is aten.sym_size.int:
            return self.builder.shape(args[0])[args[1]]
        if op is aten.sym_numel.default:
            return math.prod(self.builder.shape(args[0]))
        if op is aten.copy_.default and node.args[0].op == "placeholder":  # type: ignore[union-attr]
            value = self._row(node, aten.copy.default, args, kwargs)
            self.mutated[node.args[0]] = value  # type: ignore[index]
            return value
        if op._schema.is_mutable:
            raise NotLowered(node, "it mutates, which AOT Autograd should have removed")
        return self._row(node, op, args, kwargs)

    def _row(self, node: Node, op: torch._ops.OpOverload, args: Any, kwargs: Any) -> Any:
        name = row_name(op)
        mutating = False
        if not _C.has_row(name):
            # A functional form of an op that exists as a row only in place.
            base, _, overload = name.partition(".")
            name = f"{base}_.{overload}" if overload else f"{base}_"
            mutating = True
            if not _C.has_row(name):
                raise NotLowered(node, "no lowering")
        positional = _positional(op, args, kwargs)
        if _placed_elsewhere(op, positional):
            raise NotLowered(node, "the result is not on the device")
        try:
            results = [v if v.id >= 0 else None for v in self.builder.call(name, positional)]
        except NotImplementedError as error:
            raise NotLowered(node, str(error)) from error
        if mutating:
            return _grouped(op, positional, results)
        returns = op._schema.returns
        if len(returns) == 1 and not isinstance(returns[0].type, torch.ListType):
            return results[0]
        return tuple(results)

    def _output(self, node: Node, placeholders: list[Node]) -> None:
        returned: dict[Node, int] = {}
        results = node.args[0]
        results = [results] if isinstance(results, Node) else results
        bases = shared_storages(self.gm.graph.nodes, results)  # type: ignore[arg-type]
        for result in results:  # type: ignore[union-attr]
            if not isinstance(result, Node):
                self.outputs.append(("number", result))
                continue
            value = self.values[result]
            if not isinstance(value, _C.GraphValue):
                self.outputs.append(("number", value))
            elif result in placeholders:
                self.outputs.append(("input", placeholders.index(result)))
            else:
                base, place = bases.get(result, (result, None))
                if base not in returned:
                    returned[base] = len(returned)
                    self._tensor_output(base, self.values[base])
                index = returned[base]
                self.outputs.append(
                    ("tensor", index) if place is None else ("view", (index, *place))
                )
        for placeholder, value in self.mutated.items():
            self.builder.mutate(self.values[placeholder], value)

    def _tensor_output(self, node: Node, value: Any) -> None:
        meta = node.meta.get("val")
        shape = self.builder.shape(value)
        strides = _contiguous(shape)
        dtype = self.builder.dtype(value)
        if isinstance(meta, torch.Tensor):
            dtype = meta.dtype
            if all(isinstance(s, int) for s in (*meta.shape, *meta.stride())):
                strides = list(meta.stride())
        self.builder.output(value, dtype, shape, strides)


def _contiguous(shape: Sequence[int]) -> list[int]:
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return strides[::-1]


def _positional(op: torch._ops.OpOverload, args: Any, kwargs: dict[str, Any]) -> list[Any]:
    out = []
    for i, argument in enumerate(op._schema.arguments):
        if i < len(args):
            out.append(args[i])
        elif argument.name in kwargs:
            out.append(kwargs[argument.name])
        else:
            out.append(argument.default_value if argument.has_default_value() else None)
    return out


def _placed_elsewhere(op: torch._ops.OpOverload, positional: list[Any]) -> bool:
    devices = [
        torch.device(value)
        for argument, value in zip(op._schema.arguments, positional, strict=True)
        if argument.name == "device" and value is not None
    ]
    return any(device.type != "neuron" for device in devices)


def _grouped(
    op: torch._ops.OpOverload, positional: list[Any], results: list[Any]
) -> tuple[Any, ...]:
    """Results of an in-place row by the returns of the functional op: one list per written list."""
    out, rest = [], list(results)
    lists = [p for p in positional if isinstance(p, (list, tuple))]
    for returned, argument in zip(op._schema.returns, lists, strict=False):
        if isinstance(returned.type, torch.ListType):
            out.append(tuple(rest[: len(argument)]))
            rest = rest[len(argument) :]
        else:
            out.append(rest.pop(0))
    return tuple(out)
