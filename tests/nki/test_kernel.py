"""Kernels as objects: arguments, results, caching, nesting, grids, loops, reports."""

import ml_dtypes
import nki.isa as nisa
import nki.language as nl
import numpy as np
import pytest

import nki


@nki.jit
def scale(x, factor=2.0):
    out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
    tile = nl.load(x)
    nisa.tensor_scalar(tile, tile, nl.multiply, factor)
    nl.store(out, tile)
    return out


X = np.arange(12, dtype=np.float32).reshape(3, 4)


def test_calls_compile_once_per_signature():
    run = nki.simulate(scale)
    np.testing.assert_array_equal(run(X), 2 * X)
    np.testing.assert_array_equal(run(X + 1), 2 * (X + 1))
    assert len(run._compiled) == 1
    np.testing.assert_array_equal(run(X, 3.0), 3 * X)
    np.testing.assert_array_equal(run(X, factor=3.0), 3 * X)
    np.testing.assert_array_equal(run(X[:2].copy()), 2 * X[:2])
    assert len(run._compiled) == 4


@pytest.mark.parametrize(
    "dtype",
    [
        np.float32,
        np.float16,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e5m2,
        np.int32,
        np.int8,
        np.uint16,
    ],
)
def test_dtypes_pass_through(dtype):
    x = np.arange(12).reshape(3, 4).astype(dtype)
    out = nki.simulate(scale)(x, 2)
    assert out.dtype == x.dtype
    np.testing.assert_array_equal(out, (x.astype(np.float32) * 2).astype(dtype))


def test_int64_is_moved_and_its_low_word_read():
    def kernel(x):
        out = nl.ndarray(x.shape, nl.int64, buffer=nl.shared_hbm)
        nisa.dma_copy(out, x)
        words = x.view(nl.int32)
        low = nl.ndarray(x.shape, nl.int32, buffer=nl.shared_hbm)
        nisa.dma_copy(low, words[:, ::2])
        return out, low

    x = np.array([[1, -2, 3], [2**40 + 7, 5, -6]], dtype=np.int64)
    out, low = nki.simulate(kernel)(x)
    np.testing.assert_array_equal(out, x)
    np.testing.assert_array_equal(low, x.astype(np.int32))


