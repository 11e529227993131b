"""NKI kernels on tensors of the device: launched there, in the order of its stream."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
import torch

import nki

DTYPES = [torch.float32, torch.bfloat16, torch.float16, torch.int32, torch.int8]


@nki.jit
def scaled_sum(x, y, factor):
    out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
    for at in range(0, x.shape[0], 128):
        rows = slice(at, min(at + 128, x.shape[0]))
        a, b = nl.load(x[rows]), nl.load(y[rows])
        nisa.scalar_tensor_tensor(a, a, nl.multiply, factor, nl.add, b)
        nl.store(out[rows], a)
    return out


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (128, 64), (300, 7)])
def test_results_stay_on_the_device(dtype, shape):
    x, y = (torch.randint(-9, 9, shape).to(dtype) for _ in range(2))
    got = scaled_sum(x.to("neuron"), y.to("neuron"), 3.0)
    assert got.device.type == "neuron"
    assert got.dtype == dtype
    torch.testing.assert_close(got.cpu(), 3 * x + y, rtol=0, atol=0)
    np.testing.assert_array_equal(
        got.cpu().float().numpy(), nki.simulate(scaled_sum)(x, y, 3.0).float().numpy()
    )


def test_launches_are_in_the_streams_order():
    x = torch.zeros(128, 512, device="neuron")
    ones = torch.ones(128, 512, device="neuron")
    for _ in range(20):
        x = scaled_sum(x * 1.0, ones, 1.0) + 1.0  # operators before and after each kernel
    torch.testing.assert_close(x.cpu(), torch.full((128, 512), 40.0))


def test_arguments_are_updated_in_place():
    @nki.jit
    def increment(x):
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        nl.store(x, tile)
        return x

    x = torch.zeros(16, 8, device="neuron")
    assert increment(x) is x
    assert x.sum().item() == 128
    part = torch.zeros(16, 16, device="neuron")
    increment(part[:, ::2])
    torch.testing.assert_close(part.cpu(), torch.tensor([1.0, 0.0]).repeat(16, 8))


def test_views_and_several_results():
    @nki.jit
    def extremes(x):
        tile = nl.load(x)
        results = []
        for op in (nl.maximum, nl.minimum):
            row = nl.ndarray((x.shape[0], 1), x.dtype)
            nisa.tensor_reduce(row, op, tile, 1)
            out = nl.ndarray(row.shape, x.dtype, nl.shared_hbm)
            nl.store(out, row)
            results.append(out)
        return tuple(results)

    x = torch.randn(64, 100)
    high, low = extremes(x.t().contiguous().to("neuron").t())
    torch.testing.assert_close(high.cpu(), x.amax(1, keepdim=True))
    torch.testing.assert_close(low.cpu(), x.amin(1, keepdim=True))


def test_two_physical_cores():
    @nki.jit
    def halves(x):
        rank = nl.program_id()
        mine, theirs = nl.load(x[rank]), nl.ndarray(x.shape[1:], x.dtype)
        nisa.sendrecv(mine, theirs, 1 - rank, 1 - rank, 0)
        nisa.tensor_tensor(mine, mine, theirs, nl.subtract)
        out = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nl.store(out[rank], mine)
        return out

    x = torch.randn(2, 32, 16)
    got = halves[2](x.to("neuron"))
    torch.testing.assert_close(got.cpu(), x - x.flip(0), rtol=0, atol=0)


def test_one_program_per_signature():
    kernel = nki.jit(scaled_sum.function)
    for _ in range(3):
        kernel(*torch.ones(2, 4, 4, device="neuron").unbind(), 2.0)
    assert len(kernel._compiled) == 1
    kernel(*torch.ones(2, 4, 5, device="neuron").unbind(), 2.0)
    assert len(kernel._compiled) == 2


def test_report_has_the_modelled_time():
    x = torch.ones(128, 512, device="neuron")
    kernel = nki.jit(scaled_sum.function)
    kernel(x, x, 1.0)
    torch.neuron.synchronize()
    assert 2 < kernel.report.time_us < 50
    assert {event.mnemonic for event in kernel.report.timeline()} >= {"dma_copy"}


def test_tensors_of_other_places_are_refused():
    x = torch.ones(4, 4)
    with pytest.raises(nki.NkiValidationError, match=r"the arguments are on cpu, neuron:0"):
        scaled_sum(x, x.to("neuron"), 1.0)


def test_a_failure_is_raised_at_the_synchronisation():
    @nki.jit
    def gather(x, rows):
        tile = nl.ndarray((2, x.shape[1]), x.dtype)
        nisa.dma_copy(tile, x.vector_select(0, nl.load(rows)))
        out = nl.ndarray(tile.shape, x.dtype, nl.shared_hbm)
        nl.store(out, tile)
        return out

    x = torch.arange(12.0).reshape(4, 3).to("neuron")
    rows = torch.tensor([[3], [0]], dtype=torch.int32, device="neuron")
    torch.testing.assert_close(gather(x, rows).cpu(), x.cpu()[[3, 0]])
    with pytest.raises((RuntimeError, IndexError), match="out of bounds"):
        gather(x, rows + 4).cpu()
    torch.testing.assert_close(gather(x, rows).cpu(), x.cpu()[[3, 0]])  # the device goes on
