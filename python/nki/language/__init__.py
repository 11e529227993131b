"""nki.language: tensors, loops and functions of the kernel language.

Operator names (nl.add, nl.exp, ...) are passed to instructions, and called on tiles.
"""

from typing import Any as _Any

from nki._dtypes import DTYPES as _DTYPES
from nki._ops import OPS as _OPS
from nki._tensor import NkiTensor
from nki.language import _buffers, _functions, _loops, _operators
from nki.language._buffers import *  # noqa: F403
from nki.language._functions import *  # noqa: F403
from nki.language._loops import *  # noqa: F403

_operators.install()
globals().update(_DTYPES)
globals().update({_name: _op for _name, _op in _OPS.items() if _name not in _functions.__all__})
bool_ = _DTYPES["uint8"]


class _Lenient(type):
    """Builds records as kernels expect: fields that __init__ does not know become attributes.

    NKI's parser never ran __init__, so library classes omit annotations and required fields.
    """

    def __call__(cls, *args: _Any, **kwargs: _Any) -> _Any:
        try:
            return super().__call__(*args, **kwargs)
        except TypeError:
            if args:
                raise
        record = cls.__new__(cls)  # type: ignore[call-overload]
        for name, value in kwargs.items():
            object.__setattr__(record, name, value)
        return record


class NKIObject(metaclass=_Lenient):
    """Base of records that kernels take as compile-time constants."""


__all__ = [
    "NKIObject",
    "NkiTensor",
    "bool_",
    *_DTYPES,
    *_buffers.__all__,
    *_functions.__all__,
    *_loops.__all__,
    *(_name for _name in _OPS if _name not in _functions.__all__),
]
