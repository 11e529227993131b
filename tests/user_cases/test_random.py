"""Random numbers: their quality, their seeds and states, generators as arguments."""

import warnings

import pytest
import torch
from scipy import stats
from torch import nn

SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_stream_starts_well(seed):
    """U037: the first uniforms were all close to one half."""
    torch.manual_seed(seed)
    u = torch.rand(16, device="neuron").cpu()
    assert u.unique().numel() == 16
    assert (u.max() - u.min()) > 0.5


def test_uniform_and_normal_distributions():
    """U037: means, moments and a test of the whole distribution."""
    torch.manual_seed(1)
    u = torch.rand(100_000, device="neuron").cpu()
    assert abs(u.mean() - 0.5) < 0.005
    assert 0 <= u.min() < u.max() < 1
    assert stats.kstest(u.numpy(), "uniform").pvalue > 1e-4
    n = torch.randn(100_000, device="neuron").cpu()
    assert abs(n.mean()) < 0.02
    assert abs(n.std() - 1) < 0.02
    assert stats.kstest(n.numpy(), "norm").pvalue > 1e-4
    assert stats.kstest(torch.empty(20_000, device="neuron").exponential_(2.0).cpu(), "expon",
                        args=(0, 0.5)).pvalue > 1e-4  # fmt: skip


@pytest.mark.parametrize("bounds", [(0, 10), (-7, 3), (-5, -1), (0, 2**40)])
def test_integers_cover_their_range(bounds):
    """U037: also below zero."""
    x = torch.randint(*bounds, (4000,), device="neuron").cpu()
    assert bounds[0] <= x.min()
    assert x.max() < bounds[1]
    if bounds[1] - bounds[0] < 100:
        counts = torch.bincount(x - bounds[0], minlength=bounds[1] - bounds[0])
        assert stats.chisquare(counts.numpy()).pvalue > 1e-4


@pytest.mark.parametrize("n", [0, 1, 17, 1000])
def test_permutations(n):
    """U037: randperm holds each number once."""
    x = torch.randperm(n, device="neuron").cpu()
    assert sorted(x.tolist()) == list(range(n))


def test_multinomial_follows_the_weights():
    """U037: sampling of tokens."""
    weights = torch.tensor([0.1, 0.0, 0.6, 0.3], device="neuron")
    counts = torch.bincount(weights.multinomial(20_000, replacement=True).cpu(), minlength=4)
    assert counts[1] == 0
    assert stats.chisquare(counts[[0, 2, 3]], [2000, 12_000, 6000]).pvalue > 1e-4
    assert sorted(torch.ones(9, device="neuron").multinomial(9).tolist()) == list(range(9))


def _losses(seed, dropout):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(8, 32), nn.Dropout(dropout), nn.Linear(32, 1)).to("neuron")
    x = torch.randn(16, 8).to("neuron")
    torch.manual_seed(seed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    losses = []
    for _ in range(5):
        loss = model(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_run_repeats_bit_for_bit_and_follows_its_seed():
    """U036: reruns are identical; another seed drops other elements."""
    assert _losses(3, 0.1) == _losses(3, 0.1)
    assert _losses(3, 0.1) != _losses(4, 0.1)
    assert _losses(3, 0.0) == _losses(4, 0.0)


def test_generators_as_arguments():
    """U039: random tensors had to be made on the CPU and copied."""
    assert torch.randn(2, 3, device="neuron").device.type == "neuron"
    draws = []
    for _ in range(2):
        generator = torch.Generator(device="neuron").manual_seed(0)
        assert generator.device.type == "neuron"
        draws.append(torch.randn(2, 3, device="neuron", generator=generator).cpu())
    assert torch.equal(*draws)
    with pytest.raises(RuntimeError, match=r"'neuron' device type for generator.*'cpu'"):
        torch.randn(2, 3, device="neuron", generator=torch.Generator())
    with pytest.raises(RuntimeError, match="generator"):
        torch.empty(3, device="neuron").normal_(generator=torch.Generator())


def test_seeding_warns_nobody():
    """U076: each seed came with a warning that it had no effect."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.manual_seed(3)
        torch.seed()
        torch.neuron.manual_seed_all(3)
        first = torch.rand(4, device="neuron").cpu()
        torch.neuron.manual_seed(3)
        assert torch.equal(torch.rand(4, device="neuron").cpu(), first)
        torch.manual_seed(3)
        assert torch.equal(torch.rand(4, device="neuron").cpu(), first)


def test_states_are_saved_and_restored():
    """U076: get and set the state, of one device and of all; fork_rng."""
    state, states = torch.neuron.get_rng_state(), torch.neuron.get_rng_state_all()
    first = torch.rand(4, device="neuron").cpu()
    torch.neuron.set_rng_state(state)
    assert torch.equal(torch.rand(4, device="neuron").cpu(), first)
    torch.neuron.set_rng_state_all(states)
    assert torch.equal(torch.rand(4, device="neuron").cpu(), first)
    torch.neuron.set_rng_state(state)
    with torch.random.fork_rng(device_type="neuron"):
        torch.rand(7, device="neuron")
    assert torch.equal(torch.rand(4, device="neuron").cpu(), first)
