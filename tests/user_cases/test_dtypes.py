"""Which dtype a result has, and what integers, halves and complex numbers compute."""

import pytest
import torch
import torch.nn.functional as F
from user_cases.beside_cpu import agree, agree_on, compiled

INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)
HALVES = (torch.float16, torch.bfloat16)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_reciprocals_of_integers_are_fractions(dtype):
    """U006: the reciprocal of an integer tensor was computed in integers."""
    x = torch.tensor([2, 4, 5], dtype=dtype)
    got = agree(torch.reciprocal, x)
    assert got.dtype == torch.float32
    agree(lambda x: 1.0 / x, x)
    agree(lambda x: x / x.flip(0), x)
    agree(lambda x: x.sum() / x.numel(), x)


@pytest.mark.parametrize("dtype", [*INTEGERS, torch.float32])
def test_integer_division_of_negative_numbers(dtype):
    """U006: floor and trunc differ below zero."""
    a = torch.tensor([7, -7, 7, -7, 0, 1, -8], dtype=dtype)
    b = torch.tensor([2, 2, -2, -2, 3, -3, 4], dtype=dtype)
    for mode in ("floor", "trunc", None):
        agree(lambda a, b, mode=mode: torch.div(a, b, rounding_mode=mode), a, b)
        agree(lambda a, mode=mode: torch.div(a, -3, rounding_mode=mode), a)
    for function in (torch.remainder, torch.fmod, torch.floor_divide):
        agree(function, a, b, exact=True)


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("order", ["device first", "dtype first", "at once"])
def test_module_computes_in_the_dtype_it_was_cast_to(dtype, order):
    """U022: a model moved and then cast went on computing in the old dtype."""

    def function(device):
        model = torch.nn.Sequential(torch.nn.Embedding(10, 4), torch.nn.Linear(4, 4))
        if order == "device first":
            model.to(device).to(dtype)
        elif order == "dtype first":
            model.to(dtype).to(device)
        else:
            model.to(device, dtype)
        out = model(torch.arange(10, device=device))
        assert out.dtype == dtype
        return out.detach()

    agree_on(function)


@pytest.mark.parametrize("dtype", HALVES)
def test_matmul_of_halves(dtype):
    """U022: cast afterwards, the input too."""
    agree(lambda a, b: a.to(dtype) @ b.to(dtype), torch.randn(8, 16), torch.randn(16, 4))


UNARY = ("tan", "sigmoid", "exp", "sqrt", "log", "erf", "rsqrt", "tanh", "sin", "atan", "log1p")


@pytest.mark.parametrize("op", UNARY)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bool])
def test_unary_functions_of_integers_are_floats(op, dtype):
    """U023: unary functions of integers failed, and only when the result was printed."""
    got = agree(getattr(torch, op), torch.tensor([1, 0, 3]).to(dtype))
    assert got.dtype == torch.float32


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool])
@pytest.mark.parametrize("function", [torch.mean, F.softplus, torch.std])
def test_what_integers_cannot_do_fails_at_the_call(dtype, function):
    """U023: what CPU refuses is refused with the same kind of error, at once."""
    x = torch.tensor([3, 1]).to(dtype)
    with pytest.raises(Exception) as on_cpu:  # noqa: PT011 - the class is what is compared
        function(x)
    with pytest.raises(type(on_cpu.value)):
        function(x.to("neuron"))


@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("function", [F.relu, F.gelu, F.silu, F.leaky_relu, torch.tanh, F.mish])
def test_activations_keep_halves(dtype, function):
    """U025: an activation of half precision came back as float32."""
    agree(function, torch.randn(33).to(dtype))


@pytest.mark.parametrize("compile_it", [False, True])
def test_where_promotes(compile_it, fresh_dynamo):
    """U025: where() of mixed dtypes crashed while it was lowered."""
    where = compiled(torch.where, dynamic=False) if compile_it else torch.where
    c = torch.tensor([True, False, True])
    agree(lambda c, x: where(c, x, 1.5), c, torch.arange(3))
    agree(where, c, torch.randn(3).bfloat16(), torch.randn(3))
    agree(where, c, torch.randn(3).half(), torch.arange(3))
    agree(where, c, torch.arange(3, dtype=torch.int32), torch.arange(3) + 5)
    agree(lambda c, x: where(c, 2, x), c, torch.randn(3).half())


MIXED = {
    "add": lambda a, b: a.add_(b, alpha=0.33),
    "sub": lambda a, b: a.sub_(b, alpha=2),
    "mul": lambda a, b: a.mul_(b),
    "div": lambda a, b: a.div_(b),
    "copy": lambda a, b: a.copy_(b),
    "pow": lambda a, b: a.abs_().pow_(b),
}
SAME = {
    "addcmul": lambda a, b: a.addcmul_(b, b, value=0.5),
    "addcdiv": lambda a, b: a.addcdiv_(b, b, value=0.5),
    "lerp": lambda a, b: a.lerp_(b, 0.3),
}


