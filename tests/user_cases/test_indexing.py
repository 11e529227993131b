"""Reading and writing through index tensors, and tensors whose extent depends on values."""

import pytest
import torch
from user_cases.beside_cpu import agree, compiled

INDEX_DTYPES = (torch.int64, torch.int32)
READS = {
    "subscript": lambda x, i: x[i],
    "index_select": lambda x, i: x.index_select(0, i),
    "gather": lambda x, i: x.gather(0, i.long()),
    "take": lambda x, i: x.take(i.long()),
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize("index", INDEX_DTYPES)
@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.float32])
def test_every_element_of_an_index_tensor_counts(read, index, dtype):
    """U001: with 64-bit indices every other element came back as zero."""
    i = torch.arange(10, dtype=index)
    got = agree(READS[read], torch.full((10,), 5, dtype=dtype), i, exact=True)
    assert got.tolist() == [5] * 10
    agree(READS[read], torch.arange(10).to(dtype), i.flip(0), exact=True)


@pytest.mark.parametrize("index", INDEX_DTYPES)
def test_two_index_tensors(index):
    """U001: the same with a row and a column index."""
    x = torch.arange(35).reshape(5, 7)
    rows, columns = torch.tensor([4, 0, 2], dtype=index), torch.tensor([6, 0, 3], dtype=index)
    agree(lambda x, r, c: x[r, c], x, rows, columns, exact=True)
    agree(lambda x, r, c: x[r[:, None], c], x, rows, columns, exact=True)


@pytest.mark.parametrize("device_function", [torch.take_along_dim, torch.gather])
@pytest.mark.parametrize("shape", [(2, 3), (2, 3, 4), (3, 1, 5)])
def test_gather_reads_its_own_row(device_function, shape):
    """U003: the row number was lost, so that each row read row 0."""
    x = torch.arange(float(torch.Size(shape).numel())).reshape(shape)
    if device_function is torch.take_along_dim:
        call = lambda x, i: torch.take_along_dim(x, i, 1)  # noqa: E731
    else:
        call = lambda x, i: x.gather(1, i)  # noqa: E731
    index = torch.randint(shape[1], shape)
    agree(call, x, index, exact=True)
    if shape == (2, 3):
        got = agree(call, x, torch.tensor([[1, 2], [0, 1]]), exact=True)
        assert got.tolist() == [[1, 2], [3, 4]]


SCATTERS = {
    "constant in place": lambda x, i, src: x.scatter_(1, i, 1.0),
    "constant": lambda x, i, src: torch.scatter(x, 1, i, 1.0),
    "source in place": lambda x, i, src: x.scatter_(1, i, src),
    "source": lambda x, i, src: torch.scatter(x, 1, i, src),
    "reduce": lambda x, i, src: x.scatter_reduce_(1, i, src, "amax"),
}


@pytest.mark.parametrize("scatter", SCATTERS)
@pytest.mark.parametrize("compile_it", [False, True])
def test_scatter_into_zeros(scatter, compile_it, fresh_dynamo):
    """U004: scattering a constant into a small array killed the compiler."""
    index = torch.stack([torch.randperm(4) for _ in range(3)])
    function = compiled(SCATTERS[scatter]) if compile_it else SCATTERS[scatter]
    agree(function, torch.zeros(3, 4), index, torch.randn(3, 4), exact=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64])
def test_scatter_add_sums_duplicates(dtype):
    """U004: duplicates add up."""
    index = torch.tensor([[0, 0, 1, 0], [3, 3, 3, 3], [2, 1, 2, 1]])
    src = torch.arange(1, 13).reshape(3, 4).to(dtype)
    x = torch.zeros(3, 4, dtype=dtype)
    got = agree(lambda x, i, s: x.scatter_add_(1, i, s), x, index, src, exact=True)
    assert got[1].tolist() == [0, 0, 0, 26]


