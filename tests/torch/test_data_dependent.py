"""Ops whose result is as large as data say: on the device, equal to CPU, one program per shape."""

import pytest
import torch

pytestmark = pytest.mark.usefixtures("strict")

MASKS = {
    "none": torch.zeros(6, 5, dtype=torch.bool),
    "all": torch.ones(6, 5, dtype=torch.bool),
    "some": torch.arange(30).reshape(6, 5) % 3 == 1,
    "last": torch.arange(30).reshape(6, 5) == 29,
}
X = torch.arange(30, dtype=torch.float32).reshape(6, 5)
OPS = {
    "nonzero": lambda x, m: torch.nonzero(x * m),
    "nonzero of a mask": lambda x, m: m.nonzero(),
    "nonzero as tuple": lambda x, m: m.nonzero(as_tuple=True),
    "nonzero out": lambda x, m: torch.nonzero(m, out=m.new_empty(0, dtype=torch.int64)),
    "argwhere": lambda x, m: torch.argwhere(m),
    "where": lambda x, m: torch.where(m),
    "masked_select": lambda x, m: torch.masked_select(x, m),
    "masked_select broadcast": lambda x, m: torch.masked_select(x[:, :1], m),
    "masked_select out": lambda x, m: torch.masked_select(x, m, out=torch.empty(3).to(x.device)),
    "masked_select of a view": lambda x, m: torch.masked_select(x.t(), m.t()),
    "index": lambda x, m: x[m],
    "index rows": lambda x, m: x[m[:, 1]],
    "index columns": lambda x, m: x[:, m[2]],
    "index mask and integer": lambda x, m: x[m[:, 1], 2],
    "index uint8": lambda x, m: x[m.to(torch.uint8)],
    "index_put number": lambda x, m: x.clone().index_put_((m,), torch.tensor(7.0).to(x.device)),
    "index_put values": lambda x, m: x.clone().index_put_((m,), -x[m] - 1),
    "index_put rows": lambda x, m: x.clone().index_put_((m[:, 1],), x[m[:, 1]] * 2),
    "index_put one row": lambda x, m: x.clone().index_put_((m[:, 1],), x[0]),
    "index_put accumulate": lambda x, m: x.clone().index_put_((m,), x[m], accumulate=True),
    "assignment": lambda x, m: _assigned(x, m),
    "unique of rows": lambda x, m: torch.unique(x * m % 3, dim=0, return_inverse=True),
    "unique of columns": lambda x, m: torch.unique(x * m % 2, dim=1, return_counts=True),
    "unique of slices": lambda x, m: torch.unique((x * m % 3).view(3, 2, 5), dim=1,
                                                  return_inverse=True, return_counts=True),
    "unique of rows of bools": lambda x, m: torch.unique(m, dim=0, return_counts=True),
    "consecutive rows": lambda x, m: torch.unique_consecutive(x * m // 9, dim=0,
                                                              return_inverse=True),
    "consecutive columns": lambda x, m: torch.unique_consecutive(m.long(), dim=1,
                                                                 return_counts=True),
    "histc": lambda x, m: torch.histc(x * m, 7),
    "histc of a range": lambda x, m: torch.histc(x * m, 5, 1.5, 20),
    "masked_scatter": lambda x, m: x.masked_scatter(m, x.flip(0)),
}  # fmt: skip


def _assigned(x, m):
    y = x.clone()
    y[m] = 0.5
    y[:, m[2]] = 3
    return y


def _cpu(tree):
    return torch.utils._pytree.tree_map(lambda t: t.cpu(), tree)


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("op", OPS)
def test_masks(op, mask):
    m = MASKS[mask]
    want = OPS[op](X, m)
    got = _cpu(OPS[op](X.to("neuron"), m.to("neuron")))
    torch.testing.assert_close(got, want, rtol=0, atol=0)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 0), (300,), (2, 3, 4), (5000,)])
def test_nonzero_of_shapes_and_dtypes(shape, dtype):
    x = torch.arange(torch.Size(shape).numel()).remainder(3).reshape(shape).to(dtype)
    assert torch.equal(torch.nonzero(x.to("neuron")).cpu(), torch.nonzero(x))


