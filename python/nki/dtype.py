"""Element types under the name that kernels annotate with."""

from nki._dtypes import DTYPES as _DTYPES
from nki._dtypes import DType

globals().update(_DTYPES)

__all__ = ["DType", *_DTYPES]
