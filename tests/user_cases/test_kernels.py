"""NKI kernels: what they compute, what they may not do, how often they can be called."""

import threading

import ml_dtypes
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest

import nki

BF16 = ml_dtypes.bfloat16


def _stored(tile):
    out = nl.ndarray(tile.shape, tile.dtype, buffer=nl.shared_hbm)
    nl.store(out, tile)
    return out


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.int8, np.float32, BF16])
@pytest.mark.parametrize("how", ["copy", "tensor_copy"])
def test_a_copy_is_no_alias(dtype, how):
    """U101: what was copied changed with its source, in one of simulator and chip."""

    def kernel(a):
        x = nl.load(a)
        if how == "copy":
            y = nl.copy(x)
        else:
            y = nl.ndarray(x.shape, x.dtype)
            nisa.tensor_copy(y, x)
        nisa.tensor_tensor(x, x, x, nl.add)
        return _stored(y), _stored(x)

    y, x = nki.simulate(kernel)(np.ones((1, 1), dtype))
    assert y.tolist() == [[1]]
    assert x.tolist() == [[2]]


def test_splitting_a_free_dimension():
    """U103: a reshape that splits a free dimension was right in the simulator only."""
    w = np.arange(128 * 128, dtype=np.float32).reshape(128, 128)

    def by_reshape(w):
        blocks = nl.load(w).reshape((128, 2, 64))
        out = nl.ndarray((2, 64, 128), w.dtype, buffer=nl.shared_hbm)
        for i in range(2):
            nl.store(out[i], nl.transpose(blocks[:, i, :]))
        return out

    def by_loads(w):
        out = nl.ndarray((2, 64, 128), w.dtype, buffer=nl.shared_hbm)
        for i in range(2):
            nl.store(out[i], nl.transpose(nl.load(w[:, nl.ds(64 * i, 64)])))
        return out

    want = w.reshape(128, 2, 64).transpose(1, 2, 0)
    np.testing.assert_array_equal(nki.simulate(by_loads)(w), want)
    np.testing.assert_array_equal(nki.simulate(by_reshape)(w), want)


def test_blocks_of_a_split_tile_accumulate():
    """U103: as in a convolution, one block per tap."""
    rng = np.random.default_rng(0)
    w = rng.standard_normal((128, 2 * 64), dtype=np.float32)
    x = rng.standard_normal((128, 2 * 32), dtype=np.float32)

    def kernel(w, x):
        taps, columns = nl.load(w).reshape((128, 2, 64)), nl.load(x).reshape((128, 2, 32))
        psum = nl.ndarray((64, 32), nl.float32, nl.psum)
        for i in range(2):
            nisa.nc_matmul(psum, taps[:, i, :], columns[:, i, :], accumulate=i > 0)
        return _stored(nl.copy(psum))

    want = sum(w[:, 64 * i :][:, :64].T @ x[:, 32 * i :][:, :32] for i in range(2))
    np.testing.assert_allclose(nki.simulate(kernel)(w, x), want, rtol=1e-4, atol=1e-4)


