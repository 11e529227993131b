"""A destination and a source of one instruction: apart, the same tile, or overlapping in part.

Each row of the table that reads and writes one kind of memory is here: the same tile gives what
tiles apart give, or is refused; a part is refused always.
"""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import same_bits

import nki
from nki import _core

F32, U16, U32 = np.dtype(np.float32), np.dtype(np.uint16), np.dtype(np.uint32)


class Row:
    """`call(dst, src)` on views with these columns, of tiles with `rows` partitions."""

    def __init__(self, call, dst=32, src=32, *, dtype=F32, dst_dtype=None, rows=32, most=None):
        self.call, self.dst, self.src, self.rows = call, dst, src, rows
        self.dtype, self.dst_dtype = dtype, dst_dtype or dtype
        self.most = most


def with_eight(function):
    """`vals` of the searches: eight values of the data, apart from it."""

    def call(dst, src):
        vals = nl.ndarray((src.shape[0], 8), src.dtype)
        nisa.max8(vals, src)
        function(dst, src, vals)

    return call


def with_ones(function, dtype, columns=32):
    """A further operand: ones, apart from the other two."""

    def call(dst, src):
        ones = nl.ndarray((src.shape[0], columns), dtype)
        nisa.memset(ones, 1)
        function(dst, src, ones)

    return call


def reduced(function):
    """What has a result per row beside its tile: that lies apart."""

    def call(dst, src):
        function(dst, src, nl.ndarray((src.shape[0], 1), nl.float32))

    return call


TRN3 = {row["mnemonic"] for row in _core.instructions() if row["since"] == "trn3"}
ROWS = {
    "activate2": Row(lambda d, s: nisa.activate2(d, nl.copy, s, 2.0, 1.0, nl.multiply, nl.add)),
    "activation": Row(lambda d, s: nisa.activation(d, nl.square, s)),
    "activation_reduce": Row(
        reduced(lambda d, s, r: nisa.activation_reduce(d, nl.square, s, nl.add, r))
    ),
    "affine_select": Row(lambda d, s: nisa.affine_select(d, [[1, 32]], 0, s, 0.5, nl.greater, -4)),
    "bn_aggr": Row(lambda d, s: nisa.bn_aggr(d, s), dst=2, src=30),
    "bn_stats": Row(lambda d, s: nisa.bn_stats(d, s), dst=6),
    "dma_compute": Row(lambda d, s: nisa.dma_compute(d, [s, s], nl.add)),
    "dma_copy": Row(nisa.dma_copy),
    "dma_transpose": Row(nisa.dma_transpose),
    "dropout": Row(lambda d, s: nisa.dropout(d, s, 0.0)),
    "exponential": Row(lambda d, s: nisa.exponential(d, s)),
    "local_gather": Row(with_ones(nisa.local_gather, U16, 2), dtype=F32),
    "max8": Row(nisa.max8, dst=8),
    "nc_find_index8": Row(with_eight(nisa.nc_find_index8), dst=8, dst_dtype=U32),
    "nc_match_replace8": Row(with_eight(lambda d, s, v: nisa.nc_match_replace8(d, s, v, -1.0))),
    "nc_n_gather": Row(with_ones(nisa.nc_n_gather, U32)),
    "nc_stream_shuffle": Row(lambda d, s: nisa.nc_stream_shuffle(d, s, [*range(31, -1, -1)])),
    "nc_transpose": Row(lambda d, s: nisa.nc_transpose(d, s, nisa.engine.vector)),
    "nonzero_with_count": Row(
        nisa.nonzero_with_count, dst=33, dst_dtype=np.dtype(np.int32), rows=128
    ),
    "quantize_mx": Row(
        lambda d, s: nisa.quantize_mx(
            d.view(nl.float8_e4m3fn_x4), s.view(nl.bfloat16), nl.ndarray((32, 16), nl.uint8)
        ),
        dst=16,
    ),
    "range_select": Row(
        reduced(
            lambda d, s, r: range_select(d, s, r),
        )
    ),
    "reciprocal": Row(nisa.reciprocal),
    "scalar_tensor_tensor": Row(
        lambda d, s: nisa.scalar_tensor_tensor(d, s, nl.multiply, 2.0, nl.add, s)
    ),
    "select_reduce": Row(
        with_ones(lambda d, s, p: nisa.select_reduce(d, p, s, 0.5), np.dtype(np.uint8))
    ),
    "sequence_bounds": Row(
        lambda d, s: nisa.sequence_bounds(d.reshape([1, 2, 32]), s), dst=64, rows=1
    ),
    "tensor_copy": Row(nisa.tensor_copy),
    "tensor_copy_predicated": Row(with_ones(nisa.tensor_copy_predicated, np.dtype(np.uint8))),
    "tensor_partition_reduce": Row(lambda d, s: nisa.tensor_partition_reduce(d[:1], nl.add, s)),
    "tensor_reduce": Row(lambda d, s: nisa.tensor_reduce(d, nl.add, s, 1), dst=1),
    "tensor_scalar": Row(lambda d, s: nisa.tensor_scalar(d, s, nl.add, 1.0)),
    "tensor_scalar_cumulative": Row(
        lambda d, s: nisa.tensor_scalar_cumulative(d, s, nl.multiply, nl.add, 2.0)
    ),
    "tensor_scalar_reduce": Row(lambda d, s: nisa.tensor_scalar_reduce(d, s, nl.add, 1.0, nl.add)),
    "tensor_tensor": Row(lambda d, s: nisa.tensor_tensor(d, s, s, nl.add)),
    "tensor_tensor_scan": Row(
        lambda d, s: nisa.tensor_tensor_scan(d, s, s, 0.0, nl.multiply, nl.add)
    ),
    "topk": Row(
        lambda d, s: nisa.topk(
            d.view(nl.bfloat16)[:, :1], nl.ndarray((32, 1), nl.uint32), s.view(nl.bfloat16), 512
        )
    ),
}
# Rows that read and write one memory and are not here, and why.
ELSEWHERE = {
    "gpsimd_kernel": "a kernel states its own operands",
    "sendrecv": "dst is the other core's: test_cores.py",
}


