"""quantize_mx and nc_matmul_mx, with ml_dtypes' formats."""

import ml_dtypes
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest
from nki_tiles import BF16, refused, same_bits

import nki

pytestmark = pytest.mark.trn3

F16 = np.dtype(np.float16)
FORMATS = {
    "float8_e4m3fn_x4": (np.dtype(ml_dtypes.float8_e4m3fn), 8),
    "float8_e5m2_x4": (np.dtype(ml_dtypes.float8_e5m2), 15),
}


def groups(x):
    """[P, F] as [P / 8, 8, F / 4, 4]."""
    return x.reshape(x.shape[0] // 8, 8, x.shape[1] // 4, 4)


def reference(x, packed):
    """Quantised values [P, F] and scale bytes [P / 8, F / 4]."""
    fp8, max_exponent = FORMATS[packed]
    a = np.abs(groups(x.astype(np.float64))).max(axis=(1, 3))
    with np.errstate(divide="ignore"):
        exponent = np.where(a > 0, np.floor(np.log2(a)) - (max_exponent - 1), -127)
    exponent = np.maximum(exponent, -127)
    scaled = groups(x.astype(np.float64)) / 2.0 ** exponent[:, None, :, None]
    return scaled.reshape(x.shape).astype(np.float32).astype(fp8), (exponent + 127).astype(np.uint8)


def scale_rows(rows):
    """Where the scales of a tile's groups lie."""
    return [32 * (group // 4) + group % 4 for group in range(rows // 8)]


def quantize(x, packed, offset=0):
    """Runs quantize_mx: bytes of dst, and the scale tile."""
    rows, free = x.shape

    def kernel(x):
        dst = nl.ndarray((rows, free // 4), packed)
        scales = nl.zeros((128, free // 4), nl.uint8)
        nisa.quantize_mx(dst, nl.load(x), scales[offset : offset + rows - 28])
        out = nl.ndarray((rows, free // 4), nl.uint32, nl.shared_hbm)
        nl.store(out, dst.view(nl.uint32))
        out_scales = nl.ndarray((128, free // 4), nl.uint8, nl.shared_hbm)
        nl.store(out_scales, scales)
        return out, out_scales

    return nki.simulate(kernel)(x)


@pytest.mark.parametrize("packed", FORMATS)
@pytest.mark.parametrize("dtype", [F16, BF16], ids=str)
@pytest.mark.parametrize("shape", [(32, 4), (64, 20), (128, 512), (96, 8)])
@pytest.mark.parametrize("spread", [1, 1e-3, 300])
def test_quantize(packed, dtype, shape, spread, rng):
    x = (spread * rng.standard_normal(shape)).astype(dtype)
    x[:8, :4] = 0  # a group of zeros
    values, scales = reference(x, packed)
    got, got_scales = quantize(x, packed)
    same_bits(got.view(np.uint8), values.view(np.uint8))
    rows = scale_rows(shape[0])
    same_bits(got_scales[rows], scales)
    assert not np.delete(got_scales, rows, axis=0).any()


@pytest.mark.parametrize("offset", [0, 4, 8, 12])
def test_scales_of_four_tensors_share_a_tile(offset, rng):
    x = rng.standard_normal((128, 16)).astype(BF16)
    _, scales = reference(x, "float8_e4m3fn_x4")
    _, got = quantize(x, "float8_e4m3fn_x4", offset)
    same_bits(got[[offset + row for row in scale_rows(128)]], scales)


def test_infinity_and_nan_mark_their_group(rng):
    x = rng.standard_normal((32, 12)).astype(np.float32)
    x[3, 5], x[9, 2] = np.inf, np.nan
    _, scales = quantize(x.astype(BF16), "float8_e5m2_x4")
    special = np.zeros((4, 3), bool)
    special[0, 1] = special[1, 0] = True
    np.testing.assert_array_equal(scales[:4] == 255, special)


def random_operand(rng, packed, rows, free):
    """Packed words [rows, free], their values [rows, free, 4], a scale tile and scale per value."""
    if packed == "float4_e2m1fn_x4":
        nibbles = rng.integers(0, 16, (rows, free, 4))
        values = nibbles.astype(np.uint8).view(ml_dtypes.float4_e2m1fn).astype(np.float64)
        words = (nibbles << (4 * np.arange(4))).sum(axis=2).astype(np.uint16)
    else:
        values = rng.standard_normal((rows, free, 4)).astype(np.float32).astype(FORMATS[packed][0])
        words = np.ascontiguousarray(values).view(np.uint32)[..., 0]
        values = values.astype(np.float64)
    scales = np.zeros((rows, free), np.uint8)
    scales[scale_rows(rows)] = rng.integers(120, 134, (rows // 8, free))
    each = 2.0 ** (scales[scale_rows(rows)].astype(np.float64) - 127)
    return words, values * np.repeat(each, 8, axis=0)[..., None], scales


PACKED = [*FORMATS, "float4_e2m1fn_x4"]


def matmul(stationary, moving, kinds, out_dtype=np.float32, start=None, **tiling):
    (a, _, a_scale), (b, _, b_scale) = stationary, moving
    shape = (a.shape[1], b.shape[1])

    def kernel(arrays, start):
        a, a_scale, b, b_scale = [nl.load(array) for array in arrays]
        dst = nl.ndarray(shape, out_dtype, nl.psum)
        if start is not None:
            nisa.tensor_copy(dst, nl.load(start))
        nisa.nc_matmul_mx(
            dst,
            a.view(kinds[0]),
            b.view(kinds[1]),
            a_scale,
            b_scale,
            accumulate=start is not None or None,
            **tiling,
        )
        tile = nl.ndarray(shape, out_dtype)
        nisa.tensor_copy(tile, dst)
        out = nl.ndarray(shape, out_dtype, nl.shared_hbm)
        nl.store(out, tile)
        return out

    return nki.simulate(kernel)([a, a_scale, b, b_scale], start)


def product(stationary, moving):
    return np.einsum("kmj,knj->mn", stationary[1], moving[1])


@pytest.mark.parametrize("first", PACKED)
@pytest.mark.parametrize("second", PACKED)
@pytest.mark.parametrize("shape", [(32, 2, 1), (128, 128, 512), (64, 30, 77)])
def test_matmul(first, second, shape, rng):
    k, m, n = shape
    a, b = random_operand(rng, first, k, m), random_operand(rng, second, k, n)
    got = matmul(a, b, (first, second))
    scale = np.einsum("kmj,knj->mn", np.abs(a[1]), np.abs(b[1]))
    assert np.all(np.abs(got - product(a, b)) <= 1e-6 * scale + 1e-30)


def test_matmul_accumulates_and_narrows(rng):
    a, b = (random_operand(rng, "float8_e4m3fn_x4", 32, n) for n in (16, 40))
    start = rng.standard_normal((16, 40)).astype(np.float32)
    want = product(a, b)
    got = matmul(a, b, ["float8_e4m3fn_x4"] * 2, start=start)
    np.testing.assert_allclose(got, want + start, rtol=1e-5, atol=1e-4)
    got = matmul(a, b, ["float8_e4m3fn_x4"] * 2, BF16)
    np.testing.assert_allclose(got.astype(np.float64), want, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("rows", [32, 64, 128])
def test_row_tiles_change_no_value(rows, rng):
    a, b = (random_operand(rng, "float8_e5m2_x4", rows, n) for n in (16, 40))
    kinds = ["float8_e5m2_x4"] * 2
    got = matmul(a, b, kinds, tile_position=(0, 0), tile_size=(rows, 128))
    same_bits(got, matmul(a, b, kinds))


def test_moving_beyond_a_bank(rng):
    a, b = (random_operand(rng, "float8_e5m2_x4", 32, n) for n in (4, 4096))
    got = matmul(a, b, ["float8_e5m2_x4"] * 2)
    np.testing.assert_allclose(got, product(a, b), rtol=1e-4, atol=1e-3)


def test_quantised_product_is_close_to_the_products(rng):
    """The whole path: quantise both operands, multiply, compare with the exact product."""
    x, w = (rng.standard_normal((128, 4 * n)).astype(BF16) for n in (64, 32))

    def kernel(x, w):
        operands = []
        for source in (w, x):
            free = source.shape[1] // 4
            data = nl.ndarray((128, free), nl.float8_e4m3fn_x4)
            scale = nl.ndarray((128, free), nl.uint8)
            nisa.quantize_mx(data, nl.load(source), scale)
            operands.append((data, scale))
        (a, a_scale), (b, b_scale) = operands
        psum = nl.ndarray((32, 64), nl.float32, nl.psum)
        nisa.nc_matmul_mx(psum, a, b, a_scale, b_scale)
        tile = nl.ndarray((32, 64), nl.float32)
        nisa.tensor_copy(tile, psum)
        out = nl.ndarray((32, 64), nl.float32, nl.shared_hbm)
        nl.store(out, tile)
        return out

    got = nki.simulate(kernel)(x, w)
    a, b = (t.astype(np.float64).reshape(128, -1, 4) for t in (w, x))
    exact = np.einsum("kmj,knj->mn", a, b)
    error = np.abs(got - exact) / np.sqrt(512)
    assert error.max() < 0.2
    assert error.mean() < 0.05


def refusal(call, **tiles):
    """`call` on SBUF tiles of the given (shape, dtype)."""

    def body(dst):
        made = {name: nl.ndarray(*spec) for name, spec in tiles.items()}
        call(**made)

    return refused(body, out=(4, 4))


def test_refusals():
    x4, u8 = "float8_e4m3fn_x4", nl.uint8
    ok = {"dst": ((32, 8), x4), "src": ((32, 32), BF16), "dst_scale": ((32, 8), u8)}
    quantise = lambda **change: refusal(nisa.quantize_mx, **(ok | change))  # noqa: E731
    assert "src is f32" in quantise(src=((32, 32), nl.float32))
    assert "dst is f4e2m1fn_x4" in quantise(dst=((32, 8), "float4_e2m1fn_x4"))
    assert "expected a multiple of 4" in quantise(src=((32, 31), BF16))
    assert "dst has 7 elements per partition, expected 8" in quantise(dst=((32, 7), x4))
    assert "expected a multiple of 32" in quantise(
        src=((16, 32), BF16), dst=((16, 8), x4), dst_scale=((16, 8), u8)
    )
    assert "the number of scale rows is 3, allowed are 4 to 32" in quantise(dst_scale=((3, 8), u8))
    assert "dst_scale has 7 elements" in quantise(dst_scale=((32, 7), u8))

    def misplaced(dst_scale, **rest):
        nisa.quantize_mx(dst_scale=dst_scale[2:6], **rest)

    assert "scales start at 0, 4, 8 or 12 of a quadrant" in refusal(misplaced, **ok)

    def multiply(tiling=(), **change):
        tiling = dict(tiling)
        made = {
            "stationary": ((32, 16), x4),
            "moving": ((32, 8), x4),
            "stationary_scale": ((32, 16), u8),
            "moving_scale": ((32, 8), u8),
        } | change
        return refusal(
            lambda **tiles: nisa.nc_matmul_mx(
                nl.ndarray((16, 8), nl.float32, nl.psum), accumulate=False, **tiles, **tiling
            ),
            **made,
        )

    assert "M is 15, expected an even number" in multiply(
        stationary=((32, 15), x4), stationary_scale=((32, 15), u8)
    )
    assert "nc_matmul_mx.moving: moving's free size N is 4097" in multiply(
        moving=((32, 4097), x4), moving_scale=((32, 4097), u8)
    )
    assert "nc_matmul_mx.tiling: a column tile of 64" in multiply(
        {"tile_position": (0, 0), "tile_size": (32, 64)}
    )
    assert "nc_matmul_mx.tiling: stationary lies in partitions 0 to 32" in multiply(
        {"tile_position": (64, 0), "tile_size": (32, 128)}
    )
    assert "moving is f8e4m3fn" in multiply(moving=((32, 8), nl.float8_e4m3fn))
    assert "expected [M, N] = [16, 9]" in multiply(moving=((32, 9), x4), moving_scale=((32, 9), u8))
    assert "stationary_scale has 8 elements" in multiply(stationary_scale=((32, 8), u8))
    assert "expected a multiple of 32" in multiply(
        stationary=((48, 16), x4),
        moving=((48, 8), x4),
        stationary_scale=((48, 16), u8),
        moving_scale=((48, 8), u8),
    )


def test_memset_of_packed_tiles():
    def kernel():
        tile = nl.ndarray((32, 8), nl.float8_e4m3fn_x4)
        nisa.memset(tile, 0)
        out = nl.ndarray((32, 8), nl.uint32, nl.shared_hbm)
        nl.store(out, tile.view(nl.uint32))
        return out

    assert not nki.simulate(kernel)().any()
    assert "takes 0 only" in refusal(lambda t: nisa.memset(t, 1), t=((32, 8), nl.float8_e4m3fn_x4))
