"""dma_copy, dma_transpose, dma_compute."""

import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, FLOATS, fp32_to, same_bits, special_values

import nki


def through(body, *arrays, out, out_dtype=np.float32):
    """body(dst in HBM, *arrays in HBM)."""

    def kernel(arrays):
        dst = nl.ndarray(out, out_dtype, nl.shared_hbm)
        body(dst, *arrays)
        return dst

    return nki.simulate(kernel)(list(arrays))


@pytest.mark.parametrize("src", FLOATS, ids=str)
@pytest.mark.parametrize("dst", [*FLOATS, np.dtype(np.int8)], ids=str)
def test_copy_converts(src, dst):
    x = special_values(src)
    got = through(nisa.dma_copy, x, out=x.shape, out_dtype=dst)
    same_bits(got, x if src == dst else fp32_to(dst, x.astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.int64, np.uint64, np.uint8, np.float32], ids=str)
def test_copy_moves_bits(dtype, rng):
    x = rng.integers(0, 200, (300, 70)).astype(dtype) * dtype(3)
    same_bits(through(nisa.dma_copy, x, out=x.shape, out_dtype=dtype), x)


def test_copy_to_any_partition(rng):
    x = rng.standard_normal((100, 6)).astype(np.float32)

    def body(dst, x):
        tile = nl.zeros((128, 6), nl.float32)
        nisa.dma_copy(tile[17:117], x)
        nisa.dma_copy(dst, tile[17:117])

    same_bits(through(body, x, out=x.shape), x)


def test_row_is_spread_over_partitions(rng):
    x = rng.standard_normal(1024).astype(np.float32)

    def body(dst, x):
        tile = nl.ndarray((64, 16), nl.float32)
        nisa.dma_copy(tile, x.reshape([64, 16]))
        nisa.dma_copy(dst, tile)

    same_bits(through(body, x, out=(64, 16)), x.reshape(64, 16))


def test_row_is_repeated_in_every_partition(rng):
    x = rng.standard_normal((1, 16)).astype(np.float32)

    def body(dst, x):
        tile = nl.ndarray((128, 16), nl.float32)
        nisa.dma_copy(tile, x.broadcast(0, 128))
        nisa.dma_copy(dst, tile)

    same_bits(through(body, x, out=(128, 16)), np.repeat(x, 128, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, BF16, np.int32, np.uint16], ids=str)
@pytest.mark.parametrize("shape", [(16, 16), (200, 128), (3, 7)])
def test_transpose(shape, dtype, rng):
    x = rng.integers(0, 99, shape).astype(dtype)

    def body(dst, x):
        tile = nl.ndarray(shape[::-1], dtype)
        nisa.dma_transpose(tile, x)
        nisa.dma_copy(dst, tile)

    same_bits(through(body, x, out=shape[::-1], out_dtype=dtype), np.ascontiguousarray(x.T))


def test_transpose_of_three_and_four_dimensions(rng):
    for shape, axes in (((4, 5, 6), (2, 1, 0)), ((4, 5, 3, 6), (3, 1, 2, 0))):
        x = rng.standard_normal(shape).astype(np.float32)
        want = np.ascontiguousarray(x.transpose(axes))

        def body(dst, x, want=want, axes=axes):
            tile = nl.ndarray(want.shape, nl.float32)
            nisa.dma_transpose(tile, x, axes=axes)
            nisa.dma_copy(dst, tile)

        same_bits(through(body, x, out=want.shape), want)


@pytest.mark.parametrize("count", [1, 2, 16])
def test_compute_adds_in_fp32(count, rng):
    arrays = [rng.integers(-9, 9, (40, 30)).astype(BF16) for _ in range(count)]
    got = through(
        lambda d, *srcs: nisa.dma_compute(d, srcs, nl.add), *arrays, out=(40, 30), out_dtype=BF16
    )
    total = sum(a.astype(np.float32) for a in arrays)
    same_bits(got, fp32_to(BF16, total))


def test_skipped_rows_leave_the_destination(rng):
    table = rng.standard_normal((5, 8)).astype(np.float32)
    rows = np.array([[4], [-1], [5], [0]], np.int32)

    def body(dst, table, rows):
        tile = nl.zeros((4, 8), nl.float32)
        nisa.dma_copy(tile, table.vector_select(0, nl.load(rows)), oob_mode=nisa.oob_mode.skip)
        nisa.dma_copy(dst, tile)

    want = np.zeros((4, 8), np.float32)
    want[0], want[3] = table[4], table[0]
    same_bits(through(body, table, rows, out=(4, 8)), want)


def refused(body, *arrays, out=(4, 8)):
    with pytest.raises(nki.NkiValidationError) as caught:
        through(body, *arrays, out=out)
    return str(caught.value)


