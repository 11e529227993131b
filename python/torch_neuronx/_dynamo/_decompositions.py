"""Which ops AOT Autograd takes apart: those that have a decomposition and no lowering row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from torch_neuronx import _C

aten = torch.ops.aten

# Beyond core ATen: composites and backward ops that a model's graph may hold.
_EXTRA = (
    aten._log_softmax_backward_data,
    aten._softmax_backward_data,
    aten._unsafe_index,
    aten._unsafe_index_put,
    aten.addcdiv,
    aten.addcmul,
    aten.binary_cross_entropy,
    aten.binary_cross_entropy_backward,
    aten.embedding_dense_backward,
    aten.gelu_backward,
    aten.hardtanh_backward,
    aten.huber_loss,
    aten.leaky_relu_backward,
    aten.lift_fresh,
    aten.linalg_vector_norm,
    aten.log_sigmoid_backward,
    aten.log_sigmoid_forward,
    aten.masked_fill,
    aten.mse_loss,
    aten.mse_loss_backward,
    aten.native_batch_norm_backward,
    aten.native_group_norm,
    aten.native_group_norm_backward,
    aten.native_layer_norm,
    aten.native_layer_norm_backward,
    aten.nll_loss_backward,
    aten.nll_loss_forward,
    aten.sigmoid_backward,
    aten.silu_backward,
    aten.slice_backward,
    aten.smooth_l1_loss,
    aten.smooth_l1_loss_backward,
    aten.softplus_backward,
    aten.split,
    aten.tanh_backward,
    aten.threshold_backward,
    aten.upsample_bilinear2d,
    aten.upsample_nearest2d,
)


def row_name(op: torch._ops.OpOverload) -> str:
    """The name of `op` in the lowering table."""
    name: str = op._schema.name
    return f"{name}.{op._schema.overload_name}" if op._schema.overload_name else name


@functools.cache
def decompositions() -> dict[Any, Callable[..., Any]]:
    table: dict[Any, Callable[..., Any]] = dict(core_aten_decompositions())
    table.update(get_decompositions(_EXTRA))
    return {
        op: function
        for op, function in table.items()
        if not (isinstance(op, torch._ops.OpOverload) and _C.has_row(row_name(op)))
    }
