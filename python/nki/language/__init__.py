"""nki.language: tensors, loops and functions of the kernel language.

Operator names (nl.add, nl.exp, ...) are passed to instructions, and called on tiles.
"""

from nki._dtypes import DTYPES as _DTYPES
from nki._ops import OPS as _OPS
from nki._tensor import NkiTensor
from nki.language import _buffers, _functions, _loops
from nki.language._buffers import *  # noqa: F403
from nki.language._functions import *  # noqa: F403
from nki.language._loops import *  # noqa: F403

globals().update(_DTYPES)
globals().update({_name: _op for _name, _op in _OPS.items() if _name not in _functions.__all__})
bool_ = _DTYPES["uint8"]


class NKIObject:
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
