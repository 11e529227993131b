"""`torch.compile(model)` without a backend: graphs with neuron tensors go to backend `neuron`.

PyTorch's default is Inductor, which fails on a device that it does not know with `KeyError`, deep
in its own code. `torch.compiler.set_default_backend("neuron")` is no remedy to install for others:
it holds for the whole process, and takes `mode` and `options` from who compiles for the CPU. So the
choice is made per graph, where Inductor gets one.
"""

from __future__ import annotations

import logging
from typing import Any

import torch


def install() -> None:
    wrapper = torch._TorchCompileInductorWrapper
    by_inductor: Any = wrapper.__call__

    def by_device(self: Any, model: Any, inputs: Any, **kwargs: Any) -> Any:
        from torch_neuronx import _dynamo

        if not _dynamo.touches_neuron(model, inputs):
            return by_inductor(self, model, inputs, **kwargs)
        if self.config:
            _say_once(", ".join(sorted(self.config)))
        return _dynamo.neuron(model, inputs)

    wrapper.__call__ = by_device  # type: ignore[method-assign, assignment]


_said: set[str] = set()


def _say_once(options: str) -> None:
    if options in _said:
        return
    _said.add(options)
    logging.getLogger("torch_neuronx").warning(
        "torch.compile: what mode or options ask of Inductor (%s) has no effect on a graph of "
        "neuron tensors, which backend 'neuron' compiles",
        options,
    )
