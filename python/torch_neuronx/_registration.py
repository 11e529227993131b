"""What makes `neuron` a PyTorch device: the steps of autoload, in order."""

from __future__ import annotations

import atexit
import importlib.metadata

import torch
from torch.utils.backend_registration import (
    generate_methods_for_privateuse1_backend,
    rename_privateuse1_backend,
)


def register() -> None:
    _refuse_other_builds()
    rename_privateuse1_backend("neuron")
    from torch_neuronx import _C

    _C.register_hooks()
    _C.register_kernels()
    from torch_neuronx import neuron

    torch._register_device_module("neuron", neuron)  # type: ignore[no-untyped-call]
    torch.set_autocast_dtype("neuron", torch.bfloat16)
    generate_methods_for_privateuse1_backend(for_storage=True)
    from torch_neuronx import _default_compile, _dlpack, _fallback, _sharing

    _fallback.install_logger()
    _sharing.install()
    _dlpack.install()
    _default_compile.install()
    atexit.register(_C.drain_autograd_threads)


def _refuse_other_builds() -> None:
    try:
        found = importlib.metadata.distribution("torch-neuronx")
    except importlib.metadata.PackageNotFoundError:
        return
    raise ImportError(
        f"torchneuron and torch-neuronx {found.version} both provide the device 'neuron': "
        "uninstall one of them, or use an environment of its own for each"
    )
