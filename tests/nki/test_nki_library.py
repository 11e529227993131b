"""Kernels of aws-neuron/nki-library, unmodified, against NumPy.

Runs where NKI_LIBRARY names a checkout (tag 2.29; Apache-2.0, not part of this repository):

    git clone -b 2.29 https://github.com/aws-neuron/nki-library /tmp/nki-library
    NKI_LIBRARY=/tmp/nki-library pytest tests/nki/test_nki_library.py
"""

import importlib
import os
import sys

import ml_dtypes
import nki.language as nl
import numpy as np
import pytest

import nki

ROOT = os.environ.get("NKI_LIBRARY")
pytestmark = pytest.mark.skipif(
    not ROOT, reason="NKI_LIBRARY names no checkout of aws-neuron/nki-library"
)
if ROOT:
    sys.path.insert(0, os.path.join(ROOT, "src/nkilib_src"))
BF16 = ml_dtypes.bfloat16


@pytest.fixture
def normal():
    rng = np.random.default_rng(3)
    return lambda *shape: rng.standard_normal(shape).astype(np.float32)


def run(module, name, *arguments, lnc=1, **options):
    kernel = getattr(importlib.import_module(f"nkilib.{module}"), name)
    return nki.simulate(kernel[lnc])(*arguments, **options)


def f64(x):
    return np.asarray(x).astype(np.float64)


def softmax(scores):
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def close(got, want, tolerance):
    np.testing.assert_allclose(f64(got).reshape(want.shape), want, rtol=0, atol=tolerance)


def test_cumsum(normal):
    x = normal(300, 5000)
    close(run("core.cumsum.cumsum", "cumsum", x), np.cumsum(f64(x), axis=1), 1e-3)


