"""docs/design/numerics.md, first row of its table: ops whose bits are PyTorch CPU's."""

import pytest
import torch

FLOATS = [torch.float32, torch.bfloat16, torch.float16]
COUNT = 50_000  # whole vectors of every SIMD target, a tail, several tiles
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
SPECIAL = [
    0.0,
    -0.0,
    float("inf"),
    -float("inf"),
    float("nan"),
    1e-45,
    -1e-40,
    65504.0,
    3.4e38,
    1.0,
]


def bits(x):
    """NaNs are alike: which one an operation makes is not specified."""
    if x.is_floating_point():
        x = torch.where(x.isnan(), torch.full_like(x, float("nan")), x)
    return x.contiguous().view(WORDS[x.element_size()])


def values(dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    if not dtype.is_floating_point:
        low = 0 if dtype in (torch.uint8, torch.bool) else -100
        return torch.randint(low, 100, (COUNT,), generator=generator).to(dtype)
    scale = torch.exp2(torch.randint(-20, 16, (COUNT,), generator=generator).float())
    x = torch.randn(COUNT, generator=generator) * scale
    # Every special value beside every other, with the other operand's places shifted.
    pairs = torch.tensor(SPECIAL).repeat_interleave(len(SPECIAL) if seed == 0 else 1)
    if seed:
        pairs = pairs.repeat(len(SPECIAL))
    x[: len(pairs)] = pairs
    return x.to(dtype)


def assert_same_bits(function, *arguments):
    want = function(*arguments)
    got = function(*(a.to("neuron") for a in arguments)).cpu()
    assert got.dtype == want.dtype
    different = (bits(got) != bits(want)).nonzero().flatten()
    first = different[0].item() if len(different) else 0
    operands = [a.flatten()[first].item() for a in arguments if a.numel() == want.numel()]
    assert not len(different), (
        f"{len(different)} of {COUNT} differ, first of {operands}: "
        f"{got.flatten()[first]} on neuron, {want.flatten()[first]} on CPU"
    )


IEEE = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "div": torch.div,
    "neg": lambda x, y: -x,
    "abs": lambda x, y: x.abs(),
    "reciprocal": lambda x, y: x.reciprocal(),
    "mul by a number": lambda x, y: x * 0.1,
    "subtract from a number": lambda x, y: 0.3 - x,
    "floor": lambda x, y: x.floor(),
    "ceil": lambda x, y: x.ceil(),
    "trunc": lambda x, y: x.trunc(),
    "round": lambda x, y: x.round(),
}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("name", IEEE)
def test_single_ieee_operations(name, dtype):
    assert_same_bits(IEEE[name], values(dtype, 0), values(dtype, 1))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_sqrt_is_rounded_correctly(dtype):
    """PyTorch CPU's fp32 root is a library's, one in six a unit off; the device's is IEEE's."""
    x = values(dtype, 0).abs()
    want = x.double().sqrt().to(dtype)
    assert torch.equal(bits(x.to("neuron").sqrt().cpu()), bits(want))


COMPARISONS = {n: getattr(torch, n) for n in ("eq", "ne", "lt", "le", "gt", "ge")}
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS, torch.bool], ids=str)
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name, dtype):
    assert_same_bits(COMPARISONS[name], values(dtype, 0), values(dtype, 1))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "bitwise_and", "bitwise_xor", "maximum"])
def test_integers_wrap(name, dtype):
    factor = 13 if dtype.itemsize == 1 else 7**9
    x, y = (values(torch.int64, seed) * factor for seed in (0, 1))
    assert_same_bits(getattr(torch, name), x.to(dtype), y.to(dtype))


MOVEMENT = {
    "transpose": lambda x: x.view(250, 200).t().contiguous(),
    "permute": lambda x: x.view(50, 40, 25).permute(2, 0, 1).contiguous(),
    "strided": lambda x: x[3::7].contiguous(),
    "reversed": lambda x: x.flip(0),
    "cat": lambda x: torch.cat([x[100:], x[:100]]),
    "index_select": lambda x: x.view(250, 200)[torch.arange(0, 250, 3, device=x.device)],
    "where": lambda x: torch.where(torch.arange(len(x), device=x.device) % 3 == 0, x, x.flip(0)),
    "pad": lambda x: torch.nn.functional.pad(x, (3, 5)),
    "roll": lambda x: x.roll(17),
    "expand": lambda x: x[:100, None].expand(100, 33).contiguous(),
}


@pytest.mark.parametrize("dtype", [*FLOATS, torch.float64, *INTEGERS, torch.bool], ids=str)
@pytest.mark.parametrize("name", MOVEMENT)
def test_movement(name, dtype):
    assert_same_bits(MOVEMENT[name], values(dtype, 0))


CASTS = [*FLOATS, torch.int32, torch.int64, torch.uint8, torch.bool]


@pytest.mark.parametrize("to", CASTS, ids=str)
@pytest.mark.parametrize("dtype", CASTS, ids=str)
def test_casts(dtype, to):
    x = values(dtype, 0)
    if dtype.is_floating_point and not to.is_floating_point and to != torch.bool:
        x = torch.nan_to_num(x).clamp(0, 200)  # beyond the range it is undefined in C++
    assert_same_bits(lambda x: x.to(to), x)
