"""The three kernels of examples/nki against NumPy, on the emulator and without PyTorch."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import nki

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from examples.nki.matmul import matmul_tiled  # noqa: E402
from examples.nki.softmax import softmax_rows  # noqa: E402
from examples.nki.tensor_add import tensor_add  # noqa: E402


@pytest.fixture
def rng():
    return np.random.default_rng(11)


def test_tensor_add_is_bit_equal(rng):
    a = rng.standard_normal((256, 1024), dtype=np.float32)
    b = rng.standard_normal((256, 1024), dtype=np.float32)
    np.testing.assert_array_equal(nki.simulate(tensor_add)(a, b), a + b)


@pytest.mark.parametrize("shape", [(512, 512, 512), (128, 128, 512), (256, 384, 1024)])
def test_matmul(shape, rng):
    depth, rows, columns = shape
    a = rng.standard_normal((depth, rows), dtype=np.float32)
    b = rng.standard_normal((depth, columns), dtype=np.float32)
    run = nki.simulate(matmul_tiled)
    exact = a.T.astype(np.float64) @ b
    np.testing.assert_allclose(run(a, b), exact, rtol=0, atol=1e-6 * depth)
    matmuls = depth // 128 * (rows // 128) * (columns // 512)
    assert run.report.instructions["nc_matmul"] == matmuls


@pytest.mark.parametrize("rows", [1, 100, 128, 300])
def test_softmax(rows, rng):
    x = 5 * rng.standard_normal((rows, 777), dtype=np.float32)
    powers = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    expected = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(nki.simulate(softmax_rows)(x), expected, rtol=2e-6, atol=1e-9)


def test_time_is_modelled_and_grows_with_the_work(rng):
    small, large = nki.simulate(tensor_add), nki.simulate(tensor_add)
    a = rng.standard_normal((128, 512), dtype=np.float32)
    small(a, a)
    b = rng.standard_normal((1024, 1024), dtype=np.float32)
    large(b, b)
    assert 0 < small.report.time_us < large.report.time_us
    # Moving 3 x 4 MiB at the core's 385 GB/s of DMA takes 32.7 us; nothing can be faster.
    assert large.report.time_us > 3 * b.nbytes / 385e9 * 1e6


def test_script_prints_times_without_importing_torch():
    code = "import runpy, sys; runpy.run_module('examples.nki'); assert 'torch' not in sys.modules"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            code.replace(
                "run_module('examples.nki')", "run_module('examples.nki', run_name='__main__')"
            ),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for line in ("tensor add 512x512", "matmul 512x512x512", "row softmax 512x512"):
        assert any(row.startswith(line) and " us" in row for row in done.stdout.splitlines())