def test_rope(normal):
    d, batch, heads, sequence = 128, 2, 4, 64
    x = normal(d, batch, heads, sequence)
    cos, sin = normal(d // 2, batch, sequence), normal(d // 2, batch, sequence)
    even, odd, c, s = x[: d // 2], x[d // 2 :], cos[:, :, None], sin[:, :, None]
    want = np.concatenate([even * c - odd * s, odd * c + even * s], 0)
    np.testing.assert_array_equal(run("core.embeddings.rope", "RoPE", x, cos, sin), want)


def test_rope_hf(normal):
    q, k = normal(2, 4, 128, 64), normal(2, 2, 128, 64)
    cos, sin = normal(2, 128, 64), normal(2, 128, 64)
    outs = run(
        "core.embeddings.rope_hf", "rope_hf", q, k, np.zeros_like(q), np.zeros_like(k), cos, sin
    )
    for out, x in zip(outs, (q, k), strict=True):
        turned = np.concatenate([-x[..., 32:], x[..., :32]], -1)
        np.testing.assert_array_equal(out, x * cos[:, None] + turned * sin[:, None])


def test_cascaded_max(normal):
    x = normal(8, 4, 3168)
    values, indices = run("core.max.cascaded_max", "cascaded_max", x)
    np.testing.assert_array_equal(values.reshape(8, 4), x.max(-1))
    np.testing.assert_array_equal(indices.reshape(8, 4), x.argmax(-1))


@pytest.mark.parametrize("causal", [False, True])
def test_attention_cte(causal, normal):
    q, k, v = normal(2, 512, 128), normal(2, 128, 512), normal(2, 512, 128)
    q, k, v = (x.astype(BF16) for x in (q, k, v))
    got = run(
        "core.attention.attention_cte", "attention_cte", q, k, v,
        scale=0.1, causal_mask=causal, tp_q=True, tp_out=False,
    )  # fmt: skip
    scores = f64(q) @ f64(k) * 0.1
    if causal:
        scores = np.where(np.tril(np.ones((512, 512))) > 0, scores, -1e30)
    close(got, softmax(scores) @ f64(v), 0.02)


def test_attention_bwd(normal):
    batch, heads, d, n = 1, 2, 64, 512
    q, k, v = (normal(batch, heads, d, n) / 4 for _ in range(3))
    dy = normal(batch, heads, d, n)
    scale = 1 / np.sqrt(d)
    scores = np.einsum("bhdi,bhdj->bhij", f64(q), f64(k)) * scale
    p = softmax(scores)
    lse = np.log(np.exp(scores - scores.max(-1, keepdims=True)).sum(-1)) + scores.max(-1)
    out = np.einsum("bhij,bhdj->bhdi", p, v)
    dp = np.einsum("bhdi,bhdj->bhij", dy, v)
    ds = p * (dp - (dy * out).sum(2)[..., None]) * scale
    wants = (
        np.einsum("bhij,bhdj->bhdi", ds, k),
        np.einsum("bhij,bhdi->bhdj", ds, q),
        np.einsum("bhij,bhdi->bhdj", p, dy),
    )
    state = lse.reshape(batch, heads, n // 128, 128).transpose(0, 1, 3, 2)
    state = np.ascontiguousarray(state, dtype=np.float32)
    gots = run(
        "core.attention.attention_bwd", "attention_bwd",
        q, k, v, out.astype(np.float32), dy, state,
    )  # fmt: skip
    for got, want in zip(gots, wants, strict=True):
        close(got, want, 1e-5)


@pytest.mark.parametrize("shape", [(256, 512, 256), (4, 1024, 512)], ids=["prefill", "decode"])
def test_mlp(shape, normal):
    rows, hidden, inner = shape
    x = (normal(1, rows, hidden) / 2).astype(BF16)
    gate, up, down = (
        (normal(*s) / np.sqrt(s[0])).astype(BF16)
        for s in ((hidden, inner), (hidden, inner), (inner, hidden))
    )
    got = run("core.mlp.mlp", "mlp", x, gate, up, down)
    gated = f64(x) @ f64(gate)
    want = (gated / (1 + np.exp(-gated)) * (f64(x) @ f64(up))) @ f64(down)
    close(got[0] if isinstance(got, (tuple, list)) else got, want, 0.01)


def test_qkv(normal):
    x, weights = normal(1, 256, 512).astype(BF16), (normal(512, 384) / 22).astype(BF16)
    got = run("core.qkv.qkv", "qkv", x, weights)
    got = got[0] if isinstance(got, (tuple, list)) else got
    close(got, f64(x) @ f64(weights), 0.03)


def test_output_projection_cte(normal):
    x, weights = normal(1, 4, 128, 512).astype(BF16), (normal(512, 512) / 22).astype(BF16)
    module = "core.output_projection.output_projection_cte.output_projection_cte"
    got = run(module, "output_projection_cte", x, weights)
    close(got, (f64(x).reshape(512, 512).T @ f64(weights))[None], 0.03)


def test_cross_entropy_on_two_cores(normal):
    logits = normal(64, 2000)
    targets = np.random.default_rng(0).integers(0, 2000, 64).astype(np.int32)
    options = {"positions_per_batch": 32, "chunk_size": 500, "dtype": nl.float32, "lnc": 2}
    module = "experimental.loss.cross_entropy"
    loss, state = run(module, "cross_entropy_forward", logits, targets, **options)
    log_sum = np.log(np.exp(f64(logits)).sum(1))
    close(loss, log_sum - logits[np.arange(64), targets], 1e-5)
    gradient = run(
        module, "cross_entropy_backward", logits, targets, state, inplace=False, **options
    )
    want = softmax(f64(logits))
    want[np.arange(64), targets] -= 1
    close(gradient, want / 64, 1e-7)


def test_conv1d(normal):
    x, filters = normal(2, 32, 100), normal(3, 32, 48)
    want = sum(np.einsum("bcl,co->bol", x[:, :, k : k + 98], filters[k]) for k in range(3))
    close(run("experimental.conv.conv1d", "conv1d", x, filters), want, 1e-4)


def test_dynamic_trip_count(normal):
    a, b = (normal(256, 512).astype(BF16) for _ in range(2))
    module = "experimental.dynamic_shapes.dynamic_elementwise_add"
    got = run(module, "dynamic_elementwise_add", a, b, np.array([[2]], np.int32))
    np.testing.assert_array_equal(got, (a.astype(np.float32) + b.astype(np.float32)).astype(BF16))


def test_rmsnorm_quant(normal):
    module = importlib.import_module("nkilib.core.rmsnorm.rmsnorm_quant")
    types = importlib.import_module("nkilib.core.utils.common_types")
    x = normal(1, 256, 1024).astype(BF16)
    options = module.RmsNormQuantKernelArgs(lower_bound=0.0, norm_type=types.NormType.RMS_NORM)
    got = nki.simulate(module.rmsnorm_quant_kernel)(x, np.ones((1, 1024), BF16), options)
    scale = np.ascontiguousarray(got[0, :, 1024:]).view(np.float32)
    want = f64(x)[0] / np.sqrt((f64(x)[0] ** 2).mean(1, keepdims=True) + 1e-6)
    np.testing.assert_allclose(f64(got[0, :, :1024]) * scale, want, rtol=0.07, atol=0.01)
