"""Finding the device: autoload, a machine without the chip, an impostor package, a saved model."""

import pytest
from processes import output, run


def test_device_without_an_import():
    """U072: without the module nothing told which package to import."""
    assert output("import torch; print(torch.rand(1, 4).to('neuron').device)") == "neuron:0"


def test_device_with_autoload_off():
    """U072: the error names the package; importing it later helps."""
    program = "import torch; torch.rand(1, 4).to('neuron')"
    status, _, err = run(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert status != 0
    assert err.splitlines()[-1].endswith("device string: neuron")  # PyTorch's words: we are absent
    late = """
        import torch
        import torch_neuronx
        device = torch.device("neuron")
        print(torch.ones(2, device=device).sum().item())
    """
    assert output(late, TORCH_DEVICE_BACKEND_AUTOLOAD="0") == "2.0"


def test_runs_without_the_chip(tmp_path):
    """U136: one program with the chip and without it: save here, load where no device is."""
    path = tmp_path / "model.pt"
    program = f"""
        import torch
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 2)
        x = torch.arange(8.0).reshape(2, 4)
        want = model(x)
        model.to("neuron")
        torch.testing.assert_close(model(x.to("neuron")).cpu(), want)
        torch.save(dict(model=model.state_dict(), want=want), {str(path)!r})
    """
    output(program)
    program = f"""
        import torch
        saved = torch.load({str(path)!r}, map_location="cpu")
        model = torch.nn.Linear(4, 2)
        model.load_state_dict(saved["model"])
        x = torch.arange(8.0).reshape(2, 4)
        torch.testing.assert_close(model(x), saved["want"])
        try:
            print(torch.ones(1, device="neuron").device.type)
        except RuntimeError:
            print("cpu only")
    """
    assert output(program, TORCH_DEVICE_BACKEND_AUTOLOAD="0") == "cpu only"


def test_a_missing_runtime_library_is_named():
    """U156: a library that cannot be loaded is named, with what chose it."""
    status, _, err = run(
        "import torch; torch.rand(1).to('neuron')", TORCHNEURON_NRT_LIBRARY="/nowhere/libnrt.so.1"
    )
    assert status != 0
    assert "/nowhere/libnrt.so.1" in err
    assert "TORCHNEURON_NRT_LIBRARY" in err


def test_an_unknown_chip_lists_the_known_ones():
    """U156: a wrong name in the environment."""
    program = "import torch; torch.rand(1).to('neuron')"
    status, _, err = run(program, NEURON_PLATFORM_TARGET_OVERRIDE="trn9")
    assert status != 0
    assert "trn2" in err
    assert "trn3" in err


@pytest.mark.parametrize("program", ["import torch", "import torch; torch.ones(2) + 1"])
def test_cpu_work_says_nothing(program):
    """U156: who does not use the device does not hear of it."""
    status, out, err = run(program)
    assert (status, out, err) == (0, "", "")
