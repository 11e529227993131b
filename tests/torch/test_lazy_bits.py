"""conj() and .imag of a conjugate are views that only note what is to be done to what they show."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")


def written(write):
    """`write(y, x)` on a copy of x, which is looked at: not the view that was written through."""

    def run(x):
        y = x.clone()
        write(y, x)
        return y

    return run


READS = {
    "clone": lambda x: x.conj().clone(),
    "contiguous": lambda x: x.conj().t().contiguous(),
    "resolve_conj": lambda x: x.conj().resolve_conj(),
    "resolve_neg": lambda x: x.conj().imag.resolve_neg(),
    "add": lambda x: x.conj() + x,
    "matmul": lambda x: x.mH @ x,
    "imag": lambda x: x.conj().imag * 2,
    "cat": lambda x: torch.cat([x.conj(), x]),
    "to real": lambda x: torch.view_as_real(x.conj().resolve_conj()),
    "to double": lambda x: x.conj().to(torch.complex128),
    "to cpu": lambda x: x.conj().cpu(),
    "index": lambda x: x.conj()[1:, ::2] * 1,
    "conj_physical": lambda x: x.conj_physical(),
    "conj_physical of conj": lambda x: x.conj().conj_physical(),
}
WRITES = {
    "copy_ from conj": written(lambda y, x: y.copy_(x.conj())),
    "copy_ to conj": written(lambda y, x: y.conj().copy_(x)),
    "copy_ conj to conj": written(lambda y, x: y.conj().copy_(x.conj().t())),
    "copy_ to a part": written(lambda y, x: y[:, 1:].conj().copy_(x[:, 1:] * 2)),
    "copy_ to neg": written(lambda y, x: y.conj().imag.copy_(x.real)),
    "copy_ from neg": written(lambda y, x: y.real.copy_(x.conj().imag)),
    "fill_": written(lambda y, x: y.conj().fill_(1 + 2j)),
    "mul_": written(lambda y, x: y.conj().mul_(2j)),
    "add_ to neg": written(lambda y, x: y.conj().imag.add_(1)),
    "conj_physical_": written(lambda y, x: y.conj_physical_()),
    "assignment": written(lambda y, x: y.conj().__setitem__(0, x[1])),
}


@pytest.mark.parametrize("case", READS | WRITES)
def test_same_as_cpu(case):
    function = (READS | WRITES)[case]
    x = torch.randn(4, 4, dtype=torch.complex64)
    got = function(x.to("neuron"))
    torch.testing.assert_close(got.cpu(), function(x))


@pytest.mark.parametrize("case", READS)
def test_gradient(case):
    if case == "to cpu":
        pytest.skip("its gradient crosses devices, which .cpu() of the result does in every case")
    x = torch.randn(4, 4, dtype=torch.complex64)
    a, b = x.clone().requires_grad_(), x.to("neuron").requires_grad_()
    for y in (READS[case](a), READS[case](b)):
        (torch.view_as_real(y.resolve_conj()) if y.is_complex() else y).square().sum().backward()
    torch.testing.assert_close(b.grad.cpu(), a.grad)