def test_refusals():
    x = np.zeros((4, 8), np.float32)
    assert "dma_copy.shape" in refused(nisa.dma_copy, x, out=(4, 9))
    assert "no conversion from s64 to f32" in refused(nisa.dma_copy, x.astype(np.int64))

    def from_psum(dst, x):
        nisa.dma_copy(dst, nl.ndarray((4, 8), nl.float32, nl.psum))

    assert "src is in psum" in refused(from_psum, x)

    def bytes_transposed(dst, x):
        nisa.dma_transpose(nl.ndarray((8, 4), nl.uint8), x)

    assert "dma_transpose.dtype" in refused(bytes_transposed, x.astype(np.uint8))
    assert "only add is legal" in refused(lambda d, s: nisa.dma_compute(d, [s], nl.maximum), x)
    assert "is 17, allowed are 1 to 16" in refused(lambda d, s: nisa.dma_compute(d, [s] * 17), x)
    assert "only 1.0 is legal" in refused(lambda d, s: nisa.dma_compute(d, [s], scales=[2.0]), x)


@pytest.mark.parametrize("rows", [16, 48, 128])
@pytest.mark.parametrize("columns", [1, 24, 128])
@pytest.mark.parametrize("dtype", [np.float32, BF16, np.int32], ids=str)
def test_transpose_of_chosen_rows(rows, columns, dtype, rng):
    table = rng.integers(0, 99, (50, columns)).astype(dtype)
    index = rng.integers(0, 50, (rows, 1)).astype(np.uint32)

    def body(dst, table, index):
        tile = nl.ndarray((columns, rows), dtype)
        nisa.dma_transpose(tile, table.vector_select(0, nl.load(index)))
        nisa.dma_copy(dst, tile)

    got = through(body, table, index, out=(columns, rows), out_dtype=dtype)
    same_bits(got, np.ascontiguousarray(table[index[:, 0]].T))


def test_transpose_skips_indices_out_of_bounds(rng):
    table = rng.standard_normal((5, 8)).astype(np.float32)
    index = np.array([*range(5), 5, 99, *range(5), *range(4)], np.uint32)[:, None]

    def body(mode):
        def kernel(dst, table, index):
            tile = nl.zeros((8, 16), nl.float32)
            nisa.dma_transpose(tile, table.vector_select(0, nl.load(index)), oob_mode=mode)
            nisa.dma_copy(dst, tile)

        return kernel

    want = np.where(index < 5, table[np.minimum(index[:, 0], 4)], 0).T
    got = through(body(nisa.oob_mode.skip), table, index, out=(8, 16))
    same_bits(got, np.ascontiguousarray(want.astype(np.float32)))
    with pytest.raises(Exception, match="index 5 at row 5 is out of bounds"):
        through(body(nisa.oob_mode.error), table, index, out=(8, 16))


def chosen(table, rows, dtype=np.uint32):
    index = nl.ndarray((rows, 1), dtype)
    nisa.memset(index, 0)
    return table.vector_select(0, index)


INDEX_REFUSALS = {
    "dma_transpose.index: 8 indices": lambda d, x: nisa.dma_transpose(
        nl.ndarray((8, 8), nl.float32), chosen(x, 8)
    ),
    "index is s32": lambda d, x: nisa.dma_transpose(
        nl.ndarray((8, 16), nl.float32), chosen(x, 16, np.int32)
    ),
    "dma_transpose.dge_mode: indices are followed by swdge": lambda d, x: nisa.dma_transpose(
        nl.ndarray((8, 16), nl.bfloat16),
        chosen(nl.ndarray((4, 8), nl.bfloat16, nl.private_hbm), 16),
        dge_mode=nisa.dge_mode.hwdge,
    ),
    "dma_copy.dge_mode: indices are followed by swdge": lambda d, x: nisa.dma_copy(
        d, chosen(x, 4), dge_mode=nisa.dge_mode.hwdge
    ),
    "dma_copy.index: dst and src both go by indices": lambda d, x: nisa.dma_copy(
        chosen(d, 4), chosen(x, 4)
    ),
    "dma_compute.srcs: the source": lambda d, x: nisa.dma_compute(
        chosen(d, 4), [chosen(d, 4), nl.load(x)], nl.add
    ),
    "dma_compute.srcs: with indices": lambda d, x: nisa.dma_compute(
        chosen(d, 4), [nl.load(x), nl.load(x)], nl.add
    ),
    "register_load.index": lambda d, x: nisa.register_load(
        nisa.register_alloc(), chosen(x.reshape([32, 1]), 1)
    ),
    "takes no further views": lambda d, x: nisa.dma_copy(d, chosen(x, 4)[:, :4]),
}


