"""Element types: NKI's names, NumPy's types, XLA's numbers (the C++ side's DType)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from nki._errors import NkiValidationError

__all__ = ["DType", "as_dtype"]


@dataclass(frozen=True, eq=False)
class DType:
    """One element type. Equal to its NumPy dtype and to its name."""

    name: str
    itemsize: int
    number: int
    numpy: np.dtype[Any] | None
    kind: str  # "f" floating, "i" signed, "u" unsigned

    def __repr__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self.number == other.number
        try:
            return self.number == as_dtype(other).number
        except (TypeError, NkiValidationError):
            return False

    def __hash__(self) -> int:
        return hash(self.number)

    @property
    def is_float(self) -> bool:
        return self.kind == "f"


def _row(name: str, number: int, scalar: Any, kind: str) -> DType:
    dtype = np.dtype(scalar)
    return DType(name, dtype.itemsize, number, dtype, kind)


DTYPES: dict[str, DType] = {
    row.name: row
    for row in (
        _row("int8", 2, np.int8, "i"),
        _row("int16", 3, np.int16, "i"),
        _row("int32", 4, np.int32, "i"),
        _row("int64", 5, np.int64, "i"),
        _row("uint8", 6, np.uint8, "u"),
        _row("uint16", 7, np.uint16, "u"),
        _row("uint32", 8, np.uint32, "u"),
        _row("uint64", 9, np.uint64, "u"),
        _row("float16", 10, np.float16, "f"),
        _row("float32", 11, np.float32, "f"),
        _row("bfloat16", 16, ml_dtypes.bfloat16, "f"),
        _row("float8_e5m2", 19, ml_dtypes.float8_e5m2, "f"),
        _row("float8_e4m3fn", 20, ml_dtypes.float8_e4m3fn, "f"),
        _row("float8_e4m3", 28, ml_dtypes.float8_e4m3, "f"),
        _row("float8_e8m0fnu", 33, ml_dtypes.float8_e8m0fnu, "f"),
        DType("tfloat32", 4, 200, np.dtype(np.float32), "f"),
        DType("float8_e5m2_x4", 4, 201, np.dtype(np.uint32), "f"),
        DType("float8_e4m3fn_x4", 4, 202, np.dtype(np.uint32), "f"),
        DType("float4_e2m1fn_x4", 2, 203, np.dtype(np.uint16), "f"),
    )
}
_BY_NUMPY = {row.numpy: row for row in DTYPES.values() if row.number < 200}
_ALIASES = {"bool": "uint8", "bool_": "uint8", "tf32": "tfloat32", "bf16": "bfloat16"}


def as_dtype(value: Any) -> DType:
    """The DType of a DType, a name, a NumPy or ml_dtypes type; bool is uint8."""
    if isinstance(value, DType):
        return value
    if isinstance(value, str):
        found = DTYPES.get(_ALIASES.get(value, value))
        if found is not None:
            return found
    else:
        dtype = np.dtype(value)
        if dtype == np.dtype(bool):
            return DTYPES["uint8"]
        found = _BY_NUMPY.get(dtype)
        if found is not None:
            return found
    raise NkiValidationError(f"dtype: {value!r} is no element type; known are {', '.join(DTYPES)}")
