"""nki.isa: one function per instruction of the NeuronCore.

Destinations come first; nothing is returned but the instruction. Docstrings are made from the
instruction table, as docs/reference/isa.md is.
"""

from nki._scalar import NkiScalar
from nki.isa import (
    _dma,
    _enums,
    _gpsimd,
    _registers,
    _scalar_engine,
    _tensor_engine,
    _vector,
)
from nki.isa._dma import *  # noqa: F403
from nki.isa._emit import NkiInstruction
from nki.isa._enums import *  # noqa: F403
from nki.isa._enums import engine as _engine
from nki.isa._gpsimd import *  # noqa: F403
from nki.isa._registers import *  # noqa: F403
from nki.isa._scalar_engine import *  # noqa: F403
from nki.isa._tensor_engine import *  # noqa: F403
from nki.isa._vector import *  # noqa: F403

# Deprecated spellings that kernels still use.
tensor_engine = _engine.tensor
vector_engine = _engine.vector
scalar_engine = _engine.scalar
gpsimd_engine = _engine.gpsimd
unknown_engine = _engine.unknown

__all__ = [
    "NkiInstruction",
    "NkiScalar",
    *_dma.__all__,
    *_enums.__all__,
    *_gpsimd.__all__,
    *_registers.__all__,
    *_scalar_engine.__all__,
    *_tensor_engine.__all__,
    *_vector.__all__,
    "gpsimd_engine",
    "scalar_engine",
    "tensor_engine",
    "unknown_engine",
    "vector_engine",
]
