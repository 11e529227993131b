"""Arrays in, arrays out: NumPy as it is, PyTorch's CPU tensors through NumPy.

PyTorch is never imported here; a caller who passes its tensors has done so.
"""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np

__all__ = ["from_numpy", "is_array", "to_numpy"]


def _torch(value: Any) -> Any:
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(value, torch.Tensor) else None


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or _torch(value) is not None


def to_numpy(value: Any) -> np.ndarray[Any, Any]:
    """A NumPy array that shares the memory of a CPU array where it can."""
    torch = _torch(value)
    if torch is None:
        return np.asarray(value)
    tensor = value.detach().cpu()
    if tensor.dtype == torch.bfloat16:
        return np.asarray(tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16))
    return np.asarray(tensor.numpy())


def from_numpy(array: np.ndarray[Any, Any], like: Any) -> Any:
    """In the framework of `like`."""
    torch = _torch(like)
    if torch is None:
        return array
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)