ACTIVATIONS = {
    "copy": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "exp": np.exp,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "square": np.square,
    "gelu": None,
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@pytest.mark.parametrize("bias", [None, 0.0, 3.0])
@pytest.mark.parametrize("dtype", [np.float32, BF16])
def test_activation_adds_its_bias(name, bias, dtype):
    """U104: with op=copy the bias was left out."""

    def kernel(x, b):
        data = nl.load(x)
        result = nl.ndarray(x.shape, x.dtype)
        options = {} if bias is None else {"bias": nl.load(b)}
        nisa.activation(result, getattr(nl, name), data, scale=0.5, **options)
        return _stored(result)

    x = np.random.default_rng(0).standard_normal((128, 64)).astype(dtype)
    b = np.full((128, 1), bias or 0.0, np.float32)
    got = nki.simulate(kernel)(x, b).astype(np.float64)
    arguments = x.astype(np.float64) * 0.5 + (bias or 0.0)
    function = ACTIVATIONS[name] or _gelu
    tolerance = 1e-5 if dtype == np.float32 else 1e-2
    np.testing.assert_allclose(got, function(arguments), rtol=tolerance, atol=tolerance)


def _gelu(x):
    from scipy.special import erf

    return x * 0.5 * (1 + erf(x / np.sqrt(2)))


@pytest.mark.parametrize("buffer", ["sbuf", "psum", "shared_hbm", "private_hbm"])
@pytest.mark.parametrize("keyword", [False, True])
@pytest.mark.parametrize("make", ["zeros", "ones", "full", "ndarray"])
def test_tensors_are_made_in_any_buffer(make, buffer, keyword):
    """U106: nl.zeros(buffer=...) was documented and refused."""

    def kernel(x):
        arguments = [(8, 16)] + ([3.0] if make == "full" else []) + [nl.float32]
        where = getattr(nl, buffer)
        function = getattr(nl, make)
        made = function(*arguments, buffer=where) if keyword else function(*arguments, where)
        if make == "ndarray":
            (nisa.dma_copy if "hbm" in buffer else nisa.tensor_copy)(made, nl.load(x))
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, made if "hbm" in buffer else nl.copy(made))
        return out

    x = np.full((8, 16), 7, np.float32)
    want = {"zeros": 0, "ones": 1, "full": 3, "ndarray": 7}[make]
    np.testing.assert_array_equal(nki.simulate(kernel)(x), np.full((8, 16), want))


def test_a_dynamic_loop_inside_a_static_one():
    """U107: a copy after a dynamic loop failed with an error without content."""

    def kernel(x):
        tile = nl.load(x)
        for _ in nl.static_range(2):
            for _ in nl.dynamic_range(2):
                nisa.tensor_scalar(tile, tile, nl.add, 1.0)
            nisa.tensor_copy(tile[0:32, 0:4], tile[32:64, 4:8])
        return _stored(tile)

    x = np.arange(128 * 8, dtype=np.float32).reshape(128, 8)
    want = x.copy()
    for _ in range(2):
        want += 2
        want[0:32, 0:4] = want[32:64, 4:8]
    np.testing.assert_array_equal(nki.simulate(kernel)(x), want)


def test_a_start_partition_that_the_engines_cannot_reach():
    """U107, U114: the message names the rule and the line."""

    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_copy(tile[0:2, :], tile[1:3, :])
        return _stored(tile)

    with pytest.raises(nki.NkiValidationError, match="partition") as caught:
        nki.simulate(kernel)(np.zeros((128, 8), np.float32))
    assert caught.value.lineno == kernel.__code__.co_firstlineno + 2


@pytest.mark.parametrize("count", [0, 1, 7])
def test_counted_loops(count):
    """U109: loops of the language failed in the compiler and had to be unrolled."""

    def kernel(x):
        tile = nl.load(x)

        def body(_):
            nisa.tensor_scalar(tile, tile, nl.multiply, 0.99)

        nl.fori_loop(0, count, body)
        return _stored(tile)

    x = np.random.default_rng(0).standard_normal((128, 512)).astype(np.float32)
    want = x
    for _ in range(count):
        want = want * np.float32(0.99)
    np.testing.assert_array_equal(nki.simulate(kernel)(x), want)


def test_nested_dynamic_loops():
    """U109: the inner bound follows the outer counter."""

    def kernel(x):
        tile = nl.load(x)
        for n in nl.dynamic_range(4):
            for _ in nl.dynamic_range(0, n + 1):
                nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        return _stored(tile)

    np.testing.assert_array_equal(nki.simulate(kernel)(np.zeros((8, 8), np.float32)), 10)


@pytest.mark.parametrize(
    "name",
    ["simulate_kernel", "par_dim", "mgrid", "precise_schedule", "arange", "baremetal", "benchmark"],
)
def test_names_of_other_releases_say_what_replaces_them(name):
    """U111: samples break with each release; a removed name must not end in zeros."""
    found = [module for module in (nki, nl, nisa) if hasattr(module, name)]
    if not found:
        with pytest.raises(AttributeError, match=name):
            getattr(nki, name)
    else:
        for module in found:
            assert callable(getattr(module, name))