@pytest.mark.parametrize("op", MIXED)
@pytest.mark.parametrize("dtype", HALVES)
def test_in_place_results_keep_their_own_dtype(op, dtype):
    """U149: half.add_(float) was refused where CPU promotes."""
    agree(MIXED[op], torch.randn(9).to(dtype), torch.randn(9))


@pytest.mark.parametrize("op", SAME)
@pytest.mark.parametrize("other", [torch.float32, torch.float16])
def test_ternary_in_place_ops_of_mixed_dtypes_do_as_cpu(op, other):
    """U149: promoted where CPU promotes, refused where CPU refuses."""
    a, b = torch.randn(9).half(), torch.randn(9).to(other)
    try:
        SAME[op](a.clone(), b)
    except RuntimeError as refused:
        with pytest.raises(type(refused)):
            SAME[op](a.to("neuron"), b.to("neuron"))
    else:
        agree(SAME[op], a, b)


def test_integers_take_no_fraction_in_place():
    """U149: a cast that loses the fraction is refused, as on CPU."""
    x = torch.arange(3, device="neuron")
    with pytest.raises(RuntimeError, match=r"can't be cast|Promotion of int"):
        x.add_(torch.ones(3, device="neuron"))
    with pytest.raises(RuntimeError, match=r"can't be cast|Promotion of int"):
        x.mul_(0.5)


@pytest.mark.parametrize("dtypes", [(torch.int64, torch.int32), (torch.int32, torch.int64)])
def test_isin_of_mixed_integers(dtypes):
    """U149: isin asked for equal dtypes."""
    a, b = torch.tensor([1, 5, 9], dtype=dtypes[0]), torch.tensor([5, 2], dtype=dtypes[1])
    assert agree(torch.isin, a, b).tolist() == [False, True, False]


COMPLEX = {
    "view": lambda x, y: torch.view_as_complex(x.reshape(2, 4, 2)),
    "polar": lambda x, y: torch.polar(x.abs(), x),
    "product": lambda x, y: torch.view_as_complex(x) * torch.view_as_complex(y),
    "quotient": lambda x, y: torch.view_as_complex(x) / torch.view_as_complex(y),
    "abs": lambda x, y: torch.view_as_complex(x).abs(),
    "angle": lambda x, y: torch.view_as_complex(x).angle(),
    "real": lambda x, y: torch.view_as_complex(x).real + 1,
    "imag": lambda x, y: torch.view_as_complex(x).imag * 2,
    "conj": lambda x, y: torch.view_as_complex(x).conj() * 1j,
    "and back": lambda x, y: torch.view_as_real(torch.view_as_complex(x) * 2),
    "matmul": lambda x, y: (
        torch.view_as_complex(x).reshape(2, 4) @ torch.view_as_complex(y).reshape(4, 2)
    ),
    "rotary": lambda x, y: torch.view_as_real(
        torch.view_as_complex(x) * torch.polar(torch.ones_like(y[:, 0]), y[:, 1])
    ).flatten(),
}


@pytest.mark.parametrize("op", COMPLEX)
@pytest.mark.parametrize("compile_it", [False, True])
def test_complex_numbers(op, compile_it, fresh_dynamo):
    """U154: complex numbers had to be taken apart by hand."""
    function = compiled(COMPLEX[op]) if compile_it else COMPLEX[op]
    agree(function, torch.randn(8, 2), torch.randn(8, 2))


def test_int8_matmul_is_exact():
    """U091: quantised layers need the product of int8 matrices in int32."""
    a = torch.randint(-128, 128, (32, 64), dtype=torch.int8)
    b = torch.randint(-128, 128, (64, 16), dtype=torch.int8)
    got = agree(torch._int_mm, a, b, exact=True)
    assert got.dtype == torch.int32


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_float8_round_trip(dtype):
    """U091: values survive the cast to eight bits as on CPU."""
    x = torch.randn(64) * 50
    agree(lambda x: x.to(dtype).float(), x, exact=True)


def test_int8_weights_of_a_linear():
    """U091: weight-only and dynamic quantisation written out."""

    def weight_only(x, w):
        scale = w.abs().amax(1, keepdim=True) / 127
        q = torch.clamp((w / scale).round(), -128, 127).to(torch.int8)
        return x @ (q.to(x.dtype) * scale).t()

    def dynamic(x, w):
        scale = w.abs().amax(1) / 127
        q = torch.clamp((w / scale[:, None]).round(), -128, 127).to(torch.int8)
        x_scale = x.abs().amax(1, keepdim=True) / 127
        x_q = torch.clamp((x / x_scale).round(), -128, 127).to(torch.int8)
        return torch._int_mm(x_q, q.t()) * x_scale * scale

    x, w = torch.randn(32, 64), torch.randn(16, 64)
    agree(weight_only, x, w, rtol=1e-4, atol=1e-4)
    agree(dynamic, x, w, rtol=1e-4, atol=1e-4)
