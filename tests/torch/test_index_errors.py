"""Indices out of range: an error of CPU's class at the next synchronisation that names op, index
(all of its 64 bits), dimension and size, once; the device goes on."""

import pytest
import torch
import torch.nn.functional as F

ROWS = 5
# Of the call's index tensor; the index is out of range for ROWS rows in every op.
BAD = {
    "just beyond": ROWS,
    "large": 1_000_000,
    "far negative": -ROWS - 1,
    # Their low words are legal indices.
    "2^32": 1 << 32,
    "2^32 + 1": (1 << 32) + 1,
    "-2^32": -(1 << 32),
    "2^63 - 1": (1 << 63) - 1,
}


DEVICE = "neuron"


def _table(device):
    return torch.arange(ROWS * 4, dtype=torch.float32).reshape(ROWS, 4).to(device)


def _ones(index, *sizes):
    return torch.ones(*sizes, device=index.device)


OPS = {  # index tensor of three elements -> anything
    "gather": lambda i: torch.gather(_table(i.device), 0, i[:, None]),
    "index_select": lambda i: torch.index_select(_table(i.device), 0, i),
    "embedding": lambda i: F.embedding(i, _table(i.device)),
    "embedding_bag": lambda i: F.embedding_bag(i[None], _table(i.device)),
    "embedding_dense_backward": lambda i: torch.ops.aten.embedding_dense_backward(
        _ones(i, 3, 4), i, ROWS, -1, False
    ),
    "index": lambda i: _table(i.device)[i],
    "index_put": lambda i: _table(i.device).index_put_((i,), _ones(i, 3, 4)),
    "index_put accumulate": lambda i: _table(i.device).index_put_(
        (i,), _ones(i, 3, 4), accumulate=True
    ),
    "index_add": lambda i: _table(i.device).index_add_(0, i, _ones(i, 3, 4)),
    "index_add of a vector": lambda i: _table(i.device)[:, 0].index_add_(0, i, _ones(i, 3)),
    "index_copy": lambda i: _table(i.device).index_copy_(0, i, _ones(i, 3, 4)),
    "index_fill": lambda i: _table(i.device).index_fill_(0, i, 1.0),
    "scatter": lambda i: _table(i.device).scatter_(0, i[:, None], 1.0),
    "scatter_add": lambda i: _table(i.device).scatter_add_(0, i[:, None], _ones(i, 3, 1)),
    "scatter_reduce": lambda i: _table(i.device).scatter_reduce_(
        0, i[:, None], _ones(i, 3, 1), "amax"
    ),
    "take": lambda i: torch.take(_table(i.device)[:, 0].contiguous(), i),
    "put": lambda i: _table(i.device)[:, 0].contiguous().put_(i, _ones(i, 3)),
    "nll_loss": lambda i: F.nll_loss(_ones(i, 3, ROWS), i),
    "nll_loss2d": lambda i: F.nll_loss(_ones(i, 3, ROWS, 1, 1), i[:, None, None]),
    "cross_entropy": lambda i: F.cross_entropy(_ones(i, 3, ROWS), i),
    "multi_margin_loss": lambda i: F.multi_margin_loss(_ones(i, 3, ROWS), i),
    "one_hot": lambda i: F.one_hot(i, ROWS),
}
# What the error calls them.
NAMES = {
    "cross_entropy": "nll_loss",
    "one_hot": "scatter",
    "index_put accumulate": "index_put",
    "index_add of a vector": "index_add",
    "embedding_dense_backward": "embedding",
}
# Dimension and size where these are not those of the table's rows; take and put know no dimension.
BOUNDS = {
    "take": f"{ROWS} elements",
    "put": f"{ROWS} elements",
    **dict.fromkeys(
        ["nll_loss", "nll_loss2d", "cross_entropy", "multi_margin_loss", "one_hot"],
        f"dimension 1 with size {ROWS}",
    ),
}


def _class_on_cpu(op):
    if op == "embedding_dense_backward":  # CPU skips what is out of range there
        return IndexError
    with pytest.raises(Exception) as caught:  # noqa: PT011  its class is what is asked for
        OPS[op](torch.tensor([1, ROWS, 2]))
    return caught.type


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("op", OPS)
def test_is_raised_once_with_op_index_and_bounds(op, bad):
    index = BAD[bad]
    OPS[op](torch.tensor([1, index, 2]).to(DEVICE))
    with pytest.raises(_class_on_cpu(op)) as caught:
        torch.neuron.synchronize()
    assert NAMES.get(op, op) in str(caught.value)
    bounds = BOUNDS.get(op, f"dimension 0 with size {ROWS}")
    assert f"index {index} is out of bounds for {bounds}" in str(caught.value)
    torch.neuron.synchronize()
    # The device is usable afterwards, and so is this very program.
    OPS[op](torch.tensor([1, 0, 2]).to(DEVICE))
    torch.neuron.synchronize()


@pytest.mark.parametrize("op", ["index", "index_put", "take", "put"])
def test_negative_indices_count_from_the_end(op):
    OPS[op](torch.tensor([1, -ROWS, -1]).to(DEVICE))
    torch.neuron.synchronize()


@pytest.mark.parametrize("op", ["gather", "embedding", "scatter", "scatter_add", "nll_loss"])
def test_negative_indices_are_refused(op):
    OPS[op](torch.tensor([1, -1, 2]).to(DEVICE))
    with pytest.raises(_class_on_cpu(op), match="index -1 "):
        torch.neuron.synchronize()


def test_ignore_index_is_no_error_but_its_low_word_is():
    logits = torch.zeros(3, ROWS, device="neuron")
    F.cross_entropy(logits, torch.tensor([1, -100, 2]).to(DEVICE))
    torch.neuron.synchronize()
    F.cross_entropy(logits, torch.tensor([1, (1 << 32) - 100, 2]).to(DEVICE))
    with pytest.raises(IndexError, match=f"index {(1 << 32) - 100} "):
        torch.neuron.synchronize()


def test_the_worst_of_several_is_one_of_them():
    bad = [(3 << 32) + 7, (3 << 32) + 9, (1 << 32) + 100, 77]
    F.embedding(torch.tensor([0, *bad, 4]).to(DEVICE), _table(DEVICE))
    with pytest.raises(IndexError) as caught:
        torch.neuron.synchronize()
    assert any(f"index {value} " in str(caught.value) for value in bad)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_both_index_types(dtype):
    F.embedding(torch.tensor([0, 9], dtype=dtype).to(DEVICE), _table(DEVICE))
    with pytest.raises(IndexError, match="embedding: index 9 "):
        torch.neuron.synchronize()


@pytest.mark.parametrize("count", [1, 130, 5000])
def test_one_bad_index_among_many(count):
    """Rows longer than a tile, and than a chunk of a reduction."""
    indices = torch.zeros(count, dtype=torch.int64)
    indices[count // 2] = (1 << 40) + 3
    F.embedding(indices.to(DEVICE), _table(DEVICE))
    with pytest.raises(IndexError, match=f"index {(1 << 40) + 3} "):
        torch.neuron.synchronize()


def test_in_a_compiled_graph_the_op_is_named():
    @torch.compile(backend="neuron", fullgraph=True)
    def model(table, i):
        return F.embedding(i, table).sum() + torch.gather(table, 0, i[:, None]).sum()

    model(_table(DEVICE), torch.tensor([0, (1 << 32) + 1]).to(DEVICE))
    with pytest.raises(IndexError, match=rf"embedding: index {(1 << 32) + 1} "):
        torch.neuron.synchronize()
