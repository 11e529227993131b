"""Strided reads and writes: XLA on lowering/strided.h against torch.as_strided."""

import numpy as np
import pytest
import torch
import xla_oracle
from neuron_testing import lowering

CASES = [
    ((2, 3), (3, 1)),
    ((3, 2), (1, 3)),
    ((4, 3), (5, 1)),
    ((2, 3, 4), (24, 8, 1)),
    ((2, 3, 4), (24, 1, 6)),
    ((5,), (3,)),
    ((3, 4), (8, 2)),
    ((3, 3), (7, 2)),
    ((2, 1, 3), (3, 7, 1)),
    ((2, 4, 8, 3), (96, 3, 12, 1)),
    ((2, 3), (0, 1)),
    ((2, 3), (1, 0)),
    ((), ()),
    ((2, 2), (0, 0)),
    ((3, 2), (1, 1)),
    ((0, 3), (3, 1)),
]


def flat_memory(sizes, strides) -> torch.Tensor:
    extent = 0 if 0 in sizes else 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
    return torch.arange(extent, dtype=torch.float32)


@pytest.mark.parametrize(("sizes", "strides"), CASES)
def test_read(sizes, strides):
    flat = flat_memory(sizes, strides)
    (got,) = xla_oracle.run(
        lowering.from_strided("f32", list(sizes), list(strides)), [flat.numpy()]
    )
    assert np.array_equal(got, torch.as_strided(flat, sizes, strides).numpy())


@pytest.mark.parametrize(
    ("sizes", "strides"), [c for c in CASES if 0 not in c[1] and c[1] != (1, 1)]
)
def test_write(sizes, strides):
    flat = flat_memory(sizes, strides)
    value = -torch.rand(sizes)
    (got,) = xla_oracle.run(
        lowering.to_strided("f32", list(sizes), list(strides)), [flat.numpy(), value.numpy()]
    )
    want = flat.clone()
    torch.as_strided(want, sizes, strides).copy_(value)
    assert np.array_equal(got, want.numpy())
