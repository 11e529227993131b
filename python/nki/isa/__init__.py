"""nki.isa: one function per instruction of the NeuronCore.

Destinations come first; nothing is returned but the instruction. Docstrings are made from the
instruction table, as docs/reference/isa.md is.
"""

from nki._scalar import NkiScalar
from nki.isa import (
    _accumulating,
    _cores,
    _dma,
    _enums,
    _gathering,
    _gpsimd,
    _mx,
    _random,
    _registers,
    _scalar_engine,
    _shuffling,
    _tensor_engine,
    _vector,
)
from nki.isa._accumulating import *  # noqa: F403
from nki.isa._cores import *  # noqa: F403
from nki.isa._dma import *  # noqa: F403
from nki.isa._emit import NkiInstruction
from nki.isa._enums import *  # noqa: F403
from nki.isa._enums import engine as _engine
from nki.isa._gathering import *  # noqa: F403
from nki.isa._gpsimd import *  # noqa: F403
from nki.isa._mx import *  # noqa: F403
from nki.isa._random import *  # noqa: F403
from nki.isa._registers import *  # noqa: F403
from nki.isa._scalar_engine import *  # noqa: F403
from nki.isa._shuffling import *  # noqa: F403
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
    *_accumulating.__all__,
    *_cores.__all__,
    *_dma.__all__,
    *_enums.__all__,
    *_gathering.__all__,
    *_gpsimd.__all__,
    *_mx.__all__,
    *_random.__all__,
    *_registers.__all__,
    *_scalar_engine.__all__,
    *_shuffling.__all__,
    *_tensor_engine.__all__,
    *_vector.__all__,
    "gpsimd_engine",
    "scalar_engine",
    "tensor_engine",
    "unknown_engine",
    "vector_engine",
]
