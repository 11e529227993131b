"""Wrong shapes, dtypes and devices: CPU's exception class, with the op named."""

import subprocess
import sys

import pytest
import torch
import torch.nn.functional as F

INT = torch.int64


class Make:
    """Tensors of one device, written short."""

    def __init__(self, device):
        self.device = device

    def __call__(self, *sizes, dtype=torch.float32):
        return torch.ones(*sizes, dtype=dtype, device=self.device)

    def index(self, *values):
        return torch.tensor(values, dtype=INT, device=self.device)


def _in_place(name, *operands):
    def call(t):
        target, *rest = (o(t) for o in operands)
        getattr(target, name)(*rest)

    return call


# "op: what is wrong" -> call. The word before the colon is what the message must name, unless the
# words are CPU's own (ATen's shared code refuses before any device is asked).
SHAPES = {
    "add: sizes": lambda t: t(2, 3) + t(4),
    "sub: sizes": lambda t: torch.sub(t(2, 3), t(2)),
    "mul: sizes": lambda t: t(5) * t(4),
    "div: sizes": lambda t: t(3, 5) / t(3, 4),
    "pow: sizes": lambda t: t(3) ** t(2),
    "maximum: sizes": lambda t: torch.maximum(t(2, 2), t(3, 2)),
    "where: sizes": lambda t: torch.where(t(3) > 0, t(3), t(2)),
    "atan2: sizes": lambda t: torch.atan2(t(3), t(2)),
    "lerp: sizes": lambda t: torch.lerp(t(3), t(2), 0.5),
    "addcmul: sizes": lambda t: torch.addcmul(t(3), t(2), t(3)),
    "eq: sizes": lambda t: t(3) == t(2),
    "clamp: sizes": lambda t: torch.clamp(t(3), t(2)),
    "mm: inner": lambda t: torch.mm(t(2, 3), t(4, 5)),
    "mm: rank": lambda t: torch.mm(t(2, 3), t(3)),
    "bmm: batch": lambda t: torch.bmm(t(2, 3, 4), t(3, 4, 5)),
    "bmm: rank": lambda t: torch.bmm(t(3, 4), t(4, 5)),
    "matmul: inner": lambda t: t(2, 3) @ t(4, 5),
    "matmul: batch": lambda t: t(2, 3, 4) @ t(3, 4, 5),
    "addmm: bias": lambda t: torch.addmm(t(3), t(2, 3), t(3, 5)),
    "baddbmm: bias": lambda t: torch.baddbmm(t(7), t(2, 3, 4), t(2, 4, 5)),
    "mv: sizes": lambda t: torch.mv(t(2, 3), t(2)),
    "dot: sizes": lambda t: torch.dot(t(2), t(3)),
    "linear: features": lambda t: F.linear(t(2, 3), t(5, 4)),
    "linear: bias": lambda t: F.linear(t(2, 3), t(5, 3), t(4)),
    "cat: other dimension": lambda t: torch.cat([t(2, 3), t(2, 4)]),
    "cat: rank": lambda t: torch.cat([t(2, 3), t(2)]),
    "cat: nothing": lambda t: torch.cat([]),
    "stack: sizes": lambda t: torch.stack([t(2), t(3)]),
    "conv2d: channels": lambda t: F.conv2d(t(1, 3, 4, 4), t(2, 4, 3, 3)),
    "conv2d: kernel": lambda t: F.conv2d(t(1, 3, 2, 2), t(2, 3, 3, 3)),
    "conv2d: bias": lambda t: F.conv2d(t(1, 3, 4, 4), t(2, 3, 3, 3), t(3)),
    "conv2d: groups": lambda t: F.conv2d(t(1, 3, 4, 4), t(2, 1, 3, 3), groups=2),
    "conv1d: rank": lambda t: F.conv1d(t(3), t(2, 3, 3)),
    "conv_transpose2d: channels": lambda t: F.conv_transpose2d(t(1, 3, 4, 4), t(4, 2, 3, 3)),
    "max_pool2d: kernel": lambda t: F.max_pool2d(t(1, 1, 2, 2), 3),
    "conv1d: negative padding, fp32": lambda t: F.conv1d(
        t(1, 1, *(4,) * 1), t(1, 1, *(2,) * 1), padding=-1
    ),
    "conv1d: negative padding, fp64": lambda t: F.conv1d(
        t(1, 1, *(4,) * 1, dtype=torch.float64), t(1, 1, *(2,) * 1, dtype=torch.float64), padding=-1
    ),
    "conv2d: negative padding, fp32": lambda t: F.conv2d(
        t(1, 1, *(4,) * 2), t(1, 1, *(2,) * 2), padding=-1
    ),
    "conv2d: negative padding, fp64": lambda t: F.conv2d(
        t(1, 1, *(4,) * 2, dtype=torch.float64), t(1, 1, *(2,) * 2, dtype=torch.float64), padding=-1
    ),
    "conv3d: negative padding, fp32": lambda t: F.conv3d(
        t(1, 1, *(4,) * 3), t(1, 1, *(2,) * 3), padding=-1
    ),
    "conv3d: negative padding, fp64": lambda t: F.conv3d(
        t(1, 1, *(4,) * 3, dtype=torch.float64), t(1, 1, *(2,) * 3, dtype=torch.float64), padding=-1
    ),
    "conv_transpose2d: negative padding": lambda t: F.conv_transpose2d(
        t(1, 1, 4, 4), t(1, 1, 2, 2), padding=-1
    ),
    "conv_transpose2d: negative output_padding": lambda t: F.conv_transpose2d(
        t(1, 1, 4, 4), t(1, 1, 2, 2), stride=2, output_padding=-1
    ),
    "avg_pool2d: padding": lambda t: F.avg_pool2d(t(1, 1, 4, 4), 2, padding=2),
    "embedding: weight": lambda t: F.embedding(t.index(0), t(3)),
    "index: sizes": lambda t: t(3, 3)[t.index(0, 1), t.index(0, 1, 2)],
    "index: too many": lambda t: t(3)[t.index(0), t.index(0)],
    "index: mask": lambda t: t(3)[t(2, dtype=torch.bool)],
    "index_put: values": lambda t: t(4, 4).index_put_((t.index(0, 1),), t(3)),
    "index_select: rank": lambda t: torch.index_select(t(3), 0, t.index(0).reshape(1, 1)),
    "index_add: sizes": lambda t: t(3, 3).index_add_(0, t.index(0, 1), t(3, 3)),
    "index_copy: sizes": lambda t: t(3, 3).index_copy_(0, t.index(0, 1), t(3, 3)),
    "gather: rank": lambda t: torch.gather(t(3, 3), 0, t.index(0)),
    "gather: sizes": lambda t: torch.gather(t(3, 3), 0, torch.zeros_like(t(2, 4), dtype=INT)),
    "scatter: sizes": lambda t: t(3).scatter_(0, t.index(0, 1), t(1)),
    "masked_fill: sizes": lambda t: t(3).masked_fill(t(2, dtype=torch.bool), 0),
    "masked_select: sizes": lambda t: torch.masked_select(t(3), t(2, dtype=torch.bool)),
    "cross_entropy: batch": lambda t: F.cross_entropy(t(4, 3), t.index(0, 1)),
    "nll_loss: batch": lambda t: F.nll_loss(t(4, 3), t.index(0, 1)),
    "nll_loss: weight": lambda t: F.nll_loss(t(2, 3), t.index(0, 1), t(2)),
    "mse_loss: sizes": lambda t: F.mse_loss(t(3), t(2)),
    "layer_norm: shape": lambda t: F.layer_norm(t(2, 3), (4,)),
    "layer_norm: weight": lambda t: F.layer_norm(t(2, 3), (3,), t(2)),
    "batch_norm: weight": lambda t: F.batch_norm(t(2, 3, 4), None, None, t(2), t(2), True),
    "group_norm: groups": lambda t: F.group_norm(t(2, 3, 4), 2),
    "scaled_dot_product_attention: depth": lambda t: F.scaled_dot_product_attention(
        t(1, 2, 4, 8), t(1, 2, 4, 6), t(1, 2, 4, 8)
    ),
    "sum: dimension": lambda t: t(2, 3).sum(5),
    "softmax: dimension": lambda t: t(2, 3).softmax(2),
    "amax: dimension": lambda t: t(2, 3).amax(-3),
    "argmax: dimension": lambda t: t(2, 3).argmax(2),
    "argmax: empty": lambda t: t(0).argmax(),
    "max: empty": lambda t: t(0).max(),
    "topk: k": lambda t: t(3).topk(4),
    "sort: dimension": lambda t: t(3).sort(1),
    "cumsum: dimension": lambda t: t(3).cumsum(1),
    "view: elements": lambda t: t(2, 3).view(4),
    "view: strides": lambda t: t(2, 3).t().view(6),
    "reshape: elements": lambda t: t(2, 3).reshape(5),
    "expand: sizes": lambda t: t(2).expand(3),
    "transpose: dimension": lambda t: t(2, 3).transpose(0, 2),
    "permute: dimensions": lambda t: t(2, 3).permute(0, 0),
    "squeeze: dimension": lambda t: t(2, 3).squeeze(2),
    "narrow: range": lambda t: t(3).narrow(0, 2, 2),
    "select: range": lambda t: t(3).select(0, 3),
    "split: sizes": lambda t: t(3).split([1, 1]),
    "unfold: size": lambda t: t(3).unfold(0, 4, 1),
    "pad: rank": lambda t: F.pad(t(3), (1, 1, 1, 1)),
    "pad: reflect": lambda t: F.pad(t(1, 3), (3, 3), mode="reflect"),
    "interpolate: size": lambda t: F.interpolate(t(1, 1, 2, 2), size=(0, 0)),
    "repeat: rank": lambda t: t(2, 3).repeat(2),
    "tril: rank": lambda t: t(3).tril(),
    "diagonal: dimensions": lambda t: t(3, 3).diagonal(0, 1, 1),
    "copy_: sizes": lambda t: t(3).copy_(t(2)),
    "fill_: tensor": lambda t: t(3).fill_(t(2)),
    "add_: broadcast": _in_place("add_", lambda t: t(2), lambda t: t(3, 2)),
    "mul_: sizes": _in_place("mul_", lambda t: t(2), lambda t: t(3)),
    "clamp_: broadcast": lambda t: t(2).clamp_(t(3, 2)),
    "normal_: expanded": lambda t: t(1).expand(3).normal_(),
    "add_: expanded": lambda t: t(1).expand(4).add_(1),
    "full: size": lambda t: torch.full((-1,), 0.0, device=t.device),
    "arange: step": lambda t: torch.arange(0, 3, -1, device=t.device),
    "linspace: steps": lambda t: torch.linspace(0, 1, -1, device=t.device),
    "cross: sizes": lambda t: torch.linalg.cross(t(2, 4), t(2, 4)),
    "dropout: probability": lambda t: F.dropout(t(3), 1.5),
}
DTYPES = {
    "add_: cast": lambda t: t(2, dtype=INT).add_(0.5),
    "div_: cast": lambda t: t(2, dtype=INT).div_(2),
    "mul_: cast": lambda t: t(2, dtype=INT).mul_(t(2)),
    "mm: two dtypes": lambda t: torch.mm(t(2, 2), t(2, 2, dtype=torch.float64)),
    "matmul: two dtypes": lambda t: t(2, 2) @ t(2, 2, dtype=torch.bfloat16),
    "linear: two dtypes": lambda t: F.linear(t(2, 3), t(4, 3, dtype=torch.bfloat16)),
    "conv2d: two dtypes": lambda t: F.conv2d(t(1, 1, 3, 3), t(1, 1, 3, 3, dtype=torch.bfloat16)),
    "bitwise_and: float": lambda t: t(2) & t(2),
    "bitwise_not: float": lambda t: ~t(2),
    "bitwise_left_shift: bool": lambda t: t(2, dtype=torch.bool) << t(2, dtype=torch.bool),
    "sub: bool": lambda t: t(2, dtype=torch.bool) - t(2, dtype=torch.bool),
    "neg: bool": lambda t: -t(2, dtype=torch.bool),
    "softmax: integer": lambda t: t(2, 3, dtype=INT).softmax(1),
    "mean: integer": lambda t: t(2, dtype=INT).mean(),
    "var: integer": lambda t: t(2, dtype=INT).var(),
    "norm: integer": lambda t: torch.linalg.vector_norm(t(2, dtype=INT)),
    "embedding: float indices": lambda t: F.embedding(t(2), t(3, 4)),
    "index: float": lambda t: t(3)[t(2)],
    "index_select: float": lambda t: torch.index_select(t(3), 0, t(1)),
    "index_put: two dtypes": lambda t: t(3).index_put_((t.index(0),), t(1, dtype=torch.float64)),
    "index_add: two dtypes": lambda t: t(3).index_add_(0, t.index(0), t(1, dtype=torch.float64)),
    "scatter: two dtypes": lambda t: t(3).scatter_(0, t.index(0), t(1, dtype=torch.float64)),
    "take: float": lambda t: torch.take(t(3), t(1)),
    "masked_fill: mask": lambda t: t(3).masked_fill(t(3), 0),
    "masked_select: mask": lambda t: torch.masked_select(t(3), t(3)),
    "where: condition": lambda t: torch.where(t(3), t(3), t(3)),
    "cross_entropy: float target": lambda t: F.cross_entropy(t(2, 3), t(2)),
    "nll_loss: float target": lambda t: F.nll_loss(t(2, 3), t(2)),
    "layer_norm: integer": lambda t: F.layer_norm(t(2, 3, dtype=INT), (3,)),
    "scaled_dot_product_attention: two dtypes": lambda t: F.scaled_dot_product_attention(
        t(1, 2, 4, 8), t(1, 2, 4, 8, dtype=torch.bfloat16), t(1, 2, 4, 8)
    ),
    "normal_: integer": lambda t: t(2, dtype=INT).normal_(),
    "dot: two dtypes": lambda t: torch.dot(t(2), t(2, dtype=torch.float64)),
    "lerp: two dtypes": lambda t: torch.lerp(t(2), t(2, dtype=torch.float64), 0.5),
    "one_hot: float": lambda t: F.one_hot(t(2)),
    "bincount: float": lambda t: torch.bincount(t(2)),
}
OUT = {
    "add: out dtype": lambda t: torch.add(t(2), t(2), out=t(2, dtype=INT)),
    "mul: out dtype": lambda t: torch.mul(t(2), t(2), out=t(2, dtype=torch.bool)),
    "exp: out dtype": lambda t: torch.exp(t(2), out=t(2, dtype=INT)),
    "amax: out dtype": lambda t: torch.amax(t(2, 3), 0, out=t(3, dtype=INT)),
    "mm: out dtype": lambda t: torch.mm(t(2, 2), t(2, 2), out=t(2, 2, dtype=torch.float64)),
    "cat: out dtype": lambda t: torch.cat([t(2), t(2)], out=t(4, dtype=INT)),
    "argmax: out dtype": lambda t: torch.argmax(t(2, 3), 1, out=t(2)),
    "sort: out dtype": lambda t: torch.sort(t(3), out=(t(3), t(3))),
    "index_select: out dtype": lambda t: torch.index_select(
        t(3), 0, t.index(0), out=t(1, dtype=INT)
    ),
    "gather: out dtype": lambda t: torch.gather(t(3), 0, t.index(0), out=t(1, dtype=INT)),
    "eq: out overlaps": lambda t: torch.add(t(2), t(2), out=t(1).expand(2)),
}
CALLS = SHAPES | DTYPES | OUT


