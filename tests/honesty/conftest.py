"""What the honesty checks share: the gallery's records, made once per dtype in a process apart."""

import os
from functools import cache
from tempfile import mkdtemp

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
        pytest.fail("device neuron does not exist; is torchneuron installed?")


@pytest.fixture(scope="session", autouse=True)
def _programs_in_a_directory_of_the_session(tmp_path_factory):
    """Compiled once in the session, nothing from before it."""
    before = os.environ.get("TORCH_NEURONX_NEFF_CACHE_DIR")
    os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"] = str(tmp_path_factory.mktemp("programs"))
    yield
    if before is None:
        del os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"]
    else:
        os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"] = before


@cache
def records_of(dtype: str) -> dict[str, dict]:
    # A directory of its own: what appears in it during an entry is that entry's.
    directory = mkdtemp(dir=os.environ["TORCH_NEURONX_NEFF_CACHE_DIR"])
    return gallery_process.run(
        dtype, TORCHNEURON_STRICT="1", TORCH_NEURONX_NEFF_CACHE_DIR=directory
    )


@pytest.fixture(params=gallery.DTYPES)
def dtype(request):
    return request.param


@pytest.fixture(params=list(gallery.ENTRIES))
def entry(request):
    return gallery.ENTRIES[request.param]


@pytest.fixture
def records(device, dtype):
    return records_of(dtype)


@pytest.fixture
def record(device, entry, dtype):
    return records_of(dtype)[entry.name]
