"""The judge itself: rounding is forgiven where float64 says so, nothing else is."""

import pytest
import torch
from conformance import cases, compare, samples

OP = cases.ops()["mul"]
TRUTH = torch.tensor([1.0, -3.0, 1e-3], dtype=torch.float64)
RIGHT = TRUTH.float()
INF, NAN = float("inf"), float("nan")


def judge(got, want, truth=TRUTH):
    compare.same_values(OP, torch.float32, [got], [want], lambda: [truth])


def test_the_cpu_may_round_worse():
    judge(RIGHT, RIGHT * (1 + 1e-4))


def test_as_near_as_the_cpu_is_near_enough():
    judge(RIGHT * (1 - 1e-4), RIGHT * (1 + 1e-4))


WRONG = {
    "far from both": RIGHT * 1.01,
    "farther than the cpu": RIGHT * (1 - 1e-3),
    "nan": torch.tensor([1.0, NAN, 1e-3]),
    "infinite": torch.tensor([1.0, -3.0, INF]),
    "another sign": -RIGHT,
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_values_are_found(wrong):
    for want in (RIGHT, RIGHT * (1 + 1e-4)):
        with pytest.raises(AssertionError):
            judge(WRONG[wrong], want)


def test_infinities_must_be_those_of_the_truth():
    truth = torch.tensor([INF, 1.0], dtype=torch.float64)
    judge(torch.tensor([INF, 1.0]), torch.tensor([INF, 1.0001]), truth)
    with pytest.raises(AssertionError):
        judge(torch.tensor([-INF, 1.0]), torch.tensor([INF, 1.0001]), truth)


def test_without_a_truth_the_cpu_decides():
    def none():
        raise RuntimeError("not for float64")

    with pytest.raises(AssertionError):
        compare.same_values(OP, torch.float32, [RIGHT], [RIGHT * (1 + 1e-4)], none)


def test_a_widened_call_shares_no_memory():
    x = torch.ones(3, dtype=torch.float64)
    (wide,), options = samples.widened(((x,), {"dtype": torch.float32, "other": torch.int64}))
    assert options == {"dtype": torch.float64, "other": torch.int64}
    wide.add_(1)
    assert x.tolist() == [1, 1, 1]


def test_a_dtype_of_the_meta_device_counts():
    got, want = torch.zeros(2), torch.zeros(2, dtype=torch.bfloat16)
    compare.same_metadata(got, want, None, lambda: torch.zeros(2, device="meta"))
    for meta in (None, lambda: torch.zeros(2, dtype=torch.float16, device="meta")):
        with pytest.raises(AssertionError, match="dtype"):
            compare.same_metadata(got, want, None, meta)
