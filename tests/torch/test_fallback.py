"""Ops without a lowering: they run, they are counted, they can be forbidden."""

import logging
import re

import pytest
import torch
import torch_neuronx

OP = "aten::linalg_eig"  # iterative and rare: no lowering is planned


def run_on_cpu():
    torch.linalg.eig(torch.eye(2, device="neuron"))


@pytest.fixture(autouse=True)
def _forget():
    torch_neuronx.clear_op_tracking()


def test_counted_and_listed():
    run_on_cpu()
    assert OP in torch_neuronx.get_fallback_ops()
    assert torch_neuronx.get_fallback_counts()[OP] == 1


def test_logged_once_with_the_line(caplog):
    with caplog.at_level(logging.WARNING, "torch_neuronx"):
        for _ in range(3):
            run_on_cpu()
    lines = [r.getMessage() for r in caplog.records if OP in r.getMessage()]
    assert len(lines) == 1
    assert "test_fallback.py" in lines[0]


# Rows that exist and have no program for these dtypes.
WITHOUT_PROGRAM = {
    "aten::convolution": lambda: torch.nn.functional.conv1d(
        *(torch.ones(1, 1, 5000, dtype=torch.float64, device="neuron") for _ in range(2))
    ),
    "aten::max_pool2d_with_indices": lambda: torch.nn.functional.max_pool2d(
        torch.ones(1, 4, 4, dtype=torch.int64, device="neuron"), 2
    ),
}
COMPILERS_WORDS = r"UNIMPLEMENTED|INTERNAL|\b[fsuc](8|16|32|64|128)\b|bf16|pred|HLO|compiler|%"


@pytest.mark.parametrize("op", WITHOUT_PROGRAM)
def test_a_notice_speaks_the_users_language(op, caplog):
    with caplog.at_level(logging.DEBUG, "torch_neuronx"):
        WITHOUT_PROGRAM[op]()
    notice = next(r for r in caplog.records if r.levelno == logging.WARNING)
    assert op in notice.getMessage()
    assert re.search(r"(float64|int64)\[1, \d", notice.getMessage())
    assert not re.search(COMPILERS_WORDS, notice.getMessage())
    # Who works on the compiler finds its words one level below.
    assert any(r.levelno == logging.DEBUG and op in r.getMessage() for r in caplog.records)


def test_strict_refuses_and_names_the_switch(strict):
    with pytest.raises(NotImplementedError, match="TORCHNEURON_STRICT"):
        run_on_cpu()


def test_out_argument_is_resized_and_written():
    out = torch.empty(0, dtype=torch.int64, device="neuron")
    x = torch.tensor([[1, 0], [0, 2]], device="neuron")
    torch.nonzero(x, out=out)
    assert out.cpu().tolist() == [[0, 0], [1, 1]]


def test_in_place_on_a_view_reaches_the_base():
    base = torch.zeros(4, 4, device="neuron")
    base[1:3].geometric_(0.5)
    assert (base[1:3] >= 1).all()
    assert (base[0] == 0).all()


def test_hidden_mutation_of_running_statistics():
    norm = torch.nn.BatchNorm1d(4)
    twin = torch.nn.BatchNorm1d(4).to("neuron")
    x = torch.randn(16, 4)
    norm(x)
    twin(x.to("neuron"))
    torch.testing.assert_close(twin.running_mean.cpu(), norm.running_mean)
    torch.testing.assert_close(twin.running_var.cpu(), norm.running_var)


def test_lazily_conjugated_results_keep_their_bit():
    x = torch.randn(8)
    want = torch.fft.ifft(x)
    got = torch.fft.ifft(x.to("neuron"))
    torch.testing.assert_close(got.cpu(), want)
