"""What the honesty checks share: the gallery's records, made once per dtype in a process apart."""

from functools import cache

import pytest
from honesty import gallery, gallery_process


def _device_is_here() -> bool:
    import torch

    try:
        torch.empty(0, device="neuron")
    except RuntimeError:
        return False
    return True


@pytest.fixture(scope="session")
def device():
    if not _device_is_here():
        pytest.skip("device neuron is not installed here")


@cache
def _records(dtype: str) -> dict[str, dict]:
    return gallery_process.run(dtype, TORCHNEURON_STRICT="1")


@pytest.fixture(params=gallery.DTYPES)
def dtype(request):
    return request.param


@pytest.fixture(params=list(gallery.ENTRIES))
def entry(request):
    return gallery.ENTRIES[request.param]


@pytest.fixture
def record(device, entry, dtype):
    return _records(dtype)[entry.name]