@pytest.mark.parametrize("dtype", [np.int8, np.int32, BF16, np.float32])
@pytest.mark.parametrize("value", [0, 0.0, 1.5, float("nan"), float("inf")])
def test_memset_of_a_value_that_fits_the_tile(dtype, value):
    """U112: memset minded whether zero was written 0 or 0.0."""

    def kernel(x):
        tile = nl.ndarray(x.shape, x.dtype)
        nisa.memset(tile, value)
        return _stored(tile)

    x = np.zeros((4, 4), dtype)
    integer = np.dtype(dtype).kind == "i"
    if integer and not float(value).is_integer():
        with pytest.raises(nki.NkiValidationError) as caught:
            nki.simulate(kernel)(x)
        assert str(value) in str(caught.value)
        assert f"s{np.dtype(dtype).itemsize * 8}" in str(caught.value)
    else:
        got = nki.simulate(kernel)(x).astype(np.float64)
        np.testing.assert_array_equal(got, np.full((4, 4), value, np.float64))


LEGAL = [(0, 1), (0, 2), (0, 32), (0, 64), (0, 128), (32, 1), (32, 32), (64, 64), (64, 2), (96, 32)]
ILLEGAL = [(1, 1), (1, 2), (33, 32), (98, 2), (32, 64), (96, 64)]


def _partitions(start, size):
    def kernel(x):
        tile = nl.load(x)
        result = nl.ndarray((size, 16), x.dtype)
        nisa.tensor_copy(result, tile[start : start + size, :])
        return _stored(result)

    return kernel


@pytest.mark.parametrize(("start", "size"), LEGAL)
def test_partitions_that_an_access_may_start_at(start, size):
    """U114: the table of legal starts and sizes."""

    x = np.arange(128 * 16, dtype=np.float32).reshape(128, 16)
    np.testing.assert_array_equal(
        nki.simulate(_partitions(start, size))(x), x[start : start + size]
    )


@pytest.mark.parametrize(("start", "size"), ILLEGAL)
def test_partitions_that_an_access_may_not_start_at(start, size):
    """U114: refused while tracing, with the numbers."""

    with pytest.raises((nki.NkiValidationError, IndexError)) as caught:
        nki.simulate(_partitions(start, size))(np.zeros((128, 16), np.float32))
    assert str(start) in str(caught.value)


LIMITS = {
    "partitions": lambda x: nl.ndarray((129, 8), nl.float32),
    "stationary": lambda x: nisa.nc_matmul(
        nl.ndarray((128, 512), nl.float32, nl.psum), nl.ndarray((128, 129), nl.float32), nl.load(x)
    ),
    "moving": lambda x: nisa.nc_matmul(
        nl.ndarray((128, 513), nl.float32, nl.psum),
        nl.ndarray((128, 128), nl.float32),
        nl.ndarray((128, 513), nl.float32),
    ),
    "psum": lambda x: [nl.ndarray((128, 512), nl.float32, nl.psum) for _ in range(9)],
    "sbuf": lambda x: [nl.ndarray((128, 20_000), nl.float32) for _ in range(4)],
}


@pytest.mark.parametrize("limit", LIMITS)
def test_sizes_beyond_a_limit(limit):
    """U114: tiles, matmul operands, memories: refused with the limit."""

    def kernel(x):
        kept = LIMITS[limit](x)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x)
        del kept
        return out

    with pytest.raises((nki.NkiValidationError, nki.NkiCapacityError), match=r"\d"):
        nki.simulate(kernel)(np.zeros((128, 512), np.float32))


