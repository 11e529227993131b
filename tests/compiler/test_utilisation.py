"""What share of the chip's peak compiled programs reach in modelled time."""

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import compile_function

# Trainium 2, one core (src/isa/target.cpp): bf16 matmul, HBM.
PEAK_FLOPS = 128 * 128 * 2 * 2.4e9
HBM_BYTES_PER_SECOND = 362.5e9


def seconds(function, *arguments):
    program = compile_function(function, *arguments)
    program(*arguments)
    return program.compiled.duration_ps * 1e-12


@pytest.mark.parametrize("transposed", [False, True])
def test_gemm_of_4096_keeps_the_tensor_engine_busy(transposed):
    a = np.zeros((4096, 4096), ml_dtypes.bfloat16)
    time = seconds(lambda x, y: x @ (y.T if transposed else y), a, a)
    assert 2 * 4096**3 / time >= 0.85 * PEAK_FLOPS


CHAINS = {
    "relu": (lambda x: jnp.maximum(x, 0), 1),
    "add": (lambda x, y: x + y, 2),
    "scaled": (lambda x: jnp.maximum(x * 0.3 + 0.1, 0), 1),
    "tanh of a sum": (lambda x, y: jnp.tanh(x + y), 2),
}


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16], ids=["f32", "bf16"])
@pytest.mark.parametrize("name", CHAINS)
def test_memory_bound_chains_keep_the_hbm_busy(name, dtype):
    function, count = CHAINS[name]
    x = np.zeros(1 << 24, dtype)
    time = seconds(function, *[x] * count)
    assert (count + 1) * x.nbytes / time >= 0.85 * HBM_BYTES_PER_SECOND
