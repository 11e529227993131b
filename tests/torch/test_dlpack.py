"""DLPack: between tensors of the device without a copy, to and from the CPU with one."""

import numpy as np
import pytest
import torch


def test_memory_is_shared_between_tensors_of_the_device():
    x = torch.arange(6.0, device="neuron")
    y = torch.from_dlpack(x)
    assert y.device == x.device
    assert y.data_ptr() == x.data_ptr()
    y[0] = 7.0
    assert x.tolist() == [7.0, 1.0, 2.0, 3.0, 4.0, 5.0]


def test_the_memory_lives_as_long_as_its_consumer():
    y = torch.from_dlpack(torch.full((1000,), 3.0, device="neuron"))
    torch.zeros(1000, device="neuron")
    assert y.sum().item() == 3000.0


def test_views_keep_strides_and_offset():
    x = torch.arange(12.0).reshape(3, 4).to("neuron")[1:, ::2].t()
    y = torch.from_dlpack(x)
    assert (y.shape, y.stride()) == (x.shape, x.stride())
    assert torch.equal(y.cpu(), x.cpu())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.int64, torch.bool, torch.complex64])
def test_dtypes(dtype):
    x = torch.ones(3, dtype=dtype, device="neuron")
    assert torch.from_dlpack(x).dtype == dtype


def test_capsules():
    x = torch.arange(3.0, device="neuron")
    assert torch.from_dlpack(torch.utils.dlpack.to_dlpack(x)).tolist() == [0.0, 1.0, 2.0]


def test_to_the_cpu_and_back():
    x = torch.arange(3.0, device="neuron")
    on_cpu = torch.from_dlpack(x, device="cpu")
    assert on_cpu.device.type == "cpu"
    assert on_cpu.tolist() == [0.0, 1.0, 2.0]
    assert torch.from_dlpack(on_cpu, device="neuron").device.type == "neuron"


def test_from_numpy():
    assert torch.from_dlpack(np.arange(3.0), device="neuron").tolist() == [0.0, 1.0, 2.0]


def test_a_copy_may_be_asked_for():
    x = torch.arange(3.0, device="neuron")
    y = torch.from_dlpack(x, copy=True)
    assert y.data_ptr() != x.data_ptr()


def test_the_device_is_an_extension_device():
    kind, index = torch.ones(1, device="neuron").__dlpack_device__()
    assert kind == torch.utils.dlpack.DLDeviceType.kDLExtDev
    assert index == 0


def test_a_library_that_knows_only_the_cpu_refuses():
    """NumPy names the device as what it does not take."""
    with pytest.raises((BufferError, RuntimeError), match=r"(?i)device"):
        np.from_dlpack(torch.ones(3, device="neuron"))


def test_without_copying_it_does_not_cross_devices():
    with pytest.raises(ValueError, match="without copying"):
        torch.from_dlpack(torch.ones(3, device="neuron"), device="cpu", copy=False)