@pytest.mark.parametrize("loop", ["affine_range", "sequential_range", "static_range"])
def test_state_carried_by_a_loop(loop):
    """U116: += on anything but a matmul's accumulator was a danger; so was a carried maximum."""

    def kernel(a, b, x):
        psum = nl.ndarray((64, 32), nl.float32, nl.psum)
        total, peak = nl.zeros((128, 16), nl.float32), nl.full((128, 16), -1e30, nl.float32)
        for k in getattr(nl, loop)(4):
            rows = nl.ds(128 * k, 128)
            nisa.nc_matmul(psum, nl.load(a[rows]), nl.load(b[rows]), accumulate=k > 0)
            tile = nl.load(x[rows])
            total += tile
            nisa.tensor_tensor(peak, peak, tile, nl.maximum)
        return _stored(nl.copy(psum)), _stored(total), _stored(peak)

    rng = np.random.default_rng(0)
    a, b, x = (rng.standard_normal((512, n)).astype(np.float32) for n in (64, 32, 16))
    product, total, peak = nki.simulate(kernel)(a, b, x)
    np.testing.assert_allclose(product, a.T @ b, rtol=1e-4, atol=1e-4)
    blocks = x.reshape(4, 128, 16)
    np.testing.assert_allclose(total, blocks.sum(0), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(peak, blocks.max(0))


@nki.jit
def double(x):
    tile = nl.load(x)
    nisa.tensor_scalar(tile, tile, nl.multiply, 2)
    return _stored(tile)


def test_a_kernel_is_called_again_and_again():
    """U118: the second call corrupted the heap."""
    run = nki.simulate(double)
    for i in range(50):
        x = np.full((8, 4 + i % 3), i, np.float32)
        np.testing.assert_array_equal(run(x), 2 * x)
    for dtype in (np.int32, np.float16, BF16, np.int8):
        x = np.arange(12).reshape(3, 4).astype(dtype)
        np.testing.assert_array_equal(run(x), (2 * x).astype(dtype))


def test_a_kernel_is_called_from_two_threads():
    """U118: at the same time."""
    run = nki.simulate(double)
    wrong = []

    def work(seed):
        for i in range(20):
            x = np.full((16, 8 + i % 2), seed + i, np.float32)
            if not np.array_equal(run(x), 2 * x):
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(1000 * t,)) for t in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_kernel_is_called_after_it_failed():
    """U118: after an exception inside of it; U138: the exception keeps its type and text."""

    def kernel(x, fail):
        if fail:
            raise LookupError("no such row in my table")
        return _stored(nl.load(x))

    run = nki.simulate(kernel)
    x = np.ones((4, 4), np.float32)
    for _ in range(3):
        with pytest.raises(LookupError, match="no such row in my table"):
            run(x, True)
        np.testing.assert_array_equal(run(x, False), x)


def _with_operators(x, nl):
    e = nl.exp(x - nl.max(x, axis=1, keepdims=True))
    return e / nl.sum(e, axis=1, keepdims=True)


def _with_functions(x, nl):
    e = nl.exp(nl.subtract(x, nl.max(x, axis=1, keepdims=True)))
    return nl.divide(e, nl.sum(e, axis=1, keepdims=True))


def _with_reciprocal(x, nl):
    e = nl.exp(nl.subtract(x, nl.max(x, axis=1, keepdims=True)))
    return nl.multiply(e, nl.reciprocal(nl.sum(e, axis=1, keepdims=True)))


SOFTMAXES = {
    "operators": _with_operators,
    "functions": _with_functions,
    "reciprocal": _with_reciprocal,
}


@pytest.mark.parametrize("way", SOFTMAXES)
def test_softmax_in_the_words_of_the_language(way):
    """U119: minus and divide were missing, and imports inside a kernel failed on one side."""
    offsets, shape = [0, 0], (128, 512)

    def kernel(x, start=0):
        import nki.language as inner

        result = SOFTMAXES[way](inner.load(x), inner)
        out = inner.ndarray(shape, x.dtype, buffer=inner.shared_hbm)
        inner.store(out[start + offsets[0] :], result)
        return out

    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    powers = np.exp(x - x.max(1, keepdims=True))
    want = powers / powers.sum(1, keepdims=True)
    np.testing.assert_allclose(nki.simulate(kernel)(x), want, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(nki.jit(kernel)(x), want, rtol=1e-5, atol=1e-6)


def test_the_device_time_of_a_kernel_is_told_apart():
    """U099: wall clock counted compilation and the host, and looked hundreds of times too slow."""

    def kernel(a, b):
        psum = nl.ndarray((128, 512), nl.float32, nl.psum)
        nisa.nc_matmul(psum, nl.load(a), nl.load(b))
        return _stored(nl.copy(psum))

    run = nki.simulate(kernel)
    a, b = np.ones((128, 128), np.float32), np.ones((128, 512), np.float32)
    times = []
    for _ in range(10):
        run(a, b)
        times.append(run.report.time_us)
    assert len(set(times)) == 1
    assert 0.5 < times[0] < 100
