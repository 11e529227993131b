"""Calls that CPU refuses for what a meta kernel does not see: memory, values, dtypes.

The table is what op_db has no error inputs for; tests/conformance goes through op_db.
"""

import pytest
import torch
import torch.nn.functional as F

HALF, INT8, BOOL, U16 = torch.float16, torch.int8, torch.bool, torch.uint16


class Make:
    def __init__(self, device):
        self.device = device

    def __call__(self, *sizes, dtype=torch.float32, fill=1):
        return torch.full(sizes, fill, dtype=dtype, device=self.device)

    def index(self, *values):
        return torch.tensor(values, device=self.device)


def _halves(t):
    return t(3, dtype=HALF)


MEMORY = {
    "add_, shifted": lambda x: x[1:].add_(x[:-1]),
    "mul_, shifted the other way": lambda x: x[:-1].mul_(x[1:]),
    "exp out": lambda x: torch.exp(x[:-1], out=x[1:]),
    "add out": lambda x: torch.add(x[:-1], 1.0, out=x[1:]),
    "copy_": lambda x: x[1:].copy_(x[:-1]),
    "setitem": lambda x: x.__setitem__(slice(1, None), x[:-1]),
    "copy_ of another dtype's view": lambda x: x[1:].copy_(x.view(torch.int32)[:-1]),
    "addcmul_": lambda x: x[1:].addcmul_(x[:-1], x[:-1]),
    "where out": lambda x: torch.where(x[:-1] > 0, x[:-1], 0.0, out=x[1:]),
    "gather out": lambda x: torch.gather(x, 0, torch.zeros_like(x, dtype=torch.int64), out=x),
    "index_select out": lambda x: torch.index_select(
        x, 0, torch.zeros_like(x, dtype=torch.int64), out=x
    ),
    "cat out": lambda x: torch.cat([x[:2], x[2:4]], out=x[:4]),
    "take out": lambda x: torch.take(x, torch.zeros_like(x, dtype=torch.int64), out=x),
    "masked_select out": lambda x: torch.masked_select(x, x > 0, out=x),
    "expanded add_": lambda x: x[:1].expand(4).add_(1.0),
    "expanded add_ of a tensor": lambda x: x[:1].expand(6).add_(x),
    "expanded out": lambda x: torch.add(x, 1.0, out=x.new_zeros(6)[:1].expand(6)),
    "expanded copy_": lambda x: x[:1].expand(4).copy_(torch.ones(4)),
    "expanded scatter_": lambda x: (
        x[:1].expand(4).scatter_(0, torch.zeros_like(x[:4], dtype=torch.int64), 1.0)
    ),
    "expanded bernoulli_": lambda x: x[:1].expand(4).bernoulli_(0.5),
}
LEGAL_MEMORY = {
    "itself": lambda x: x.add_(x),
    "out is the input": lambda x: torch.add(x, 1.0, out=x),
    "parts that do not meet": lambda x: x[:3].add_(x[3:]),
    "expanded fill_": lambda x: x[:1].expand(4).fill_(3.0),
}
VALUES = {
    "binary_cross_entropy: input": lambda t: F.binary_cross_entropy(t(3, fill=1.5), t(3)),
    "binary_cross_entropy: NaN": lambda t: F.binary_cross_entropy(t(3, fill=float("nan")), t(3)),
    "binary_cross_entropy: target": lambda t: F.binary_cross_entropy(t(3), t(3, fill=-0.5)),
    "bernoulli": lambda t: torch.bernoulli(t(3, fill=1.5)),
    "bernoulli_ of a tensor": lambda t: t(3).bernoulli_(t(3, fill=-0.5)),
    "bernoulli_ of a number": lambda t: t(3).bernoulli_(1.5),
    "bernoulli of a number": lambda t: torch.bernoulli(t(3), 1.5),
    "multinomial": lambda t: torch.multinomial(t(3, fill=-1.0), 1),
    "one_hot: negative": lambda t: F.one_hot(t.index(1, -2)),
    "one_hot: all negative": lambda t: F.one_hot(t.index(-1, -2)),
    "one_hot: negative, classes given": lambda t: F.one_hot(t.index(1, -2), 4),
    "one_hot: large": lambda t: F.one_hot(t.index(1, 7), 4),
    "pow": lambda t: t.index(1, 2) ** -1,
    "pow_": lambda t: t.index(1, 2).pow_(-2),
    "max of nothing": lambda t: t(2, 0).max(1),
    "min of nothing": lambda t: t(0, 2).min(0),
    "amax of nothing": lambda t: t(2, 0).amax(1),
    "argmin of nothing": lambda t: t(2, 0).argmin(1),
    "median of nothing": lambda t: t(2, 0).median(1),
    "mode of nothing": lambda t: t(2, 0).mode(1),
    "kthvalue of nothing": lambda t: t(2, 0).kthvalue(1, 1),
    "aminmax of nothing": lambda t: t(2, 0).aminmax(dim=1),
    "integer division by zero": lambda t: t.index(1, 2) // t.index(1, 0),
}
NUMBERS = {
    "fill_": lambda t: _halves(t).fill_(1e6),
    "full": lambda t: t(3, dtype=HALF, fill=1e6),
    "masked_fill": lambda t: _halves(t).masked_fill(_halves(t) > 0, -1e9),
    "clamp": lambda t: _halves(t).clamp(max=1e9),
    "hardtanh": lambda t: F.hardtanh(_halves(t), -1e9, 1e9),
    "threshold": lambda t: F.threshold(_halves(t), 0.0, 1e9),
    "pad": lambda t: F.pad(_halves(t), (1, 1), value=1e9),
    "scatter_": lambda t: _halves(t).scatter_(0, t.index(0, 1), 1e9),
    "index_fill_": lambda t: _halves(t).index_fill_(0, t.index(0), 1e9),
    "linspace": lambda t: torch.linspace(0, 1e6, 3, dtype=HALF, device=t.device),
    "fill_ of int8": lambda t: t(3, dtype=INT8).fill_(1000),
    "clamp of int8": lambda t: t(3, dtype=INT8).clamp(max=1000),
    "masked_fill of uint8": lambda t: t(3, dtype=torch.uint8).masked_fill(t(3) > 0, 300),
}
LEGAL_NUMBERS = {
    "infinity": lambda t: _halves(t).fill_(float("inf")),
    "minus infinity": lambda t: _halves(t).masked_fill(_halves(t) > 0, float("-inf")),
    "the largest half": lambda t: _halves(t).fill_(65504.0),
    "add": lambda t: _halves(t) + 1e9,
    "eq": lambda t: _halves(t) == 1e9,
    "add to int8": lambda t: t(3, dtype=INT8) + 1000,
    "-1 as uint8": lambda t: t(3, dtype=torch.uint8, fill=-1),
}
DTYPES = {
    "sub of bool": lambda t: t(3, dtype=BOOL) - t(3, dtype=BOOL),
    "sub of bool and True": lambda t: t(3, dtype=BOOL) - True,
    "rsub of bool": lambda t: torch.rsub(t(3, dtype=BOOL), 1),
    "heaviside": lambda t: torch.heaviside(t(3), t(3, dtype=torch.float64)),
    "round of bool": lambda t: torch.round(t(3, dtype=BOOL)),
    "round of complex": lambda t: torch.round(t(3, dtype=torch.complex64)),
    "floor_ of bool": lambda t: t(3, dtype=BOOL).floor_(),
    "trunc of complex": lambda t: torch.trunc(t(3, dtype=torch.complex64)),
    "uint16 and int32": lambda t: t(3, dtype=U16) + t(3, dtype=torch.int32),
    "uint16 and uint32": lambda t: t(3, dtype=U16) * t(3, dtype=torch.uint32),
    "uint16 and int64, eq": lambda t: t(3, dtype=U16) == t.index(1, 2, 3),
    "cat of uint16 and int32": lambda t: torch.cat([t(3, dtype=U16), t(3, dtype=torch.int32)]),
    "argmax of bool": lambda t: t(3, dtype=BOOL).argmax(),
    "mm of bool": lambda t: t(2, 2, dtype=BOOL) @ t(2, 2, dtype=BOOL),
    "sort of complex": lambda t: t(3, dtype=torch.complex64).sort(),
}
F64, I32 = torch.float64, torch.int32
# Dtypes that do not go together, though each alone is one that the op has.
MIXTURES = {
    "nll_loss, int32": lambda t: F.nll_loss(t(4, 5), t(4, dtype=I32)),
    "nll_loss, bool": lambda t: F.nll_loss(t(4, 5), t(4, dtype=BOOL)),
    "cross_entropy, int32": lambda t: F.cross_entropy(t(4, 5), t(4, dtype=I32)),
    "binary_cross_entropy, bool": lambda t: F.binary_cross_entropy(t(4), t(4, dtype=BOOL)),
    "binary_cross_entropy, double": lambda t: F.binary_cross_entropy(t(4), t(4, dtype=F64)),
    "layer_norm": lambda t: F.layer_norm(t(4, 5), (5,), t(5, dtype=F64)),
    "group_norm": lambda t: F.group_norm(t(2, 4, 3), 2, t(4, dtype=F64), t(4, dtype=F64)),
    "batch_norm": lambda t: F.batch_norm(t(4, 5), t(5, dtype=F64), t(5, dtype=F64)),
    "instance_norm": lambda t: F.instance_norm(t(1, 2, 6), weight=t(2, dtype=F64)),
    "multi_margin_loss": lambda t: F.multi_margin_loss(t(4, 5), t(4, dtype=I32)),
    "multilabel_margin_loss": lambda t: F.multilabel_margin_loss(t(4, 5), t(4, 5, dtype=I32)),
    "grid_sample": lambda t: F.grid_sample(
        t(1, 1, 3, 3), t(1, 2, 2, 2, dtype=F64), align_corners=False
    ),
    "cdist": lambda t: torch.cdist(t(4, 5), t(3, 5, dtype=F64)),
    "cross": lambda t: torch.linalg.cross(t(4, 3), t(4, 3, dtype=F64)),
    "linear": lambda t: F.linear(t(4, 5), t(2, 5, dtype=F64)),
    "gather": lambda t: t(4, 5).gather(0, t(2, 2, dtype=torch.int16)),
    "index_add": lambda t: t(4, 5).index_add(0, t.index(0, 1), t(2, 5, dtype=F64)),
    "index_put_": lambda t: t(4, 5).index_put_((t.index(0),), t(1, 5, dtype=F64)),
    "scatter": lambda t: t(4).scatter(0, t.index(0, 1), t(2, dtype=F64)),
    "masked_scatter": lambda t: t(4).masked_scatter(t(4) > 0, t(4, dtype=F64)),
    "masked_fill": lambda t: t(4).masked_fill(t(4, dtype=I32), 1.0),
    "take": lambda t: t(4).take(t(2, dtype=I32)),
    "lerp": lambda t: torch.lerp(t(4), t(4), t(4, dtype=F64)),
    "attention": lambda t: F.scaled_dot_product_attention(
        t(1, 1, 2, 4), t(1, 1, 2, 4, dtype=F64), t(1, 1, 2, 4)
    ),
}
RANGES = {
    "random_ of nothing": lambda t: t(4).random_(5, 5),
    "random_ downwards": lambda t: t(4, dtype=I32).random_(5, 2),
    "random_ to nothing": lambda t: t(4).random_(0),
    "uniform_ beyond a half": lambda t: _halves(t).uniform_(0, 70000),
    "uniform_ over more than halves have": lambda t: _halves(t).uniform_(-60000, 60000),
}
CALLS = VALUES | NUMBERS | DTYPES | MIXTURES | RANGES