def range_select(dst, src, scratch):
    bounds = [nl.ndarray((src.shape[0], 1), nl.float32) for _ in range(2)]
    for bound, value in zip(bounds, (3, 20), strict=True):
        nisa.memset(bound, float(value))
    nisa.range_select(dst, src, nl.greater_equal, nl.less, *bounds, reduce_res=scratch)


def shares_a_memory(row):
    tiles = [o for o in row["operands"] if o["memories"]]
    outs = [o for o in tiles if o["role"] != "in"]
    ins = [o for o in tiles if o["role"] == "in" and o["kind"] in ("tile", "tiles")]
    return any(a["memories"] & b["memories"] for a in outs for b in ins)


def test_each_row_that_could_overlap_is_here():
    rows = {row["mnemonic"] for row in _core.instructions() if shares_a_memory(row)}
    assert rows - set(ELSEWHERE) == set(ROWS)


def executed(row, at, shared):
    """The destination after `call`: `at` columns beyond the source, on its tile or on a copy."""
    rng = np.random.default_rng(7)
    width = max(row.src, row.dst) + 16
    x = rng.integers(1, 40, (row.rows, width)).astype(row.dtype)

    def kernel(x):
        tile = nl.load(x)
        source = tile
        if not shared:
            source = nl.ndarray(x.shape, row.dtype)
            nisa.tensor_copy(source, tile)
        dst = tile if row.dst_dtype == row.dtype else tile.view(row.dst_dtype)
        row.call(dst[:, at : at + row.dst], source[:, : row.src])
        result = nl.ndarray(x.shape, row.dtype, nl.shared_hbm)
        nl.store(result, tile)
        return result

    return nki.simulate(kernel)(x)


def parameters():
    for mnemonic in ROWS:
        marks = [pytest.mark.trn3] if mnemonic in TRN3 else []
        yield pytest.param(mnemonic, marks=marks)


@pytest.mark.parametrize("mnemonic", [*parameters()])
def test_the_same_tile(mnemonic):
    row = ROWS[mnemonic]
    want = executed(row, 0, shared=False)
    got, refusal = None, ""
    try:
        got = executed(row, 0, shared=True)
    except nki.NkiValidationError as error:
        refusal = str(error)
    if got is None:
        assert f"{mnemonic}.overlap" in refusal
    else:
        same_bits(got, want)


@pytest.mark.parametrize("mnemonic", [*parameters()])
@pytest.mark.parametrize("at", [4, 12])
def test_a_part(mnemonic, at):
    executed(ROWS[mnemonic], at, shared=False)
    with pytest.raises(nki.NkiValidationError, match=rf"{mnemonic}\.overlap"):
        executed(ROWS[mnemonic], at, shared=True)


def test_interleaved_elements_share_nothing():
    x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)

    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_copy(tile[:, ::2], tile[:, 1::2])
        result = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nl.store(result, tile)
        return result

    want = x.copy()
    want[:, ::2] = x[:, 1::2]
    same_bits(nki.simulate(kernel)(x), want)


def test_a_scalar_per_partition_may_lie_in_the_destination():
    x = np.arange(32 * 64, dtype=np.float32).reshape(32, 64)

    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.subtract, tile[:, 5:6])
        result = nl.ndarray(x.shape, x.dtype, nl.shared_hbm)
        nl.store(result, tile)
        return result

    same_bits(nki.simulate(kernel)(x), x - x[:, 5:6])
