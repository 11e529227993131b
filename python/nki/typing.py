"""Annotations of kernels: nt.tensor, nt.tensor[shape], nt.mutable_tensor."""

from typing import Any

__all__ = ["mutable_tensor", "tensor"]


class _Annotation(type):
    def __getitem__(cls, shape: Any) -> Any:
        return cls


class tensor(metaclass=_Annotation):
    """An array argument; nt.tensor[128, 512] says its shape to the reader."""


class mutable_tensor(tensor):
    """An array argument that the kernel writes."""
