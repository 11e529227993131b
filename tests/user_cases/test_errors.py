"""Errors keep their type, their text and what they are about."""

import pytest
import torch
from torch.utils.data import DataLoader, Dataset


class Broken(Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, i):
        if i == 2:
            raise LookupError("record 2 has no label")
        return torch.ones(2)


def test_errors_of_loader_workers():
    """U138: only the last text was kept, so that nobody could act on it."""
    torch.ones(1, device="neuron").sum().item()
    with pytest.raises(LookupError, match="record 2 has no label") as caught:
        list(DataLoader(Broken(), num_workers=1))
    assert "__getitem__" in str(caught.value)


def test_errors_in_backward_keep_their_type():
    """U138: an exception inside of a function's backward."""

    class Failing(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            raise LookupError("no table for this gradient")

    x = torch.ones(2, device="neuron", requires_grad=True)
    with pytest.raises(LookupError, match="no table for this gradient"):
        Failing.apply(x).sum().backward()


WRONG = {
    "mm": (lambda d: torch.ones(2, 3, device=d) @ torch.ones(4, 5, device=d), "2.*3.*4.*5"),
    "conv": (
        lambda d: torch.conv2d(torch.ones(1, 3, 8, 8, device=d), torch.ones(4, 5, 3, 3, device=d)),
        "channel",
    ),
    "broadcast": (lambda d: torch.ones(3, device=d) + torch.ones(4, device=d), "3.*4|4.*3"),
    "view": (lambda d: torch.ones(6, device=d).view(4), r"\[4\].*6"),
    "linear": (
        lambda d: torch.nn.Linear(4, 2).to(d)(torch.ones(3, 5, device=d)),
        "3.*5.*4.*2",
    ),
    "cat": (
        lambda d: torch.cat([torch.ones(2, 3, device=d), torch.ones(2, 4, device=d)]),
        "3.*4",
    ),
}


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("compile_it", [False, True])
def test_wrong_shapes_are_told_with_the_shapes(case, compile_it, fresh_dynamo):
    """U138, U139: the class is CPU's, the text has the numbers, compiled or not."""
    function, words = WRONG[case]
    with pytest.raises(RuntimeError, match=words):
        function("cpu")
    call = torch.compile(function, backend="neuron") if compile_it else function
    with pytest.raises(RuntimeError, match=f"(?s){words}"):
        call("neuron")
