"""What the conformance suite runs: one case per (test, op, dtype) of PyTorch's op database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import torch
from conformance import memory_formats, refusals, variants
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo

VARIANTS = ("test_out_matches_cpu", "test_in_place_matches_cpu", "test_gradients_match_cpu")
CHECKS = refusals.CHECKS | memory_formats.CHECKS
TESTS = ("test_matches_cpu", *CHECKS, *VARIANTS)
VARIANT_DTYPE = "float32"
CI_DTYPES = ("float32", "bfloat16", "float16", "int64", "bool")
ALL_DTYPES = (
    *CI_DTYPES, "float64", "int32", "int16", "int8", "uint8", "complex64", "complex128",
)  # fmt: skip
# An op that takes none of CI_DTYPES (view_as_real, _scaled_mm) runs in the first of these it takes.
OTHERWISE = ("complex64", "float8_e4m3fn")


@dataclass(frozen=True, order=True)
class Case:
    test: str
    op: str  # OpInfo.full_name: unique in op_db
    dtype: str  # "float32"; CHECKS are not per dtype: "any"

    def __str__(self) -> str:
        return f"{self.test}:{self.op}:{self.dtype}"

    @staticmethod
    def parse(text: str) -> Case:
        return Case(*text.split(":"))


@cache
def ops() -> dict[str, OpInfo]:
    """The ops of op_db that have a CPU reference (jiterator compiles CUDA source)."""
    return {op.full_name: op for op in op_db if not op.name.startswith("jiterator")}


def cases(dtypes: tuple[str, ...], tests: tuple[str, ...] = TESTS) -> Iterator[Case]:
    for name, op in sorted(ops().items()):
        supported = op.supported_dtypes("cpu")
        if "test_matches_cpu" in tests:
            for dtype in _supported(dtypes, supported) or _otherwise(dtypes, supported):
                yield Case("test_matches_cpu", name, dtype)
        for test in VARIANTS:
            dtype = getattr(torch, VARIANT_DTYPE)
            if test in tests and dtype in supported and variants.supports(test, op, dtype):
                yield Case(test, name, VARIANT_DTYPE)
        for test, check in CHECKS.items():
            if test in tests and check.supports(op):
                yield Case(test, name, "any")


def _supported(dtypes: tuple[str, ...], by: set[torch.dtype]) -> list[str]:
    return [dtype for dtype in dtypes if getattr(torch, dtype) in by]


def _otherwise(dtypes: tuple[str, ...], by: set[torch.dtype]) -> list[str]:
    return _supported(OTHERWISE, by)[:1] if dtypes == CI_DTYPES else []


def shard(items: list[Case], index: int, count: int) -> list[Case]:
    """Share `index` (1 to count): every count-th case, so that families spread evenly."""
    return items[index - 1 :: count]
