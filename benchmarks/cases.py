"""The cases. Each is a function from nothing to records; its name is what --only selects."""

from collections.abc import Callable, Iterator

import torch
from torch import nn
from torch.nn import functional as F

from benchmarks.compile_time import gpt2_compile, single_op_compile
from benchmarks.decode import decode
from benchmarks.gpt import GptLike, training_step
from benchmarks.measure import Record, compare
from benchmarks.process import process

Case = Callable[[], Iterator[Record]]
CASES: dict[str, Case] = {}


def case(function: Case) -> Case:
    CASES[function.__name__] = function
    return function


def sync() -> None:
    torch.accelerator.synchronize()


def both(make: Callable[[str], Callable[[], object]]) -> tuple[Callable, Callable]:
    """The same work on neuron (ending in a synchronisation) and on CPU."""
    mine, theirs = make("neuron"), make("cpu")

    def ours():
        mine()
        sync()

    return ours, theirs


@case
def small_op() -> Iterator[Record]:
    """Cost of a call from Python: 16 elements, 10,000 calls, one synchronisation."""
    calls = 10_000
    work = {
        "add": lambda a, b: torch.add(a, b),
        "add of a number": lambda a, b: torch.add(a, 2.5),
        "mul": lambda a, b: torch.mul(a, b),
        "add_": lambda a, b: a.add_(b),
        "relu": lambda a, b: torch.relu(a),
        "copy_": lambda a, b: a.copy_(b),
        "zero_": lambda a, b: a.zero_(),
        "view": lambda a, b: a.view(4, 4),
        "empty_like": lambda a, b: torch.empty_like(a),
    }
    for name, function in work.items():

        def make(device, function=function):
            a, b = torch.ones(16, device=device), torch.ones(16, device=device)

            def run():
                with torch.no_grad():
                    for _ in range(calls):
                        function(a, b)

            return run

        yield compare("small_op", f"{name} f32[16]", *both(make), unit="us/call", calls=calls)


@case
def small_optimizer() -> Iterator[Record]:
    """AdamW over 50 tensors of 256 elements."""
    for way in ("foreach", "fused"):

        def make(device, way=way):
            torch.manual_seed(0)
            parameters = [torch.randn(256).to(device).requires_grad_() for _ in range(50)]
            for parameter in parameters:
                parameter.grad = torch.ones_like(parameter)
            optimizer = torch.optim.AdamW(parameters, **{way: True})

            def run():
                for _ in range(20):
                    optimizer.step()

            return run

        yield compare("small_optimizer", f"AdamW {way}", *both(make), unit="us/step", calls=20)


@case
def gemm() -> Iterator[Record]:
    for dtype in (torch.float32, torch.bfloat16):
        for function in (F.linear, torch.matmul):
            for n in (512, 1024, 2048, 4096):

                def make(device, function=function, n=n, dtype=dtype):
                    torch.manual_seed(0)
                    a = torch.randn(n, n).to(dtype).to(device)
                    w = torch.randn(n, n).to(dtype).to(device)
                    return lambda: function(a, w)

                way = "F.linear" if function is F.linear else "torch.matmul"
                name = f"{way} {str(dtype).removeprefix('torch.')} {n}^3"
                rounds = 7 if n < 4096 else 2
                yield compare("gemm", name, *both(make), unit="ms/call", rounds=rounds)


@case
def pointwise() -> Iterator[Record]:
    """4M elements."""
    work = {
        "add": lambda a, b: a + b,
        "mul": lambda a, b: a * b,
        "gelu": lambda a, b: F.gelu(a),
        "gelu tanh": lambda a, b: F.gelu(a, approximate="tanh"),
        "exp": lambda a, b: a.exp(),
        "sum": lambda a, b: a.sum(),
        "sum of rows": lambda a, b: a.sum(-1),
        "sum of columns": lambda a, b: a.sum(0),
        "softmax": lambda a, b: F.softmax(a, -1),
        "layer_norm": lambda a, b: F.layer_norm(a, a.shape[-1:]),
    }
    for dtype in (torch.float32, torch.bfloat16):
        for name, function in work.items():

            def make(device, function=function, dtype=dtype):
                torch.manual_seed(0)
                a = torch.randn(4096, 1024).to(dtype).to(device)
                b = torch.randn(4096, 1024).to(dtype).to(device)
                return lambda: function(a, b)

            numbers = {torch.float32: "f32", torch.bfloat16: "bf16"}[dtype]
            yield compare("pointwise", f"{name} {numbers}[4096,1024]", *both(make), unit="ms/call")


@case
def rows() -> Iterator[Record]:
    """Softmax and layer_norm, with gradients, of 1M elements in rows of several lengths."""

    def gradients(function):
        def run(x, grad):
            return torch.autograd.grad(function(x), x, grad)

        return run

    def norm(x):
        return F.layer_norm(x, x.shape[-1:])

    work = {
        "softmax": lambda x, grad: F.softmax(x.detach(), -1),
        "softmax forward+backward": gradients(lambda x: F.softmax(x, -1)),
        "layer_norm": lambda x, grad: norm(x.detach()),
        "layer_norm forward+backward": gradients(norm),
    }
    for name, function in work.items():
        for width in (128, 256, 512, 1024, 2048, 4096):

            def make(device, function=function, width=width):
                torch.manual_seed(0)
                x = torch.randn(2**20 // width, width).to(device).requires_grad_()
                grad = torch.randn(2**20 // width, width).to(device)
                return lambda: function(x, grad)

            shape = f"[{2**20 // width},{width}]"
            yield compare("rows", f"{name} f32{shape}", *both(make), unit="ms/call")


@case
def convolution() -> Iterator[Record]:
    """3x3, 64 to 64 channels, 56x56, batch 8, forward and backward."""

    def make(device):
        torch.manual_seed(0)
        layer = nn.Conv2d(64, 64, 3, padding=1).to(device)
        x = torch.randn(8, 64, 56, 56).to(device).requires_grad_()

        def run():
            layer.zero_grad()
            layer(x).sum().backward()

        return run

    yield compare("convolution", "conv2d 3x3 forward+backward f32", *both(make), rounds=3)


@case
def gpt_step() -> Iterator[Record]:
    """One AdamW step of a GPT-like model: d 384, 6 heads, 6 layers, T 256, V 4096, batch 4."""
    for autocast in (False, True):
        for compiled in (False, True):
            steps = {}
            for device in ("neuron", "cpu"):
                torch.manual_seed(0)
                model = GptLike().to(device)
                if compiled and device == "neuron":
                    model.compile(backend="neuron")
                steps[device] = training_step(model, device, autocast)

            def ours(step=steps["neuron"]):
                step()
                sync()

            numbers = "bf16" if autocast else "fp32"
            way = "compiled" if compiled else "eager"
            case_name = f"GPT-like step {numbers} {way}"
            yield compare("gpt_step", case_name, ours, steps["cpu"], rounds=2)


case(decode)
case(process)
case(single_op_compile)
case(gpt2_compile)