@pytest.mark.parametrize("options", [{}, {"return_inverse": True, "return_counts": True}])
@pytest.mark.parametrize("function", [torch.unique, torch.unique_consecutive])
@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([3, 1, 3, 3, 2]),
        torch.tensor([[2.0, 1.0], [1.0, -1.0]]),
        torch.tensor([True, False, True]),
        torch.tensor([5]),
        torch.tensor([1 << 40, 1, 1 << 40]),
        torch.tensor([1.0, float("nan"), 1.0, float("nan")]),
        torch.arange(5000).remainder(701),
    ],
)
def test_unique(x, function, options):
    got, want = function(x.to("neuron"), **options), function(x, **options)
    torch.testing.assert_close(_cpu(got), want, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize(
    "repeats", [[2, 0, 3], [0, 0], [1], [40, 1], []], ids=lambda r: "-".join(map(str, r)) or "none"
)
def test_repeat_interleave(repeats):
    r = torch.tensor(repeats, dtype=torch.int64)
    x = torch.arange(len(repeats)) * 10
    assert torch.equal(
        torch.repeat_interleave(x.to("neuron"), r.to("neuron")).cpu(), torch.repeat_interleave(x, r)
    )
    with_size = torch.repeat_interleave(r.to("neuron"), output_size=int(r.sum()))
    assert torch.equal(with_size.cpu(), torch.repeat_interleave(r))


def test_repeat_interleave_refuses_negative_counts():
    with pytest.raises(RuntimeError, match="negative"):
        torch.repeat_interleave(torch.tensor([1, -1]).to("neuron"))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8])
@pytest.mark.parametrize("minlength", [0, 3, 40])
@pytest.mark.parametrize("weights", [None, torch.float32])
def test_bincount(dtype, minlength, weights):
    x = torch.tensor([3, 1, 3, 17, 0], dtype=dtype)
    w = None if weights is None else torch.tensor([0.5, 1.0, 2.0, 4.0, 8.0], dtype=weights)
    got = torch.bincount(x.to("neuron"), None if w is None else w.to("neuron"), minlength=minlength)
    torch.testing.assert_close(got.cpu(), torch.bincount(x, w, minlength=minlength))


def test_bincount_refuses_negative_values():
    with pytest.raises(RuntimeError, match="non-negative"):
        torch.bincount(torch.tensor([1, -1]).to("neuron"))


@pytest.mark.parametrize("columns", [1, 2, 3, 7, 64])
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.int8])
def test_unique_rows_in_lexicographic_order(columns, dtype):
    """Rows that share long beginnings, so that every column decides somewhere."""
    x = (torch.arange(200).unsqueeze(1) * 7 % (torch.arange(columns) + 2) - 1).to(dtype)
    options = {"dim": 0, "return_inverse": True, "return_counts": True}
    got = _cpu(torch.unique(x.to("neuron"), **options))
    torch.testing.assert_close(got, torch.unique(x, **options), rtol=0, atol=0)


def test_histc_refuses_a_range_that_is_not_finite():
    x = torch.tensor([1.0, float("inf")])
    for device in ("cpu", "neuron"):
        with pytest.raises(RuntimeError, match="finite"):
            torch.histc(x.to(device))


def test_index_put_refuses_another_number_of_values():
    x, m = X.to("neuron"), MASKS["some"].to("neuron")
    with pytest.raises(RuntimeError, match="shape mismatch"):
        x[m] = torch.ones(3, device="neuron")


def test_host_indices_and_masks():
    """As on CUDA, they may lie on the host."""
    x = X.to("neuron")
    rows = torch.tensor([4, 0])
    assert torch.equal(x[rows].cpu(), X[rows])
    assert torch.equal(x[MASKS["some"]].cpu(), X[MASKS["some"]])


def test_gradients():
    for op in ("index", "masked_select", "index rows", "index_put values"):
        m = MASKS["some"]
        a, b = X.clone().requires_grad_(), X.to("neuron").requires_grad_()
        OPS[op](a, m).square().sum().backward()
        OPS[op](b, m.to("neuron")).square().sum().backward()
        assert torch.equal(b.grad.cpu(), a.grad), op


def test_one_program_serves_every_count():
    from torch_neuronx import _C

    x = torch.arange(77, dtype=torch.float32).to("neuron")
    torch.masked_select(x, x > 3)
    torch.nonzero(x > 3)
    before = _C.cache_statistics()["compiled"]
    for limit in range(5, 60, 11):
        assert torch.masked_select(x, x > limit).numel() == 76 - limit
        assert torch.nonzero(x > limit).shape == (76 - limit, 1)
    assert _C.cache_statistics()["compiled"] == before
