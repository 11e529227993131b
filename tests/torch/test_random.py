"""Random state: seeds, offsets, save and restore."""

import torch


def draw():
    return torch.rand(100, device="neuron").cpu()


def test_manual_seed_reaches_the_device():
    torch.manual_seed(7)
    first = draw()
    second = draw()
    torch.manual_seed(7)
    assert torch.equal(draw(), first)
    assert not torch.equal(first, second)


def test_state_round_trip():
    state = torch.neuron.get_rng_state()
    first = draw()
    torch.neuron.set_rng_state(state)
    assert torch.equal(draw(), first)
    states = torch.neuron.get_rng_state_all()
    assert len(states) == torch.neuron.device_count()
    torch.neuron.set_rng_state_all(states)


def test_own_generator():
    generator = torch.Generator(device="neuron")
    generator.manual_seed(3)
    first = torch.rand(10, device="neuron", generator=generator)
    generator.manual_seed(3)
    assert torch.equal(first, torch.rand(10, device="neuron", generator=generator))
    assert generator.initial_seed() == 3


def test_fork_rng():
    with torch.random.fork_rng(device_type="neuron"):
        inside = draw()
    assert torch.equal(draw(), inside)


def test_distributions_look_right():
    x = torch.empty(200_000, device="neuron")
    assert abs(x.uniform_(2, 4).mean().item() - 3) < 0.01
    x.normal_(1, 2)
    assert abs(x.mean().item() - 1) < 0.03
    assert abs(x.std().item() - 2) < 0.03
    assert abs(x.bernoulli_(0.3).mean().item() - 0.3) < 0.01


def test_dropout_scales_and_backpropagates_its_mask():
    x = torch.ones(1000, device="neuron", requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.25)
    y.sum().backward()
    kept = y.detach().cpu() != 0
    assert 650 < kept.sum() < 850
    assert torch.equal(x.grad.cpu() != 0, kept)
