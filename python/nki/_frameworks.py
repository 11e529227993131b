"""Arrays in, arrays out: NumPy as it is, PyTorch's CPU tensors through NumPy, tensors on `neuron`
where they are.

PyTorch is never imported here; a caller who passes its tensors has done so.
"""

from __future__ import annotations

import sys
from typing import Any

import ml_dtypes
import numpy as np

from nki._dtypes import DType, as_dtype
from nki._errors import NkiValidationError

__all__ = [
    "describe",
    "empty_on",
    "from_numpy",
    "is_array",
    "is_on_device",
    "neuron_device",
    "to_numpy",
]


def _torch(value: Any) -> Any:
    torch = sys.modules.get("torch")
    return torch if torch is not None and isinstance(value, torch.Tensor) else None


def is_array(value: Any) -> bool:
    return isinstance(value, np.ndarray) or _torch(value) is not None


def is_on_device(value: Any) -> bool:
    """Whether it is a PyTorch tensor on `neuron`."""
    return _torch(value) is not None and value.device.type == "neuron"


def neuron_device(values: list[Any]) -> Any:
    """The one device of the tensors on `neuron` among them; None if there are none."""
    devices = {value.device for value in values if is_on_device(value)}
    if not devices:
        return None
    others = {str(getattr(v, "device", "host memory")) for v in values if not is_on_device(v)}
    if len(devices) > 1 or others:
        places = ", ".join(sorted({str(device) for device in devices} | others))
        raise NkiValidationError(f"kernel.device: the arguments are on {places}; move them to one")
    return devices.pop()


def describe(value: Any) -> tuple[tuple[int, ...], DType]:
    """Shape and element type."""
    if _torch(value) is None:
        return value.shape, as_dtype(value.dtype)
    name = str(value.dtype).removeprefix("torch.")
    return tuple(value.shape), as_dtype("uint8" if name == "bool" else name)


def empty_on(device: Any, shape: tuple[int, ...], dtype: DType) -> Any:
    """A tensor on `device`, with undefined contents."""
    torch = sys.modules["torch"]
    element = getattr(torch, dtype.name, None)
    if not isinstance(element, torch.dtype):
        raise NkiValidationError(
            f"kernel.dtype: PyTorch has no {dtype}; return the tensor as another type of its size "
            "(tensor.view)"
        )
    return torch.empty(shape, dtype=element, device=device)


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
