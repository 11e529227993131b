"""Enumerants of nki.isa, with NKI's numbers."""

from __future__ import annotations

from enum import Enum, IntEnum

from nki._trace import target_row

__all__ = [
    "dge_mode",
    "dma_engine",
    "engine",
    "get_nc_sub_version",
    "get_nc_version",
    "matmul_perf_mode",
    "nc_version",
    "oob_mode",
    "reduce_cmd",
]


class engine(IntEnum):
    unknown = 0
    tensor = 1
    scalar = 2
    gpsimd = 3
    dma = 4
    vector = 5
    sync = 6


class reduce_cmd(IntEnum):
    idle = 0
    reset = 1
    reduce = 2
    reset_reduce = 3
    load_reduce = 4


class dge_mode(IntEnum):
    unknown = 0
    swdge = 1
    hwdge = 2
    none = 3


class oob_mode(IntEnum):
    error = 0
    skip = 1


class matmul_perf_mode(Enum):
    none = "none"
    double_row = "double_row"


class nc_version(IntEnum):
    gen2 = 2
    gen3 = 3
    gen4 = 4


class dma_engine(IntEnum):
    dma = 1
    gpsimd_dma = 2


def get_nc_version() -> nc_version:
    """Generation of the target: trn2 is gen3, trn3 is gen4."""
    return nc_version(target_row()["generation"])


def get_nc_sub_version() -> int:
    return 0
