"""The arguments of one call of a kernel: arrays, and stand-ins for them in the traced function."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from nki import _frameworks
from nki._dtypes import DType
from nki._errors import NkiValidationError
from nki._tensor import NkiTensor, Storage, make_tensor
from nki._trace import IN_OUT, INPUT, Trace

__all__ = ["Argument", "Arrays", "Call", "fill", "key_of"]


@dataclass(frozen=True)
class Argument:
    """Stands for an array among a kernel's arguments."""

    number: int
    shape: tuple[int, ...]
    dtype: str


Call = tuple[tuple[Any, ...], dict[str, Any]]


def key_of(value: Any) -> Any:
    """Equal values of different types are different constants, hence different programs."""
    if isinstance(value, (tuple, list)):
        return (type(value), tuple(key_of(item) for item in value))
    if isinstance(value, dict):
        return (dict, tuple((name, key_of(item)) for name, item in value.items()))
    return (type(value), value)


def fill(value: Any, inputs: list[NkiTensor]) -> Any:
    """The arguments with tensors in place of the stand-ins."""
    if isinstance(value, Argument):
        return inputs[value.number]
    if type(value) in (tuple, list):
        return type(value)(fill(item, inputs) for item in value)
    if type(value) is dict:
        return {name: fill(item, inputs) for name, item in value.items()}
    return value


class Arrays:
    """The arrays of one call, in the order of the arguments."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self.names: list[str] = []
        self.described: list[tuple[tuple[int, ...], DType]] = []
        self._arrays: dict[int, np.ndarray[Any, Any]] = {}
        self._copies: dict[int, np.ndarray[Any, Any]] = {}

    def replace(self, value: Any, name: str) -> Any:
        if type(value) in (tuple, list):
            return type(value)(self.replace(item, f"{name}_{i}") for i, item in enumerate(value))
        if type(value) is dict:
            return {key: self.replace(item, f"{name}_{key}") for key, item in value.items()}
        if not _frameworks.is_array(value):
            return value
        shape, dtype = _frameworks.describe(value)
        if 0 in shape:
            raise NkiValidationError(f"argument {name}: an array of shape {shape} is empty")
        self.values.append(value)
        self.names.append(name)
        self.described.append((shape or (1,), dtype))
        return Argument(len(self.values) - 1, shape or (1,), dtype.name)

    def on_host(self, number: int) -> np.ndarray[Any, Any]:
        if number not in self._arrays:
            self._arrays[number] = _frameworks.to_numpy(self.values[number])
        return self._arrays[number]

    def declare(self, trace: Trace) -> list[NkiTensor]:
        tensors = []
        described = zip(self.names, self.described, strict=True)
        for number, (name, (shape, dtype)) in enumerate(described):
            storage = Storage(trace.unique_name(name), "hbm", shape, dtype)
            storage.kind = INPUT
            storage.array = number
            storage.tensor = trace.builder.add_tensor(
                storage.name, INPUT, math.prod(shape) * dtype.itemsize
            )
            trace.hbm.append(storage)
            tensors.append(make_tensor(storage))
        return tensors

    def contiguous(self, number: int) -> np.ndarray[Any, Any]:
        array = self.on_host(number)
        if array.flags.c_contiguous and array.flags.writeable:
            return array
        return self._copies.setdefault(number, np.array(array, order="C"))

    def write_back(self, tensors: list[Storage], host: dict[str, np.ndarray[Any, Any]]) -> None:
        for storage in tensors:
            if storage.kind != IN_OUT or storage.array is None:
                continue
            array = self.on_host(storage.array)
            if host[storage.name] is not array:
                if not array.flags.writeable:
                    raise NkiValidationError(
                        f"argument {storage.name}: the kernel writes it and the array is read-only"
                    )
                array[...] = host[storage.name].reshape(array.shape)
