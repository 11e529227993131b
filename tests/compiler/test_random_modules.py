"""Random modules against XLA: `--modules N` of them, from seed `--first-module` on.

Each runs as users run it, and once with checked memory: what reads bytes that nothing wrote can be
right by chance. `make fuzz` runs ten thousand. A failure names the seed and the first operation
that differs.
"""

import contextlib
import os
import warnings

import numpy as np
import pytest
import xla_oracle
from compiler.harness import Program, assert_close, row_major
from compiler.random_modules import Generator


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        first = metafunc.config.getoption("--first-module")
        count = metafunc.config.getoption("--modules")
        metafunc.parametrize("seed", range(first, first + count))


@contextlib.contextmanager
def checked_memory():
    os.environ["TORCHNEURON_CHECK_MEMORY"] = "1"
    try:
        yield
    finally:
        del os.environ["TORCHNEURON_CHECK_MEMORY"]


def compare(got, want, exact):
    if exact:
        np.testing.assert_array_equal(got, want)
    else:
        narrow = want.dtype.itemsize == 2
        assert_close(got, want, 5e-2 if narrow else 2e-3)


def evaluate(generator, length):
    """(results, XLA's results, exactness) of the module's first `length` operations."""
    flags = []

    def function(*arguments):
        values = generator.values(length, *arguments)
        flags[:] = [v.exact for v in values]
        return tuple(v.array for v in values)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        proto = row_major(xla_oracle.proto_of(function,
                                               *generator.arguments))  # fmt: skip
    want = [np.asarray(w) for w in xla_oracle.run(proto, generator.arguments)]
    program = Program(proto)
    got = program(*generator.arguments)
    with checked_memory():
        for checked, plain in zip(program(*generator.arguments), got, strict=True):
            np.testing.assert_array_equal(checked, plain, "with and without checked memory")
    return got, want, flags


def failure(generator, length):
    try:
        got, want, flags = evaluate(generator, length)
        for index, (g, w, exact) in enumerate(zip(got, want, flags, strict=True)):
            try:
                compare(g, w, exact)
            except AssertionError as e:
                return f"value {index}: {e}"
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return None


def test_matches_xla(seed):
    generator = Generator(seed, int(np.random.default_rng([seed, 2]).integers(5, 60)))
    whole = failure(generator, generator.length)
    if whole is None:
        return
    for length in range(generator.length + 1):
        if (found := failure(generator, length)) is not None:
            pytest.fail(f"seed {seed}, {length} operations: {found}")
    pytest.fail(f"seed {seed}, as a whole and only the first time: {whole}")
