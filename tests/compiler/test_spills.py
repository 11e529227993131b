"""Kernels that SBUF has no room for: what goes to HBM and back, and that it is said."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from compiler.harness import check

ROW = 8000  # in fp32 five of them are all that a partition has room for


def normal(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


def spills(directory) -> list[tuple[int, int, list[str]]]:
    """Bytes needed and there, and the shapes that are spilled, per spill of the plan's dump."""
    (plan,) = directory.glob("*2-plan*")
    found = re.findall(
        r"^spill at \S+: tiles take (\d+) bytes of a partition where there are (\d+); "
        r"to HBM and back:(.*)$",
        plan.read_text(),
        re.MULTILINE,
    )
    return [(int(a), int(b), re.findall(r" \S+ (\S+)", values)) for a, b, values in found]


def bundle(x, width):
    """`width` values that live at once, whose sum is normalised along the rows."""
    parts = [jnp.tanh(x * (0.1 * i + 0.3)) for i in range(width)]
    total = sum(p * q for p, q in zip(parts, reversed(parts), strict=True))
    return total - total.max(axis=1, keepdims=True)


def test_the_waist_is_what_is_spilled(tmp_path):
    x = normal(8, ROW)
    program = check(
        lambda x: bundle(bundle(x, 8), 8), x, tolerance=1e-4, dump_directory=str(tmp_path)
    )
    found = spills(tmp_path)
    assert found
    for needed, there, _ in found:
        assert needed > there
    assert [values for _, _, values in found].count([f"f32[8,{ROW}]"]) >= 1
    assert program.compiled.scratch_bytes % x.nbytes == 0


@pytest.mark.parametrize("width", [2, 3])
def test_what_fits_is_not_spilled(width, tmp_path):
    program = check(
        lambda x: bundle(x, width), normal(8, 1000), tolerance=1e-4, dump_directory=str(tmp_path)
    )
    assert spills(tmp_path) == []
    assert program.compiled.scratch_bytes == 0


@pytest.mark.parametrize("width", [4, 7, 16, 40])
@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16], ids=["fp32", "bf16"])
def test_any_number_of_live_values(width, dtype, tmp_path):
    x = normal(3, ROW).astype(dtype)
    tolerance = 1e-4 if dtype == np.float32 else 0.1
    check(lambda x: bundle(x, width), x, tolerance=tolerance, dump_directory=str(tmp_path))
    assert spills(tmp_path) or width == 4 or dtype != np.float32
