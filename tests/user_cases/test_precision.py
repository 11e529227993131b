"""fp32 means fp32 unless a lower precision was asked for."""

import pytest
import torch
import torch.nn.functional as F


def _relative(got, want):
    return ((got.double().cpu() - want).abs().max() / want.abs().max()).item()


def test_matmul_and_convolution_keep_fp32():
    """U034: fp32 products were silently computed in bf16."""
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    want = a.double() @ b.double()
    assert _relative(a.to("neuron") @ b.to("neuron"), want) < 1e-5
    x, w = torch.randn(2, 8, 16, 16), torch.randn(4, 8, 3, 3)
    want = F.conv2d(x.double(), w.double())
    assert _relative(F.conv2d(x.to("neuron"), w.to("neuron")), want) < 1e-5
    q, k, v = (torch.randn(1, 2, 64, 32) for _ in range(3))
    want = F.scaled_dot_product_attention(q.double(), k.double(), v.double())
    got = F.scaled_dot_product_attention(q.to("neuron"), k.to("neuron"), v.to("neuron"))
    assert _relative(got, want) < 1e-5


@pytest.mark.parametrize("compile_it", [False, True])
def test_low_precision_only_where_asked(compile_it, fresh_dynamo):
    """U034: autocast says so in the dtype of the result, and costs digits."""
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    want = a.double() @ b.double()
    product = torch.compile(torch.matmul, backend="neuron") if compile_it else torch.matmul
    assert not torch.is_autocast_enabled("neuron")
    assert _relative(product(a.to("neuron"), b.to("neuron")), want) < 1e-5
    with torch.autocast("neuron", dtype=torch.bfloat16):
        assert torch.is_autocast_enabled("neuron")
        got = product(a.to("neuron"), b.to("neuron"))
    assert got.dtype == torch.bfloat16
    assert 1e-4 < _relative(got, want) < 2e-2


def test_autocast_lists():
    """U077: autocast and GradScaler know the device."""
    assert torch.amp.is_autocast_available("neuron")
    x = torch.randn(4, 8, device="neuron")
    layer, norm = torch.nn.Linear(8, 8).to("neuron"), torch.nn.LayerNorm(8).to("neuron")
    with torch.autocast("neuron", dtype=torch.bfloat16):
        y = layer(x)
        assert y.dtype == torch.bfloat16
        assert y.softmax(-1).dtype == torch.float32
        assert norm(y).dtype == torch.float32
        with torch.autocast("neuron", enabled=False):
            assert layer(x).dtype == torch.float32
        assert layer(x).dtype == torch.bfloat16


def test_gradient_scaler_skips_infinite_gradients():
    """U077: the step with an infinite gradient is skipped and the scale halves."""
    p = torch.nn.Parameter(torch.ones(3, device="neuron"))
    optimizer = torch.optim.SGD([p], lr=0.5)
    scaler = torch.amp.GradScaler("neuron", init_scale=8.0, growth_interval=1)

    scaler.scale(p.sum()).backward()
    p.grad[1] = float("inf")
    scaler.unscale_(optimizer)
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [1, 1, 1]
    assert scaler.get_scale() == 4

    optimizer.zero_grad()
    scaler.scale(p.sum()).backward()
    assert p.grad.tolist() == [4, 4, 4]
    scaler.step(optimizer)
    scaler.update()
    assert p.tolist() == [0.5, 0.5, 0.5]
    assert scaler.get_scale() == 8
