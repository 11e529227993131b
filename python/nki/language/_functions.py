"""Functions on tiles: each allocates its result in SBUF and computes it with instructions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from nki import isa
from nki._dtypes import DType, as_dtype
from nki._errors import NkiValidationError
from nki._ops import OPS, Op
from nki._scalar import NkiScalar
from nki._tensor import NkiTensor
from nki.language._buffers import Buffer, ndarray, shared_identity_matrix

__all__ = [
    "all",
    "broadcast_to",
    "expand_dims",
    "load",
    "load_transpose2d",
    "matmul",
    "mean",
    "negative",
    "prod",
    "rms_norm",
    "softmax",
    "store",
    "transpose",
    "var",
    "where",
]

_COMPARISONS = {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
_LOGICAL = {"logical_and", "logical_or", "logical_xor", "logical_not"}


def _result_dtype(op: str, operands: Sequence[Any], dtype: Any) -> DType:
    if dtype is not None:
        return as_dtype(dtype)
    if op in _COMPARISONS or op in _LOGICAL:
        return as_dtype("uint8")
    types = [x.dtype.numpy for x in operands if isinstance(x, NkiTensor)]
    return as_dtype(np.result_type(*types))


def _on_chip(x: Any, what: str) -> None:
    if isinstance(x, NkiTensor) and not x.is_on_chip:
        raise NkiValidationError(f"{what}: an operand is in {x.buffer}; load it first")


def _binary(op: Op, x: Any, y: Any, dtype: Any) -> NkiTensor:
    for operand in (x, y):
        _on_chip(operand, f"nl.{op.name}")
    out_dtype = _result_dtype(op.name, (x, y), dtype)
    if not isinstance(x, NkiTensor) and not isinstance(y, NkiTensor):
        raise NkiValidationError(f"nl.{op.name}: neither operand is a tensor")
    if not isinstance(y, NkiTensor) or not isinstance(x, NkiTensor):
        data, number, reverse = (x, y, False) if isinstance(x, NkiTensor) else (y, x, True)
        result = ndarray(data.shape, out_dtype)
        isa.tensor_scalar(result, data, op, number, reverse0=reverse)
        return result
    shape = np.broadcast_shapes(x.shape, y.shape)
    if x.shape[0] != y.shape[0]:
        raise NkiValidationError(
            f"nl.{op.name}: {list(x.shape)} and {list(y.shape)} have different partitions"
        )
    result = ndarray(shape, out_dtype)
    for data, column, reverse in ((x, y, False), (y, x, True)):
        if data.shape == shape and math.prod(column.shape[1:]) == 1 and column.shape != shape:
            isa.tensor_scalar(result, data, op, column, reverse0=reverse)
            return result
    a, b = x.broadcast_to(shape), y.broadcast_to(shape)
    if a.buffer == b.buffer == Buffer.psum:
        a = copy(a)
    isa.tensor_tensor(result, a, b, op)
    return result


def _unary(op: Op, x: NkiTensor, dtype: Any) -> NkiTensor:
    _on_chip(x, f"nl.{op.name}")
    out_dtype = _result_dtype(op.name, (x,), dtype)
    result = ndarray(x.shape, out_dtype)
    if op.name == "reciprocal":
        isa.reciprocal(result, x)
    elif op.activation is not None:
        isa.activation(result, op, x)
    else:
        isa.tensor_scalar(result, x, op, 0)
    return result


def _axes(x: NkiTensor, axis: int | Sequence[int]) -> list[int]:
    return sorted(a % x.ndim for a in ([axis] if isinstance(axis, int) else axis))


def _reduce(op: Op, x: NkiTensor, axis: Any, dtype: Any, keepdims: bool) -> NkiTensor:
    _on_chip(x, f"nl.{op.name}")
    axes = _axes(x, axis)
    kept = tuple(1 if d in axes else size for d, size in enumerate(x.shape))
    result = ndarray(kept, as_dtype(dtype) if dtype is not None else x.dtype)
    isa.tensor_reduce(result, op, x, axes)
    if keepdims or len(axes) == x.ndim - 1:
        return result if keepdims else result.reshape([x.shape[0], 1])
    return result.reshape([size for d, size in enumerate(x.shape) if d not in axes])


def mean(x: NkiTensor, axis: Any, dtype: Any = None, keepdims: bool = False) -> NkiTensor:
    total = _reduce(OPS["add"], x, axis, "float32", keepdims)
    count = math.prod(x.shape[a] for a in _axes(x, axis))
    return _binary(OPS["divide"], total, float(count), dtype or x.dtype)


def prod(x: NkiTensor, axis: Any, dtype: Any = None, keepdims: bool = False) -> NkiTensor:
    return _reduce(OPS["multiply"], x, axis, dtype, keepdims)


def all(x: NkiTensor, axis: Any, dtype: Any = None, keepdims: bool = False) -> NkiTensor:
    return _reduce(OPS["logical_and"], x, axis, dtype or "uint8", keepdims)


def var(x: NkiTensor, axis: Any, dtype: Any = None, keepdims: bool = False) -> NkiTensor:
    """Population variance."""
    center = mean(x, axis, "float32", keepdims=True)
    distance = _binary(OPS["subtract"], x, center.broadcast_to(x.shape), "float32")
    squares = _unary(OPS["square"], distance, "float32")
    return mean(squares, axis, dtype or x.dtype, keepdims)


def softmax(x: NkiTensor, axis: int = -1, dtype: Any = None) -> NkiTensor:
    """exp(x - max) / sum along the last dimension."""
    if axis % x.ndim != x.ndim - 1 or x.ndim != 2:
        raise NkiValidationError("nl.softmax: of [P, N] tiles along the last dimension")
    peak = ndarray((x.shape[0], 1), "float32")
    isa.tensor_reduce(peak, OPS["maximum"], x, axis=1, negate=True)
    powers = ndarray(x.shape, "float32")
    total = ndarray((x.shape[0], 1), "float32")
    isa.activation_reduce(powers, OPS["exp"], x, OPS["add"], total, bias=peak)
    isa.reciprocal(total, total)
    result = ndarray(x.shape, dtype or x.dtype)
    isa.tensor_scalar(result, powers, OPS["multiply"], total)
    return result


def rms_norm(
    x: NkiTensor,
    w: NkiTensor,
    axis: int = -1,
    n: int | None = None,
    epsilon: float = 1e-6,
    dtype: Any = None,
    compute_dtype: Any = None,
) -> NkiTensor:
    """x / sqrt(mean(x^2) + epsilon) * w along the last dimension of a [P, N] tile."""
    squares = ndarray(x.shape, "float32")
    total = ndarray((x.shape[0], 1), "float32")
    isa.activation_reduce(squares, OPS["square"], x, OPS["add"], total)
    isa.activation(total, OPS["rsqrt"], total, bias=epsilon, scale=1.0 / (n or x.shape[-1]))
    result = ndarray(x.shape, dtype or x.dtype)
    isa.scalar_tensor_tensor(
        result, x, OPS["multiply"], total, OPS["multiply"], w.broadcast_to(x.shape)
    )
    return result


def where(condition: NkiTensor, x: Any, y: Any, dtype: Any = None) -> NkiTensor:
    """x where the condition is not 0, else y."""
    tensors = [t for t in (x, y) if isinstance(t, NkiTensor)]
    out = as_dtype(dtype) if dtype else _result_dtype("where", tensors or [condition], None)
    result = ndarray(condition.shape, out)
    if isinstance(y, NkiTensor):
        isa.tensor_copy(result, y)
    else:
        isa.memset(result, y)
    if isinstance(x, NkiTensor) and x.dtype != out:
        x = copy(x, out)
    isa.tensor_copy_predicated(result, x, condition)
    return result


def copy(x: NkiTensor, dtype: Any = None) -> NkiTensor:
    result = ndarray(x.shape, dtype or x.dtype)
    isa.tensor_copy(result, x)
    return result


def negative(x: NkiTensor, dtype: Any = None) -> NkiTensor:
    return _unary(OPS["negate"], x, dtype)


def load(src: NkiTensor, dtype: Any = None) -> NkiTensor:
    """A copy in SBUF of an HBM tensor [P <= 128, ...]."""
    shape = src.shape if src.ndim > 1 else (1, *src.shape)
    result = ndarray(shape, dtype or src.dtype)
    isa.dma_copy(result, src if src.ndim > 1 else src.reshape(shape))
    return result


def load_transpose2d(src: NkiTensor, dtype: Any = None) -> NkiTensor:
    """The transpose in SBUF of an HBM tensor [R, F <= 128]."""
    result = ndarray((src.shape[1], src.shape[0]), src.dtype)
    isa.dma_transpose(result, src)
    return result if dtype is None else copy(result, dtype)


def store(dst: NkiTensor, value: Any) -> None:
    """Write a tile (or a number) to an HBM tensor."""
    assign(dst, value)


def assign(dst: NkiTensor, value: Any) -> None:
    if isinstance(value, NkiTensor):
        if dst.is_on_chip and value.is_on_chip:
            isa.tensor_copy(dst, value)
            return
        if [n for n in dst.shape if n != 1] != [n for n in value.shape if n != 1]:
            raise NkiValidationError(
                f"store: {list(value.shape)} goes to {list(dst.shape)}; the shapes must be equal "
                "(reshape one of them)"
            )
        if value.buffer == Buffer.psum:
            value = copy(value)  # DMA does not reach PSUM
        isa.dma_copy(dst, value)
    elif isinstance(value, (int, float, np.number, NkiScalar)):
        if dst.is_on_chip:
            isa.memset(dst, value)
        else:
            raise NkiValidationError("store: a number goes to HBM through a tile; use nl.full")
    else:
        raise NkiValidationError(f"store: {type(value).__name__} is no tensor and no number")


def transpose(x: NkiTensor, dtype: Any = None) -> NkiTensor:
    """[P, F] to [F, P] in SBUF, both at most 128."""
    moved = ndarray((x.shape[1], x.shape[0]), x.dtype, Buffer.psum)
    isa.nc_transpose(moved, x, engine=isa.engine.tensor)
    return copy(moved, dtype)


def matmul(x: NkiTensor, y: NkiTensor, transpose_x: bool = False) -> NkiTensor:
    """x @ y in PSUM, fp32: x [M, K] (or [K, M] with transpose_x), y [K, N]."""
    stationary = x if transpose_x else transpose(x)
    result = ndarray((stationary.shape[1], y.shape[1]), "float32", Buffer.psum)
    isa.nc_matmul(result, stationary, y, accumulate=False)
    return result


def expand_dims(x: NkiTensor, axis: int) -> NkiTensor:
    return x.expand_dim(axis)


def broadcast_to(x: NkiTensor, shape: Sequence[int]) -> NkiTensor:
    return x.broadcast_to(shape)


def identity(n: int, dtype: Any = "float32") -> NkiTensor:
    return shared_identity_matrix(n, dtype)


def _callable(op: Op) -> Any:
    """What nl.<op>(...) does."""
    if op.name in ("max", "min", "sum"):
        return lambda x, axis, dtype=None, keepdims=False: _reduce(op, x, axis, dtype, keepdims)
    if op.name == "copy":
        return copy
    if op.arity == 2 and op.alu is not None:
        return lambda x, y, dtype=None: _binary(op, x, y, dtype)
    return lambda x, dtype=None: _unary(op, x, dtype)


for _op in OPS.values():
    _op.call = _callable(_op)