@pytest.mark.parametrize("words", INDEX_REFUSALS)
def test_indices_are_followed_or_refused(words):
    assert words in refused(INDEX_REFUSALS[words], np.zeros((4, 8), np.float32))


DESCRIPTOR_REFUSALS = {
    "dma_copy.engine": lambda d, x: nisa.dma_copy(
        d, x, engine=nisa.engine.vector, dge_mode=nisa.dge_mode.hwdge
    ),
    "with hwdge alone": lambda d, x: nisa.dma_copy(d, x, engine=nisa.engine.scalar),
    "hwdge moves bits": lambda d, x: nisa.dma_copy(
        nl.ndarray((4, 8), nl.bfloat16), x, dge_mode=nisa.dge_mode.hwdge
    ),
    "dma_transpose.hwdge: src is [8, 8]": lambda d, x: nisa.dma_transpose(
        nl.ndarray((8, 8), nl.float32),
        nl.ndarray((8, 8), nl.float32, nl.private_hbm),
        dge_mode=nisa.dge_mode.hwdge,
    ),
    "dma_transpose.hwdge: src is f32 with 16 rows": lambda d, x: nisa.dma_transpose(
        nl.ndarray((8, 16), nl.float32),
        nl.ndarray((16, 8), nl.float32, nl.private_hbm),
        dge_mode=nisa.dge_mode.hwdge,
    ),
    "dma_compute.scales: 2 scales for 1": lambda d, x: nisa.dma_compute(
        d, [x], nl.add, scales=[1.0, 1.0]
    ),
}


@pytest.mark.parametrize("words", DESCRIPTOR_REFUSALS)
def test_descriptor_rules(words):
    assert words in refused(DESCRIPTOR_REFUSALS[words], np.zeros((4, 8), np.float32))


@pytest.mark.trn2
@pytest.mark.parametrize("priority", [0, 3])
def test_priority_is_of_trn3(priority):
    words = refused(lambda d, x: nisa.dma_copy(d, x, priority), np.zeros((4, 8), np.float32))
    assert "dma_copy.priority: classes of priority exist from trn3 on" in words


@pytest.mark.trn3
@pytest.mark.parametrize("function", ["dma_copy", "dma_transpose"])
def test_priorities_are_0_to_3(function, rng):
    x = rng.standard_normal((4, 8)).astype(np.float32)
    transposes = function == "dma_transpose"
    tile_shape = (8, 4) if transposes else (4, 8)

    def body(priority):
        def kernel(dst, x):
            tile = nl.ndarray(tile_shape, nl.float32)
            getattr(nisa, function)(tile, x, priority=priority)
            nisa.dma_copy(dst, tile)

        return kernel

    for priority in range(4):
        got = through(body(priority), x, out=tile_shape)
        same_bits(got, np.ascontiguousarray(x.T) if transposes else x)
    assert f"{function}.priority: priority is 7, allowed are 0 to 3" in refused(body(7), x)


@pytest.mark.parametrize("mode", nisa.dge_mode)
@pytest.mark.parametrize("engine", [nisa.engine.unknown, nisa.engine.scalar, nisa.engine.sync])
def test_who_makes_descriptors_changes_no_value(mode, engine, rng):
    if engine != nisa.engine.unknown and mode != nisa.dge_mode.hwdge:
        return
    x = rng.standard_normal((16, 8)).astype(BF16)
    got = through(
        lambda d, s: nisa.dma_copy(d, s, dge_mode=mode, engine=engine),
        x,
        out=x.shape,
        out_dtype=BF16,
    )
    same_bits(got, x)

    def body(dst, x):
        tile = nl.ndarray((8, 16), BF16)
        nisa.dma_transpose(tile, x, dge_mode=mode)
        nisa.dma_copy(dst, tile)

    got = through(body, x, out=(8, 16), out_dtype=BF16)
    same_bits(got, np.ascontiguousarray(x.T))


@pytest.mark.parametrize("unique", [True, False])
def test_read_modify_write_takes_rows_in_order(unique, rng):
    table = rng.integers(-9, 9, (6, 8)).astype(np.float32)
    values = rng.integers(-9, 9, (4, 8)).astype(np.float32)
    index = np.array([[3], [1], [3], [0]], np.int32)

    def body(dst, table, values, index):
        nisa.dma_copy(dst, table)
        target = dst.vector_select(0, nl.load(index))
        nisa.dma_compute(target, [target, nl.load(values)], nl.add, unique_indices=unique)

    want = table.copy()
    np.add.at(want, index[:, 0], values)
    same_bits(through(body, table, values, index, out=(6, 8)), want)