def _outcome(call, *arguments):
    try:
        result = call(*arguments)
        if isinstance(result, torch.Tensor):
            result = result.cpu()
        torch.neuron.synchronize()
    except Exception as error:
        return error
    return result


def _same_refusal(on_cpu, on_neuron):
    assert isinstance(on_cpu, Exception), "CPU answers"
    assert type(on_neuron) is type(on_cpu), f"{on_neuron!r} instead of {on_cpu!r}"


@pytest.mark.parametrize("what", MEMORY)
def test_memory_that_overlaps_is_refused(what):
    x = torch.arange(6.0)
    on_cpu, on_neuron = _outcome(MEMORY[what], x.clone()), _outcome(MEMORY[what], x.to("neuron"))
    _same_refusal(on_cpu, on_neuron)
    assert str(on_neuron).startswith(str(on_cpu).split("\n")[0])


@pytest.mark.parametrize("what", LEGAL_MEMORY)
def test_memory_that_may_overlap(what):
    x = torch.arange(6.0)
    y = x.to("neuron")
    LEGAL_MEMORY[what](x)
    LEGAL_MEMORY[what](y)
    assert torch.equal(y.cpu(), x)


@pytest.mark.parametrize("what", CALLS)
def test_values_numbers_and_dtypes_are_refused(what):
    _same_refusal(_outcome(CALLS[what], Make("cpu")), _outcome(CALLS[what], Make("neuron")))


