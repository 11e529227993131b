"""torch.use_deterministic_algorithms: memory that nobody wrote is filled, with CPU's values."""

import pytest
import torch


@pytest.fixture
def deterministic():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


MADE = {
    "empty": lambda d, dtype: torch.empty(3, 4, dtype=dtype, device=d),
    "empty_strided": lambda d, dtype: torch.empty_strided((3, 4), (1, 3), dtype=dtype, device=d),
    "empty_like": lambda d, dtype: torch.empty_like(torch.ones(3, 4, dtype=dtype, device=d)),
    "new_empty": lambda d, dtype: torch.ones(2, dtype=dtype, device=d).new_empty(3, 4),
    "empty_permuted": lambda d, dtype: torch.empty_permuted((3, 4), (1, 0), dtype=dtype, device=d),
    "resize_": lambda d, dtype: torch.ones(2, dtype=dtype, device=d).resize_(3, 4),
    "Tensor": lambda d, dtype: torch.ones(1, dtype=dtype, device=d).new_empty((3, 4)),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
@pytest.mark.parametrize("name", MADE)
def test_is_filled_as_on_cpu(name, dtype, deterministic):
    torch.full((64,), 5.0, device="neuron")  # what the memory may hold otherwise
    got, want = MADE[name]("neuron", dtype), MADE[name]("cpu", dtype)
    assert got.stride() == want.stride()
    torch.testing.assert_close(got.cpu(), want, equal_nan=True, rtol=0, atol=0)


def test_the_switch_of_its_own_leaves_it_alone(deterministic, monkeypatch):
    from torch.profiler import ProfilerActivity, profile

    monkeypatch.setattr(torch.utils.deterministic, "fill_uninitialized_memory", False)
    with profile(activities=[ProfilerActivity.CPU]) as run:
        torch.empty(3, device="neuron")
    assert "aten::fill_" not in {event.name for event in run.events()}
