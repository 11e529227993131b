"""PyTorch's module database on the device: output, gradients and running statistics as on CPU."""

import copy

import pytest
import torch
from conformance import compare
from conformance.expected_modules import EXPECTED
from torch.testing._internal.common_modules import module_db
from torch.utils import _pytree as pytree

MODULES = {info.formatted_name: info for info in module_db}
# fp32 sums in another order, through several layers.
TOLERANCE = {"rtol": 1e-4, "atol": 1e-5}


def inputs_of(info, training):
    torch.manual_seed(0)
    return info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=True, training=training
    )


def in_float32(tree):
    """Some samples bring double tensors, meant for modules in double."""
    return pytree.tree_map_only(
        torch.Tensor, lambda t: t.float() if t.dtype == torch.float64 else t, tree
    )


def leaves_on(device, tree):
    """The same values as leaves of autograd: both sides get gradients at the same places."""

    def move(t):
        return t.detach().clone().to(device).requires_grad_(t.requires_grad)

    return pytree.tree_map_only(torch.Tensor, move, tree)


def moved(module):
    module = copy.deepcopy(module).to("neuron")
    for part in module.modules():
        for name, value in vars(part).items():
            if isinstance(value, torch.Tensor):  # a plain attribute, which `to` leaves
                setattr(part, name, value.to("neuron"))
    return module


def differentiable(tree):
    return [t for t in pytree.tree_leaves(tree) if isinstance(t, torch.Tensor) and t.requires_grad]


def step(module, call, mode):
    """One forward and backward; everything that a user can look at afterwards."""
    module.train(mode)
    args, kwargs = call
    torch.manual_seed(1)
    output = module(*args, **kwargs)
    for t in differentiable(output):
        t.backward(torch.ones_like(t), retain_graph=True)
    gradients = [t.grad for t in [*module.parameters(), *differentiable((args, kwargs))]]
    return compare.to_cpu((output, gradients, list(module.buffers())))


def draws_numbers(module):
    return any(
        isinstance(m, (torch.nn.modules.dropout._DropoutNd, torch.nn.RReLU))
        or getattr(m, "dropout", 0.0)
        for m in module.modules()
    )


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize("name", sorted(MODULES))
def test_module_matches_cpu(name, training):
    info = MODULES[name]
    compared = 0
    for index, sample in enumerate(inputs_of(info, training)):
        made = sample.constructor_input
        torch.manual_seed(2)
        args, kwargs = in_float32((made.args, made.kwargs))
        on_cpu = info.module_cls(*args, **kwargs)
        if sample.forward_input is None:
            continue
        call = (sample.forward_input.args, sample.forward_input.kwargs)
        if isinstance(on_cpu, torch.nn.modules.lazy.LazyModuleMixin):
            on_cpu(*leaves_on("cpu", call)[0])  # draws its parameters
        call, device_call = leaves_on("cpu", call), leaves_on("neuron", call)
        on_device = moved(on_cpu)
        want = step(on_cpu, call, training)
        got = step(on_device, device_call, training)
        compare.same_metadata(got, want, None)
        compared += 1
        if training and draws_numbers(on_cpu):
            continue
        try:
            torch.testing.assert_close(got, want, equal_nan=True, **TOLERANCE)
        except AssertionError as e:
            if (name, training) in EXPECTED:
                pytest.xfail(EXPECTED[name, training])
            raise AssertionError(f"sample {index}, {sample.desc}: {e}") from e
    assert compared > 0
    assert (name, training) not in EXPECTED, f"{name} passes; delete its row"