def _raised(call, device):
    try:
        call(Make(device))
        if device == "neuron":
            torch.neuron.synchronize()
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("what", CALLS)
@pytest.mark.filterwarnings("ignore")
def test_same_class_as_cpu(what):
    on_cpu, on_neuron = _raised(CALLS[what], "cpu"), _raised(CALLS[what], "neuron")
    assert on_cpu is not None
    assert type(on_neuron) is type(on_cpu), f"{on_neuron!r} instead of {on_cpu!r}"
    first, *_ = str(on_cpu).split("\n")
    op = what.split(":")[0].rstrip("_")
    assert op in str(on_neuron) or str(on_neuron).startswith(first)


@pytest.mark.filterwarnings("ignore")
def test_out_of_another_shape_is_resized():
    """As on CPU: a warning, not an error."""
    out = torch.ones(5, device="neuron")
    torch.add(torch.ones(2, 3, device="neuron"), 1, out=out)
    assert out.tolist() == [[2.0] * 3] * 2


# Two tensors of different devices; the first is on neuron.
MIXED = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: torch.mul(a, b),
    "maximum": lambda a, b: torch.maximum(a, b),
    "eq": lambda a, b: a == b,
    "where": lambda a, b: torch.where(a > 0, a, b),
    "lerp": lambda a, b: torch.lerp(a, b, 0.5),
    "addcmul": lambda a, b: torch.addcmul(a, a, b),
    "mm": lambda a, b: torch.mm(a, b),
    "addmm": lambda a, b: torch.addmm(a, a, b),
    "bmm": lambda a, b: torch.bmm(a[None], b[None]),
    "linear": lambda a, b: F.linear(a, b),
    "cat": lambda a, b: torch.cat([a, b]),
    "stack": lambda a, b: torch.stack([a, b]),
    "conv2d": lambda a, b: F.conv2d(a[None, None], b[None, None]),
    "embedding": lambda a, b: F.embedding(b.to(INT), a),
    "index_select": lambda a, b: torch.index_select(a, 0, b[0].to(INT)),
    "gather": lambda a, b: torch.gather(a, 0, b.to(INT)),
    "scatter": lambda a, b: a.scatter(0, b.to(INT), 0.0),
    "layer_norm": lambda a, b: F.layer_norm(a, (3,), b[0]),
    "batch_norm": lambda a, b: F.batch_norm(a, None, None, b[0], b[0], True),
    "cross_entropy": lambda a, b: F.cross_entropy(a, b[0].to(INT)),
    "mse_loss": lambda a, b: F.mse_loss(a, b),
    "scaled_dot_product_attention": lambda a, b: F.scaled_dot_product_attention(
        a[None], b[None], a[None]
    ),
    "add_": lambda a, b: a.add_(b),
    "add out": lambda a, b: torch.add(a, a, out=b),
    "masked_fill": lambda a, b: a.masked_fill(b > 0, 0.0),
    "equal": lambda a, b: torch.equal(a, b),
    "addcdiv_": lambda a, b: a.addcdiv_(a, b),
    "foreach": lambda a, b: torch._foreach_add([a], [b]),
}