TAKES = {
    "column": lambda x, i, j, m: x[:, i],
    "apart": lambda x, i, j, m: x[i, :, j],
    "new axis": lambda x, i, j, m: x[None, i],
    "mask of the first dimension": lambda x, i, j, m: x[m],
    "mask behind a new axis": lambda x, i, j, m: x[None, m],
    "mask and index": lambda x, i, j, m: x[m, :, 1],
}
PUTS = {
    "column": lambda x, i, j, m: x.__setitem__((slice(None), i), 7.0),
    "apart": lambda x, i, j, m: x.__setitem__((i, slice(None), j), 7.0),
    "mask behind a new axis": lambda x, i, j, m: x[None].__setitem__((slice(None), m), 0.0),
    "mask": lambda x, i, j, m: x.__setitem__(m, 0.0),
    "values": lambda x, i, j, m: x.__setitem__((i, slice(None), j), torch.ones_like(x[i, :, j])),
    "sum of duplicates": lambda x, i, j, m: x.index_put_(
        (torch.zeros_like(i),), torch.ones_like(x[i]), accumulate=True
    ),
}


@pytest.mark.parametrize("read", TAKES)
def test_lists_of_optional_indices(read):
    """U030: an index list with holes broke where a backend had no kernel of its own."""
    agree(TAKES[read], *_indices(), exact=True)


@pytest.mark.parametrize("write", PUTS)
def test_writes_through_lists_of_optional_indices(write):
    """U030: the in-place form updates its tensor."""
    agree(PUTS[write], *_indices(), exact=True)


def _indices():
    x = torch.arange(60.0).reshape(4, 3, 5)
    mask = torch.tensor([True, False, True, True])
    return x, torch.tensor([2, 0]), torch.tensor([4, 1]), mask


DATA_DEPENDENT = {
    "mask": lambda x, m: x[m],
    "masked_select": lambda x, m: x.masked_select(m),
    "nonzero": lambda x, m: m.nonzero(),
    "nonzero as tuple": lambda x, m: m.nonzero(as_tuple=True),
    "unique": lambda x, m: torch.unique(x * m),
    "unique with counts": lambda x, m: torch.unique(x * m, return_counts=True),
    "repeat_interleave": lambda x, m: x.repeat_interleave(m.long() * 2),
    "bincount": lambda x, m: torch.bincount(m.long()),
    "argwhere": lambda x, m: torch.argwhere(m),
}


@pytest.mark.parametrize("op", DATA_DEPENDENT)
@pytest.mark.parametrize("mask", [[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]])
def test_extent_that_depends_on_values(op, mask):
    """U018: a dimension known only at run time could not be compiled."""
    agree(DATA_DEPENDENT[op], torch.arange(4.0), torch.tensor(mask, dtype=torch.bool), exact=True)


@pytest.mark.parametrize("op", DATA_DEPENDENT)
def test_extent_that_depends_on_values_compiled(op, fresh_dynamo):
    """U018: inside torch.compile a graph break is fine, a wrong result is not."""
    function = compiled(lambda x, m: DATA_DEPENDENT[op](x + 1, m))
    for mask in ([1, 0, 1, 1], [0, 0, 0, 0]):
        agree(function, torch.arange(4.0), torch.tensor(mask, dtype=torch.bool), exact=True)


def _uses_of_a_count(x, valid):
    n = valid.sum()
    results = [x[:n], x[n:], torch.clamp(n, max=8), x.sum() / n, min(n.item(), 8), f"{n}"]
    results.append(sum(range(int(n))))
    if n == 0:
        results.append(x * 0)
    return results


@pytest.mark.parametrize("mask", [[1, 0, 1, 1, 0, 0], [0] * 6, [1] * 6])
def test_count_on_the_device_as_a_python_number(mask):
    """U050: a count kept on the device could not bound a loop or a slice."""
    valid = torch.tensor(mask, dtype=torch.bool)
    agree(_uses_of_a_count, torch.arange(6.0), valid)


def test_count_on_the_device_as_a_python_number_compiled(fresh_dynamo):
    """U050: the same under torch.compile."""

    def function(x, valid):
        n = valid.sum()
        if n == 0:
            return x * 0
        return x[: int(n)] / n

    for mask in ([1, 0, 1, 1, 0, 0], [0] * 6):
        valid = torch.tensor(mask, dtype=torch.bool)
        agree(compiled(function), torch.arange(6.0), valid)
