"""neuron-compile --auto-cast against the same rounding in NumPy."""

import subprocess
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import neuron_testing
import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program

COMPILE = Path(neuron_testing.__file__).parent / "torch_neuronx" / "bin" / "neuron-compile"


def tf32(x):
    """Ten bits of mantissa, ties to even."""
    bits = x.astype(np.float32).view(np.uint32)
    return ((bits + 0xFFF + ((bits >> 13) & 1)) & ~np.uint32(0x1FFF)).view(np.float32)


ROUND = {
    "bf16": lambda x: x.astype(ml_dtypes.bfloat16).astype(np.float32),
    "fp16": lambda x: x.astype(np.float16).astype(np.float32),
    "tf32": tf32,
    "fp8_e4m3": lambda x: x.astype(ml_dtypes.float8_e4m3).astype(np.float32),
}


def cast(directory, function, *arguments, options):
    proto = xla_oracle.proto_of(function, *arguments)
    file, out = directory / "f.hlo.pb", directory / "f.neff"
    file.write_bytes(proto)
    words = ["compile", "--framework", "XLA", "--target", "trn2", *options, "--output", out, file]
    subprocess.run([COMPILE, *words], check=True, capture_output=True)
    return Program.of_container(out.read_bytes(), proto)(*arguments)[0]


def normal(*shape):
    return np.random.default_rng(shape).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("dtype", ROUND)
def test_matmults_round_their_operands(dtype, tmp_path):
    x, y = normal(33, 70), normal(70, 20)
    got = cast(
        tmp_path, lambda x, y: jnp.exp(x @ y * 0.01) + 1e-6, x, y,
        options=["--auto-cast=matmult", "--auto-cast-type", dtype],
    )  # fmt: skip
    product = ROUND[dtype](x).astype(np.float64) @ ROUND[dtype](y).astype(np.float64)
    want = np.exp(product * 0.01) + 1e-6
    np.testing.assert_allclose(got, want, rtol=2e-6)
    exact = np.exp(x.astype(np.float64) @ y.astype(np.float64) * 0.01)
    assert np.abs(got - exact).max() > 1e-5  # the cast is there


@pytest.mark.parametrize("dtype", ["bf16", "fp16", "tf32"])
def test_all_rounds_arithmetic_too(dtype, tmp_path):
    x, y = normal(5, 64), normal(5, 64)
    options = ["--auto-cast=all", "--auto-cast-type", dtype]
    got = cast(tmp_path, lambda x, y: (x * y + x).max(axis=1), x, y, options=options)
    r = ROUND[dtype]
    want = r(r(r(x) * r(y)) + r(x)).max(axis=1)
    np.testing.assert_array_equal(got, want)


def test_none_casts_nothing(tmp_path):
    x, y = normal(33, 70), normal(70, 20)
    got = cast(tmp_path, jnp.matmul, x, y, options=["--auto-cast=none"])
    np.testing.assert_allclose(got, x.astype(np.float64) @ y, rtol=1e-5, atol=1e-5)


def test_bodies_of_loops_are_cast(tmp_path):
    x, y = normal(8, 8) / 4, normal(8, 8) / 4
    got = cast(
        tmp_path, lambda x, y: jax.lax.fori_loop(0, 3, lambda _, s: s @ y, x), x, y,
        options=["--auto-cast=matmult"],
    )  # fmt: skip
    want = x
    for _ in range(3):
        want = (ROUND["bf16"](want).astype(np.float64) @ ROUND["bf16"](y)).astype(np.float32)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-7)
