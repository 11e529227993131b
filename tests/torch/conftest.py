import pytest
import torch


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


@pytest.fixture
def strict():
    """A CPU fallback inside the test is an error."""
    from torch_neuronx import _C

    before = _C.is_strict()
    _C.set_strict(True)
    yield
    _C.set_strict(before)
