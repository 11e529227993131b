"""Convolutions and their gradients through the emulator against XLA."""

import jax
import ml_dtypes
import numpy as np
import pytest
from compiler.harness import check
from jax import lax

N1, N2 = ("NCH", "OIH", "NCH"), ("NCHW", "OIHW", "NCHW")
N3, HWC = ("NCDHW", "OIDHW", "NCDHW"), ("NHWC", "HWIO", "NHWC")


def conv(dimensions, strides, padding, **options):
    return lambda x, w: lax.conv_general_dilated(
        x, w, strides, padding, dimension_numbers=dimensions, **options
    )


CASES = {
    "one_channel": (conv(N2, (1, 1), "SAME"), (4, 1, 8, 8), (16, 1, 3, 3)),
    "stem": (conv(N2, (2, 2), ((3, 3), (3, 3))), (2, 3, 33, 35), (20, 3, 7, 7)),
    "taps": (conv(N2, (1, 1), "SAME"), (3, 32, 14, 14), (48, 32, 3, 3)),
    "many_channels": (conv(N2, (1, 1), "VALID"), (2, 200, 9, 9), (140, 200, 3, 3)),
    "point": (conv(N2, (2, 2), "VALID"), (5, 33, 8, 8), (10, 33, 1, 1)),
    "dilated": (
        conv(N2, (1, 1), ((2, 2), (1, 3)), rhs_dilation=(2, 2)), (2, 20, 12, 13), (8, 20, 3, 3)),
    "transposed": (
        conv(N2, (1, 1), ((2, 2), (2, 3)), lhs_dilation=(2, 2)), (2, 20, 7, 8), (8, 20, 3, 3)),
    "cropped": (
        conv(N2, (1, 1), ((-1, 2), (2, -2)), lhs_dilation=(2, 3)), (2, 20, 7, 8), (8, 20, 3, 3)),
    "groups": (
        conv(N2, (1, 1), "SAME", feature_group_count=4), (2, 80, 7, 8), (12, 20, 3, 3)),
    "depthwise": (
        conv(N2, (2, 1), "SAME", feature_group_count=150), (2, 150, 9, 8), (150, 1, 3, 3)),
    "depthwise_multiplier": (
        conv(N2, (1, 1), "SAME", feature_group_count=5), (2, 5, 9, 8), (10, 1, 3, 3)),
    "batch_groups": (
        conv(N2, (1, 1), "VALID", batch_group_count=4), (8, 20, 9, 9), (12, 20, 3, 3)),
    "1d": (conv(N1, (2,), "SAME"), (2, 30, 1300), (7, 30, 5)),
    "3d": (conv(N3, (1, 2, 1), "SAME"), (2, 20, 5, 6, 7), (7, 20, 3, 3, 3)),
    "3d_few_channels": (conv(N3, (1, 1, 1), "SAME"), (2, 2, 5, 6, 7), (7, 2, 3, 3, 3)),
    "channels_last": (conv(HWC, (1, 1), "SAME"), (2, 9, 10, 24), (3, 3, 24, 11)),
    "wide_rows": (conv(N2, (1, 1), "SAME"), (1, 20, 3, 700), (8, 20, 3, 3)),
}  # fmt: skip


def arguments(case, dtype=np.float32):
    _, x, w = CASES[case]
    rng = np.random.default_rng(0)
    fan = np.prod(w[1:]) ** -0.5
    return rng.standard_normal(x).astype(dtype), (rng.standard_normal(w) * fan).astype(dtype)


@pytest.mark.parametrize("case", CASES)
def test_forward(case):
    program = check(CASES[case][0], *arguments(case), tolerance=2e-5)
    assert program.compiled.gpsimd_kernels == []
    assert ("nc_matmul" in program.compiled.opcodes) != case.startswith("depthwise")


@pytest.mark.parametrize(
    "case", ["one_channel", "stem", "taps", "dilated", "groups", "depthwise", "1d", "3d", "point"]
)
def test_gradients(case):
    function = CASES[case][0]
    x, w = arguments(case)
    shape = jax.eval_shape(function, x, w).shape
    gradient = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    gradient /= np.sqrt(gradient.size)
    program = check(
        lambda x, w, g: jax.vjp(function, x, w)[1](g), x, w, gradient, tolerance=5e-5
    )  # fmt: skip
    assert program.compiled.gpsimd_kernels == []


@pytest.mark.parametrize("case", ["taps", "one_channel", "depthwise"])
def test_bfloat16(case):
    check(CASES[case][0], *arguments(case, ml_dtypes.bfloat16), tolerance=3e-2)


@pytest.mark.parametrize("case", ["taps", "one_channel", "depthwise", "groups"])
def test_epilogue_stays_on_chip(case):
    function = CASES[case][0]
    x, w = arguments(case)
    bias = np.random.default_rng(2).standard_normal(w.shape[0]).astype(np.float32)
    plain = check(function, x, w, tolerance=2e-5)
    fused = check(
        lambda x, w, b: jax.nn.relu(function(x, w) + b[None, :, None, None]),
        x, w, bias, tolerance=2e-5,
    )  # fmt: skip
    # Bias and activation cost no pass over HBM: no more scratch than the convolution itself.
    assert fused.compiled.scratch_bytes == plain.compiled.scratch_bytes
    assert fused.compiled.gpsimd_kernels == []