@pytest.mark.parametrize("what", LEGAL_NUMBERS)
def test_numbers_that_fit_or_need_not(what):
    on_cpu = _outcome(LEGAL_NUMBERS[what], Make("cpu"))
    on_neuron = _outcome(LEGAL_NUMBERS[what], Make("neuron"))
    assert torch.equal(on_cpu, on_neuron)


def test_a_number_is_judged_at_each_call():
    """Run-time numbers are no part of a plan's key: neither a refusal nor its absence is kept."""
    x = torch.zeros(4, dtype=HALF, device="neuron")
    for value in (1.0, 1e6, 2.0, 1e7, 3.0):
        if value > 65504:
            with pytest.raises(RuntimeError, match="without overflow"):
                x.fill_(value)
        else:
            assert x.fill_(value).tolist() == [value] * 4


def test_a_refusal_draws_no_random_number_of_the_cpu(strict):
    """CPU is asked on stand-ins; its generator is the user's."""
    state = torch.get_rng_state()
    F.dropout(torch.ones(8, dtype=torch.complex64, device="neuron").real, 0.5)
    torch.ones(8, dtype=torch.int64, device="neuron").random_(5)
    torch.ones(8, dtype=torch.int64, device="neuron").bernoulli_(0.5)
    assert torch.equal(torch.get_rng_state(), state)


def test_what_was_written_stays_as_it_was():
    x = torch.arange(6.0, device="neuron")
    with pytest.raises(RuntimeError, match="single memory location"):
        x[1:].add_(x[:-1])
    assert x.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
