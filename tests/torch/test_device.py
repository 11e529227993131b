"""The device exists without an import, and PyTorch's device API answers for it."""

import pytest
import torch
from processes import output


def test_autoload_needs_no_import():
    assert output("import torch; print(torch.ones(2, device='neuron').device)") == "neuron:0"


def test_autoload_imports_no_compiler_front_end():
    assert output("import torch, sys; print('torch._dynamo' in sys.modules)") == "False"


def test_importing_the_package_first_works():
    assert output("import torch_neuronx, torch; print(torch.neuron.is_available())") == "True"


def test_accelerator_is_neuron():
    assert torch.accelerator.is_available()
    assert torch.accelerator.current_accelerator().type == "neuron"
    assert torch.accelerator.device_count() == torch.neuron.device_count() >= 1


def test_properties():
    properties = torch.neuron.get_device_properties()
    assert properties.name in ("trn2", "trn3")
    assert properties.total_memory > 0
    assert "neuron" in torch.neuron.get_device_name().lower()


def test_set_device_and_guards():
    assert torch.neuron.current_device() == 0
    if torch.neuron.device_count() < 2:
        pytest.skip("one device")
    with torch.neuron.device(1):
        assert torch.neuron.current_device() == 1
        assert torch.empty(1, device="neuron").device.index == 1
    assert torch.neuron.current_device() == 0


def test_unknown_device_is_an_error_with_the_count():
    with pytest.raises(RuntimeError, match="device_count"):
        torch.empty(1, device="neuron:99")


def test_generated_methods():
    x = torch.ones(2).neuron()
    assert x.is_neuron
    assert torch.nn.Linear(2, 2).neuron().weight.is_neuron


CALLED_BY_NAME = """
is_available is_initialized _is_in_bad_fork current_device device_count set_device device
synchronize manual_seed manual_seed_all get_rng_state get_rng_state_all set_rng_state
set_rng_state_all default_generators get_amp_supported_dtype Stream Event stream current_stream
default_stream get_device_name get_device_properties get_device_capability memory_allocated
max_memory_allocated memory_reserved max_memory_reserved memory_stats reset_peak_memory_stats
empty_cache mem_get_info memory _lazy_init _lazy_call
"""


def test_module_has_what_pytorch_calls_by_name():
    for name in CALLED_BY_NAME.split():
        assert hasattr(torch.neuron, name), name
