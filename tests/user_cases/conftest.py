"""Every case: a fixed seed, no data error left behind, no fallback that the table does not list."""

import pytest
import torch
import torch_neuronx
from user_cases.expected_failures import EXPECTED
from user_cases.fallbacks import ON_CPU


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.parent.name == "user_cases":
            reason = EXPECTED.get(f"{item.path.name}::{item.name}")
            if reason is not None:
                item.add_marker(pytest.mark.xfail(reason=reason, strict=True))


@pytest.fixture(autouse=True)
def _fresh():
    torch.manual_seed(0)
    torch_neuronx.clear_op_tracking()
    yield
    torch.neuron.synchronize()


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    """After the test: what it ran on the CPU. Part of the call, so that a row can expect it."""
    result = yield
    if pyfuncitem.path.parent.name == "user_cases":
        fallen = sorted(set(torch_neuronx.get_fallback_ops()) - set(ON_CPU))
        assert not fallen, f"fell back to CPU: {fallen}"
    return result


@pytest.fixture
def fresh_dynamo():
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()
