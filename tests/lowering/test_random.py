"""Random rows: moments, ranges, and that a number depends on (key, offset, place) alone."""

import numpy as np
import pytest
import torch
import xla_oracle
from lowering.replay import to_torch
from neuron_testing import lowering

N = 40_000


def draw(overload: str, *arguments, inputs=(), key=42, offset=0) -> torch.Tensor:
    lowered = lowering.lower(overload, list(arguments))
    parameters = dict(enumerate(inputs))
    parameters[lowered["philox_parameter"]] = np.array([key, offset], np.uint64)
    outputs = xla_oracle.run(lowered["proto"], [parameters[i] for i in sorted(parameters)])
    return to_torch(outputs[0])


def number(value):
    return ("scalar", value, False)


def sized(overload: str, *leading, n=N, dtype="f32", **kw) -> torch.Tensor:
    return draw(overload, *leading, ("ints", [n]), ("dtype", dtype), None, None, None, **kw)


def filled(overload: str, *arguments, dtype="f32", n=N, **kw) -> torch.Tensor:
    numpy = {"f32": np.float32, "s64": np.int64, "u8": np.uint8, "s32": np.int32}[dtype]
    self = np.zeros(n, numpy)
    return draw(
        overload, ("tensor", dtype, [n]), *map(number, arguments), None, inputs=[self], **kw
    )


# (draw, mean, standard deviation)
MOMENTS = {
    "rand": (lambda: sized("aten::rand"), 0.5, 12**-0.5),
    "rand_bf16": (lambda: sized("aten::rand", dtype="bf16").float(), 0.498, 12**-0.5),
    "rand_f64": (lambda: sized("aten::rand", dtype="f64"), 0.5, 12**-0.5),
    "randn": (lambda: sized("aten::randn"), 0, 1),
    "uniform": (lambda: filled("aten::uniform", -2.0, 4.0), 1, 6 / 12**0.5),
    "normal": (lambda: filled("aten::normal_", 3.0, 2.0), 3, 2),
    "exponential": (lambda: filled("aten::exponential", 2.0), 0.5, 0.5),
    "geometric": (lambda: filled("aten::geometric", 0.25), 4, 12**0.5),
    "bernoulli": (lambda: filled("aten::bernoulli_.float", 0.3), 0.3, 0.21**0.5),
    "randint": (lambda: sized("aten::randint.low", number(-5), number(6), dtype="s64"), 0, 10**0.5),
    "random_from": (
        lambda: filled("aten::random.from", 0, 2**40, dtype="s64"),
        2**39,
        2**40 / 12**0.5,
    ),
    "random": (lambda: filled("aten::random", dtype="u8"), 127.5, (256**2 - 1) ** 0.5 / 12**0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", MOMENTS)
def test_moments(name):
    make, mean, deviation = MOMENTS[name]
    x = make().double()
    assert abs(x.mean() - mean) < 5 * deviation / N**0.5
    assert abs(x.std() / deviation - 1) < 0.03


def test_uniform_is_half_open():
    x = sized("aten::rand")
    assert x.min() >= 0
    assert x.max() < 1
    assert x.unique().numel() > 0.99 * N


def test_a_number_depends_on_its_place_alone():
    """A longer draw begins with the shorter one; the next offset continues it, four by four."""
    long = sized("aten::rand", n=4096)
    assert torch.equal(long[:1024], sized("aten::rand", n=1024))
    assert torch.equal(long[1024:2048], sized("aten::rand", n=1024, offset=256))
    assert not torch.equal(long, sized("aten::rand", n=4096, key=43))


def test_randperm_permutes():
    x = draw("aten::randperm", number(1000), ("dtype", "s64"), None, None, None)
    assert torch.equal(x.sort().values, torch.arange(1000))
    assert (x != torch.arange(1000)).float().mean() > 0.9


def test_dropout_scales_what_it_keeps():
    ones = np.ones(N, np.float32)
    lowered = lowering.lower("aten::native_dropout", [("tensor", "f32", [N]), number(0.25), True])
    state = np.array([1, 0], np.uint64)
    out, mask = map(to_torch, xla_oracle.run(lowered["proto"], [ones, state]))
    assert abs(mask.float().mean() - 0.75) < 0.02
    assert torch.equal(out, mask.float() * np.float32(1 / 0.75))
    assert lowered["philox_numbers"] == N // 4


@pytest.mark.parametrize("replacement", [False, True])
def test_multinomial_follows_weights(replacement):
    weights = np.tile(np.array([1, 2, 3, 4], np.float32), (5000, 1))
    x = draw(
        "aten::multinomial", ("tensor", "f32", [5000, 4]), number(2), replacement, None,
        inputs=[weights],
    )  # fmt: skip
    assert x.shape == (5000, 2)
    if not replacement:
        assert (x[:, 0] != x[:, 1]).all()
    share = torch.bincount(x[:, 0], minlength=4) / 5000
    assert torch.allclose(share, torch.tensor([0.1, 0.2, 0.3, 0.4]), atol=0.03)