# PyTorch's own check, in its words.
NAMED_OTHERWISE = {"scaled_dot_product_attention": "Expected query, key, and value"}


@pytest.mark.parametrize("strictness", ["fallback allowed", "strict"])
@pytest.mark.parametrize("op", MIXED)
def test_mixed_devices_are_refused(op, strictness, request):
    """As PyTorch refuses what is on the CPU and on `meta`: RuntimeError; the op is named."""
    if strictness == "strict":
        request.getfixturevalue("strict")
    with pytest.raises(RuntimeError, match=r"same device|on neuron|cpu") as caught:
        MIXED[op](torch.ones(3, 3, device="neuron"), torch.ones(3, 3))
    assert type(caught.value) is RuntimeError
    assert NAMED_OTHERWISE.get(op, "aten::") in str(caught.value)


def test_scalars_of_the_host_mix():
    x = torch.ones(3, device="neuron")
    assert (x + torch.tensor(2.0)).tolist() == [3.0] * 3
    with pytest.raises(RuntimeError):
        torch.tensor(2.0).add_(x)


def test_copies_cross_devices():
    assert torch.empty(3).copy_(torch.ones(3, device="neuron")).tolist() == [1.0] * 3


def test_a_refusal_of_a_python_meta_kernel_leaves_nothing_behind():
    """Neither here nor on the threads of autograd; sgn makes a zero without memory there."""
    for _ in range(3):
        x = torch.ones(3, device="neuron", requires_grad=True)
        with pytest.raises(RuntimeError):
            torch.add(x.detach(), torch.ones(2, device="neuron"))
        y = torch.sgn(x) * x
        y.sum().backward()
        assert x.grad.tolist() == [1.0] * 3


def test_classes_stay_once_dynamo_is_imported():
    """It replaces meta kernels of C++ by Python's, which refuse in their own words."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "torch._dynamo", __file__]
    command += ["-k", "same_class or leaves_nothing", "-p", "no:cacheprovider"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-1000:]