def test_arguments_are_written_in_place_even_when_strided():
    def kernel(x):
        tile = nl.load(x)
        nisa.tensor_scalar(tile, tile, nl.add, 1.0)
        nl.store(x, tile)

    wide = np.zeros((4, 10), np.float32)
    assert nki.simulate(kernel)(wide[:, ::2]) is None
    np.testing.assert_array_equal(wide[:, ::2], 1)
    np.testing.assert_array_equal(wide[:, 1::2], 0)
    frozen = np.zeros((4, 4), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(nki.NkiValidationError, match="read-only"):
        nki.simulate(kernel)(frozen)


def test_results_keep_their_structure():
    def kernel(pair, names):
        a, b = pair
        assert names == {"one": 1}
        return {"sum": _sum(a, b), "both": [a, _sum(b, b)]}

    def _sum(a, b):
        out = nl.ndarray(a.shape, a.dtype, buffer=nl.shared_hbm)
        nl.store(out, nl.add(nl.load(a), nl.load(b)))
        return out

    result = nki.simulate(kernel)((X, X + 1), {"one": 1})
    np.testing.assert_array_equal(result["sum"], 2 * X + 1)
    assert result["both"][0] is X
    np.testing.assert_array_equal(result["both"][1], 2 * X + 2)


def test_kernels_nest():
    def outer(x):
        return scale(scale(x), 10.0)

    run = nki.simulate(outer)
    np.testing.assert_array_equal(run(X), 20 * X)


def test_grid_of_two_cores_shares_the_output():
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        half = x.shape[0] // nl.num_programs()
        rows = nl.ds(nl.program_id() * half, half)
        nl.store(out[rows], nl.negative(nl.load(x[rows])))
        return out

    x = np.arange(64, dtype=np.float32).reshape(8, 8)
    for lnc in (1, 2):
        run = nki.simulate(nki.jit(kernel)[lnc])
        np.testing.assert_array_equal(run(x), -x)
        assert run.report.instructions["dma_copy"] == 2 * lnc


def test_long_straight_line():
    def kernel(x):
        a, b = nl.load(x), nl.load(x)
        for i in range(1000):
            nisa.scalar_tensor_tensor(a, a, nl.multiply, 0.5, nl.add, b)
            if i % 50 == 0:
                nisa.tensor_copy(b, a)
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        nl.store(out, a)
        return out

    x = np.random.default_rng(1).standard_normal((16, 64)).astype(np.float32)
    a, b = x, x
    for i in range(1000):
        a = a * np.float32(0.5) + b
        b = a if i % 50 == 0 else b
    np.testing.assert_array_equal(nki.simulate(kernel)(x), a)


def test_hardware_loop_is_traced_once():
    def kernel(x):
        out = nl.ndarray(x.shape, x.dtype, buffer=nl.shared_hbm)
        for i in nl.dynamic_range(x.shape[0] // 128):
            rows = slice(i * 128, (i + 1) * 128)
            nl.store(out[rows], nl.square(nl.load(x[rows])))
        return out

    x = np.arange(1024 * 4, dtype=np.float32).reshape(1024, 4)
    run = nki.simulate(kernel)
    np.testing.assert_array_equal(run(x), x * x)
    assert sum(run.report.instructions.values()) == 5
    assert "loop_begin" in run.report.disassemble()


def test_fori_loop_bound_comes_from_memory():
    def kernel(x, count):
        out = nl.zeros(x.shape, x.dtype, buffer=nl.shared_hbm)
        rows = nisa.scalar_load(count, least=0, most=x.shape[0])

        def body(i):
            nl.store(out[i].reshape([1, 4]), nl.load(x[i].reshape([1, 4])))

        nl.fori_loop(0, rows, body)
        return out

    x = np.arange(40, dtype=np.float32).reshape(10, 4)
    run = nki.simulate(kernel)
    for count in (0, 1, 7, 10, 99):
        want = np.zeros_like(x)
        want[:count] = x[:count]
        np.testing.assert_array_equal(run(x, np.array([count], np.int32)), want)
    assert len(run._compiled) == 1


@pytest.mark.parametrize("through_register", [False, True])
def test_access_pattern_at_a_run_time_row_is_checked_at_run_time(through_register):
    def kernel(x, at):
        row = nl.load(at.reshape([1, 1]))
        if through_register:
            register = nisa.register_alloc()
            nisa.register_load(register, row)
            row = register
        tile = nl.ndarray((2, 4), x.dtype)
        nisa.dma_copy(tile, x.ap([[4, 2], [1, 4]], scalar_offset=row))
        out = nl.ndarray((2, 4), x.dtype, nl.shared_hbm)
        nl.store(out, tile)
        return out

    x = np.arange(40, dtype=np.float32).reshape(10, 4)
    run = nki.simulate(kernel)
    for row in (0, 3, 8):
        np.testing.assert_array_equal(run(x, np.array([row], np.int32)), x[row : row + 2])
    for row in (-1, 9):
        with pytest.raises(nki.NkiExecutionError):
            run(x, np.array([row], np.int32))


def test_report_tells_time_instructions_and_memory():
    run = nki.simulate(scale)
    assert run.report is None
    run(X)
    report = run.report
    assert report.kernel == "scale"
    assert report.target == "trn2"
    assert report.instructions == {"dma_copy": 2, "tensor_scalar": 1}
    # Two transfers of one queue, at least 0.86 us apart (measured on trn2), one after the other.
    assert report.time_us > 1.7
    assert report.sbuf_bytes == 16
    assert "test_kernel.py" in report.disassemble()
    assert "scale on trn2" in str(report)


def test_timeline_keeps_dependences():
    run = nki.simulate(scale)
    run(X)
    load, compute, store = run.report.timeline()
    assert (load.mnemonic, compute.mnemonic, store.mnemonic) == (
        "dma_copy",
        "tensor_scalar",
        "dma_copy",
    )
    assert compute.engine == "vector"
    assert compute.source.startswith("test_kernel.py:")
    assert 0 <= load.start_ps < load.end_ps <= compute.start_ps < compute.end_ps <= store.start_ps
    assert store.end_ps <= run.report.time_ps


def test_trace_needs_no_device():
    report = scale.trace(X)
    assert report.time_us is None
    assert report.instructions["tensor_scalar"] == 1


def test_other_target(monkeypatch):
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "gen4")
    assert scale.trace(X).target == "trn3"
    assert nisa.get_nc_version() == nisa.nc_version.gen4
    monkeypatch.setenv("NEURON_PLATFORM_TARGET_OVERRIDE", "trn9")
    with pytest.raises(nki.NkiError, match=r"trn2 \(gen3\), trn3 \(gen4\)"):
        scale.trace(X)


def test_torch_tensors_come_back_as_torch():
    torch = pytest.importorskip("torch")
    x = torch.arange(12, dtype=torch.bfloat16).reshape(3, 4)
    out = nki.simulate(scale)(x)
    assert out.dtype == torch.bfloat16
    assert torch.equal(out, x * 2)
