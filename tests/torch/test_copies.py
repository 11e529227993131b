"""Copies between host and device, and strided ones on the device."""

import pytest
import torch

DTYPES = [
    torch.float32,
    torch.bfloat16,
    torch.float16,
    torch.int64,
    torch.int32,
    torch.uint8,
    torch.bool,
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (3, 5), (2, 3, 4), (0, 3)])
def test_round_trip(shape, dtype):
    x = (torch.rand(shape) * 10).to(dtype)
    assert torch.equal(x.to("neuron").cpu(), x)


VIEWS = {
    "transposed": lambda x: x.t(),
    "stepped": lambda x: x[::2, 1::3],
    "expanded": lambda x: x[:1].expand(4, x.shape[1]),
    "flipped": lambda x: x.flip(0),
    "permuted": lambda x: x.reshape(2, 4, 9).permute(2, 0, 1),
    "row": lambda x: x[3],
    "column": lambda x: x[:, 2],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bfloat16])
def test_strided_to_host_and_on_device(view, dtype):
    x = torch.arange(72).reshape(8, 9).to(dtype)
    y = x.to("neuron")
    want, got = VIEWS[view](x), VIEWS[view](y)
    assert torch.equal(got.cpu(), want)
    assert torch.equal(got.contiguous().cpu(), want.contiguous())
    assert got.contiguous().stride() == want.contiguous().stride()
    assert got.clone().stride() == want.clone().stride()
    into = torch.zeros(want.shape[::-1], dtype=dtype, device="neuron").permute(
        *range(want.dim() - 1, -1, -1)
    )
    into.copy_(got)
    assert torch.equal(into.cpu(), want)


@pytest.mark.parametrize("source", [torch.float32, torch.int64, torch.int32, torch.bool])
@pytest.mark.parametrize("target", [torch.float32, torch.bfloat16, torch.int32, torch.bool])
def test_casts(source, target):
    x = torch.tensor([0.0, 1.0, 2.5, -3.75, 100.0]).to(source)
    assert torch.equal(x.to("neuron").to(target).cpu(), x.to(target))


def test_host_into_a_strided_window():
    x = torch.zeros(6, 6, device="neuron")
    x[1:5, ::2].copy_(torch.ones(4, 3))
    want = torch.zeros(6, 6)
    want[1:5, ::2] = 1
    assert torch.equal(x.cpu(), want)


def test_pinned_and_non_blocking():
    x = torch.arange(1000, dtype=torch.float32).pin_memory()
    assert x.is_pinned()
    y = x.to("neuron", non_blocking=True)
    back = torch.empty(1000).pin_memory().copy_(y, non_blocking=True)
    torch.neuron.synchronize()
    assert torch.equal(back, x)


def test_overlapping_copy_within_one_tensor():
    x = torch.arange(16.0)
    y = x.to("neuron")
    y[1:].copy_(y[:-1].clone())
    x[1:].copy_(x[:-1].clone())
    assert torch.equal(y.cpu(), x)


def test_item_and_tolist():
    x = torch.tensor([[1, 2], [3, 4]], device="neuron")
    assert x[1, 0].item() == 3
    assert x.tolist() == [[1, 2], [3, 4]]
