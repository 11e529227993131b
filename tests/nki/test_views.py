"""NkiTensor views against NumPy's: a view is right if a copy of it has the right elements."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest

import nki

X = np.arange(24 * 6 * 10, dtype=np.int32).reshape(24, 6, 10)

# name: (view of an NkiTensor, the same in NumPy)
HBM = {
    "slices": (lambda t: t[2:20:3, 1:, ::2], lambda x: x[2:20:3, 1:, ::2]),
    "integer": (lambda t: t[5], lambda x: x[5]),
    "negative": (lambda t: t[-3:-1, ..., 7], lambda x: x[-3:-1, ..., 7]),
    "ds": (lambda t: t[nl.ds(4, 8), 3, nl.ds(2, 5)], lambda x: x[4:12, 3, 2:7]),
    "permute": (lambda t: t.permute([1, 0, 2]), lambda x: x.transpose(1, 0, 2)),
    "reshape": (lambda t: t.reshape([48, 30]), lambda x: x.reshape(48, 30)),
    "reshape_dim": (lambda t: t.reshape_dim(0, [4, -1]), lambda x: x.reshape(4, 6, 6, 10)),
    "flatten": (lambda t: t.flatten_dims(1, 2), lambda x: x.reshape(24, 60)),
    "expand_squeeze": (lambda t: t.expand_dim(1).squeeze_dim(1), lambda x: x),
    "select": (lambda t: t.select(1, 2), lambda x: x[:, 2]),
    "slice": (lambda t: t.slice(2, 1, 9, 2), lambda x: x[:, :, 1:9:2]),
    "rearrange": (
        lambda t: t.rearrange((("a", "b"), "c", "d"), ("b", "a", ("c", "d")), {"a": 4}),
        lambda x: x.reshape(4, 6, 60).transpose(1, 0, 2),
    ),
    "ap": (
        lambda t: t.ap([[60, 8], [1, 30]], offset=12),
        lambda x: np.lib.stride_tricks.as_strided(x.reshape(-1)[12:], (8, 30), (240, 4)),
    ),
    "view_bytes": (lambda t: t.view(nl.uint8), lambda x: x.view(np.uint8)),
}
CHIP = {
    "slices": (lambda t: t[0:24, 1:5, ::3], lambda x: x[:, 1:5, ::3]),
    "integer": (lambda t: t[:, 3], lambda x: x[:, 3]),
    "permute": (lambda t: t.permute([0, 2, 1]), lambda x: x.transpose(0, 2, 1)),
    "reshape": (lambda t: t.reshape([24, 12, 5]), lambda x: x.reshape(24, 12, 5)),
    "broadcast": (
        lambda t: t[:, :, 0:1].broadcast(2, 4),
        lambda x: np.broadcast_to(x[:, :, 0:1], (24, 6, 4)),
    ),
    "rearrange": (
        lambda t: t.rearrange(("p", "c", ("d", "e")), ("p", "e", "c", "d"), {"e": 5}),
        lambda x: x.reshape(24, 6, 2, 5).transpose(0, 3, 1, 2),
    ),
    "ap": (lambda t: t.ap([[60, 24], [2, 7]], offset=3), lambda x: x.reshape(24, 60)[:, 3:17:2]),
}


def copied(array):
    return np.array(array, order="C")


@pytest.mark.parametrize("case", HBM)
def test_hbm_view_copied_by_dma(case):
    view, expected = HBM[case]

    def kernel(x):
        source = view(x)
        out = nl.ndarray(source.shape, source.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, source)
        return out

    np.testing.assert_array_equal(nki.simulate(kernel)(X), copied(expected(X)))


@pytest.mark.parametrize("case", CHIP)
def test_chip_view_copied_by_vector(case):
    view, expected = CHIP[case]

    def kernel(x):
        source = view(nl.load(x))
        tile = nl.ndarray(source.shape, source.dtype)
        nisa.tensor_copy(tile, source)
        out = nl.ndarray(source.shape, source.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    np.testing.assert_array_equal(nki.simulate(kernel)(X), copied(expected(X)))


@pytest.mark.parametrize("case", [c for c in HBM if c not in ("ap", "integer", "view_bytes")])
def test_hbm_view_written_by_dma(case):
    view, expected = HBM[case]
    out = np.zeros_like(X)
    values = expected(X) * 3 + 1

    def kernel(out, values):
        nisa.dma_copy(view(out), values)

    nki.simulate(kernel)(out, copied(values))
    want = np.zeros_like(X)
    target = expected(want)
    if np.shares_memory(target, want):
        target[...] = values
        np.testing.assert_array_equal(out, want)
    np.testing.assert_array_equal(copied(expected(out)), values)


def test_vector_select_gathers_and_scatters_rows():
    table = np.arange(50 * 8, dtype=np.float32).reshape(50, 8)
    rows = np.array([[7], [0], [49], [7]], dtype=np.int32)

    def gather(table, rows):
        tile = nl.ndarray((4, 8), table.dtype)
        nisa.dma_copy(tile, table.vector_select(0, nl.load(rows)))
        out = nl.ndarray((4, 8), table.dtype, buffer=nl.shared_hbm)
        nl.store(out, tile)
        return out

    np.testing.assert_array_equal(nki.simulate(gather)(table, rows), table[rows[:, 0]])

    def accumulate(table, rows, values):
        target = table.vector_select(0, nl.load(rows))
        nisa.dma_compute(target, [target, nl.load(values)], nl.add)

    want = table.copy()
    np.add.at(want, rows[:, 0], np.ones((4, 8), np.float32))
    nki.simulate(accumulate)(table, rows, np.ones((4, 8), np.float32))
    np.testing.assert_array_equal(table, want)


@pytest.mark.parametrize(
    ("view", "words"),
    [
        (lambda t: t[30], "elements 30 to 30 of dimension 0, which has 24"),
        (lambda t: t[0:25], "dimension 0, which has 24"),
        (lambda t: t[1, 2, 3, 4], "4 indices into a 3-D tensor"),
        (lambda t: t.reshape([7, -1]), "tensor.reshape"),
        (lambda t: t.permute([1, 2, 0]).reshape([60, 24]).reshape([1440]), "no view"),
        (lambda t: t.permute([0, 0, 1]), "no order of 3 dimensions"),
        (lambda t: t.broadcast(1, 9), "tensor.broadcast"),
        (lambda t: t["a"], "use integers, slices or nl.ds"),
    ],
)
def test_impossible_views_are_refused(view, words):
    def kernel(x):
        view(x)

    with pytest.raises(nki.NkiValidationError, match=r"test_views\.py") as refused:
        nki.simulate(kernel)(X)
    assert words in str(refused.value)
