"""Dense families compile to Tensor, Vector, Scalar and DMA instructions: no GpSimd kernel."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import compile_function
from jax import lax


def x(*shape):
    return np.ones(shape, np.float32)


def norm(a):
    centred = a - a.sum(-1, keepdims=True) * np.asarray(1 / a.shape[-1], a.dtype)
    square = (centred * centred).sum(-1, keepdims=True)
    return centred * lax.rsqrt(square * np.asarray(1 / a.shape[-1], a.dtype))


FAMILIES = {
    "pointwise": (lambda a, b: jnp.where(a > b, jnp.exp(a), a * b) - jnp.tanh(b), x(64, 96), x(96)),
    "gelu": (jax.nn.gelu, x(64, 96)),
    "row reductions": (lambda a: (lax.reduce_max_p.bind(a, axes=(1,)), a.sum(1)), x(64, 96)),
    "column reductions": (lambda a: (a.sum(0), a.max(0)), x(64, 96)),
    "whole reductions": (lambda a: (a.sum(), a.max()), x(640, 960)),
    "softmax": (jax.nn.softmax, x(64, 96)),
    "normalisation": (norm, x(64, 96)),
    "matmul": (lambda a, b: a @ b, x(64, 96), x(96, 32)),
    "batched matmul": (lambda a, b: a @ b, x(4, 64, 96), x(4, 96, 32)),
    "attention": (
        lambda q, k, v: jax.nn.softmax(q @ k.swapaxes(-1, -2)) @ v,
        x(2, 4, 64, 32),
        x(2, 4, 64, 32),
        x(2, 4, 64, 32),
    ),
    "convolution": (
        lambda a, w: lax.conv_general_dilated(a, w, (1, 1), "SAME"),
        x(2, 16, 8, 8),
        x(32, 16, 3, 3),
    ),
    "movement": (
        lambda a: (a.T, jnp.concatenate([a, a], 1), jnp.pad(a, 1), a[::2, ::-1]),
        x(64, 96),
    ),
    "casts": (lambda a: (a.astype(jnp.int32), a.astype(jnp.float32), a > 0), x(64, 96)),
}


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_gpsimd_kernel(family, dtype):
    function, *arguments = FAMILIES[family]
    program = compile_function(function, *(a.astype(dtype) for a in arguments))
    assert program.compiled.gpsimd_kernels == []
    assert program.compiled.opcodes
