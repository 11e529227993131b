"""PyTorch's op database on the device, with the CPU as the judge.

pytest tests/conformance                              what CI runs: 3 samples, 5 dtypes
pytest tests/conformance --samples 0 --dtypes all     everything
pytest tests/conformance --op softmax --device cpu    the harness itself
"""

import re

import pytest
import torch
from conformance import cases, engine
from conformance.expected_failures import EXPECTED, UNSUPPORTED
from conformance.on_cpu import ON_CPU


def _device_is_here(device: str) -> bool:
    try:
        torch.empty(0, device=device)
    except RuntimeError:
        return False
    return True


def pytest_generate_tests(metafunc):
    config = metafunc.config
    if "case" not in metafunc.fixturenames:
        return
    dtypes = config.getoption("--dtypes")
    chosen = cases.ALL_DTYPES if dtypes == "all" else tuple(filter(None, dtypes.split(",")))
    found = [
        c
        for c in cases.cases(chosen or cases.CI_DTYPES, (metafunc.function.__name__,))
        if config.getoption("--op") in c.op
    ]
    index, count = map(int, config.getoption("--shard").split("/"))
    found = cases.shard(found, index, count)
    metafunc.parametrize("case", found, ids=[f"{c.op}-{c.dtype}" for c in found])


@pytest.fixture(scope="session")
def device(request):
    torch.set_num_threads(1)
    name = request.config.getoption("--device")
    if not _device_is_here(name):
        pytest.fail(f"device {name!r} does not exist; is torchneuron installed?")
    return name


@pytest.fixture(scope="session")
def limit(request):
    return request.config.getoption("--samples") or None


VARIANT_SAMPLES = 2  # of out=, in place and backward: their forward is judged above


def _check(case, device, limit):
    if case.test in cases.VARIANTS:
        limit = min(limit or VARIANT_SAMPLES, VARIANT_SAMPLES)
    result = engine.run(case, device, limit)
    if device == "neuron" and case.op in UNSUPPORTED:
        _check_refusal(case, result)
        return
    if device == "neuron" and (case.test, case.dtype) == ("test_matches_cpu", "float32"):
        _check_place(case, result, limit)
    row = EXPECTED.get((case.test, case.op, case.dtype)) if device == "neuron" else None
    if row is None:
        assert result.passed, f"sample {result.first_failure}: {result.message}"
        return
    first, reason = row
    if not result.passed:
        pytest.xfail(reason)
    # Fewer samples than it takes to fail say nothing about the row.
    assert result.samples <= first, (
        f"{case} passes; delete its row from tests/conformance/expected_failures.py"
    )


def _check_place(case, result, limit):
    if case.op not in ON_CPU:
        assert not result.fallbacks, f"runs on the CPU: {sorted(result.fallbacks)}"
    elif limit is None or limit >= 3:  # fewer samples may all be native
        assert result.fallbacks, f"{case.op} runs on the device; delete it from on_cpu.py"


def _check_refusal(case, result):
    words, reason = UNSUPPORTED[case.op]
    if result.passed:
        assert case.test != "test_matches_cpu", f"{case} passes; delete the op from UNSUPPORTED"
        return
    assert result.message.startswith("NotImplementedError"), result.message
    assert words in result.message
    pytest.xfail(reason)


def test_matches_cpu(case, device, limit):
    _check(case, device, limit)


def test_errors_match(case, device, limit):
    _check(case, device, limit)


def test_dtypes_are_refused_alike(case, device, limit):
    _check(case, device, limit)


def test_overlap_matches_cpu(case, device, limit):
    _check(case, device, limit)


def test_channels_last_matches_cpu(case, device, limit):
    _check(case, device, limit)


def test_out_matches_cpu(case, device, limit):
    _check(case, device, limit)


def test_in_place_matches_cpu(case, device, limit):
    _check(case, device, limit)


def test_gradients_match_cpu(case, device, limit):
    _check(case, device, limit)


def test_rows_name_cases():
    known = {(c.test, c.op, c.dtype) for c in cases.cases(cases.ALL_DTYPES)}
    assert sorted(set(EXPECTED) - known) == []
    assert sorted(set(UNSUPPORTED) - {c.op for c in cases.cases(cases.ALL_DTYPES)}) == []


def test_reasons_are_sentences():
    """A raw message says what was seen, not what is wrong or what is to be done."""
    for _, reason in EXPECTED.values():
        assert not re.match(r"\w*(Error|Exception)\b", reason), reason
