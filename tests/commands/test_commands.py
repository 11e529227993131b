"""neuron-compile and neuron-objdump as a person at a shell meets them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import neuron_testing
import pytest

BIN = Path(neuron_testing.__file__).parent / "torch_neuronx" / "bin"


def run(command, *words):
    return subprocess.run(
        [BIN / command, *map(str, words)], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def module(tmp_path):
    x = jnp.zeros((100, 300), jnp.float32)
    lowered = jax.jit(lambda x, y: jnp.exp(x) * y).lower(x, x)
    path = tmp_path / "f.hlo.pb"
    path.write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    return path


def test_a_module_of_jax_compiles_and_disassembles(module, tmp_path):
    out = tmp_path / "f.neff"
    words = ("compile", "--framework", "XLA", "--target", "trn2", "--lnc=1", "-O2", module)
    result = run("neuron-compile", *words, "--output", out)
    assert (result.returncode, result.stderr) == (0, "")
    text = run("neuron-objdump", out).stdout
    assert "input1: 120000 bytes, parameter 1" in text
    assert "op=exp" in text
    assert "dma_copy" in text
    only = run("neuron-objdump", "--signature", out).stdout
    assert "output0" in only
    assert "dma_copy" not in only


def test_info_names_library_and_holders(tmp_path):
    environment = os.environ | {"NEURON_LOGICAL_NC_CONFIG": "2", "TMPDIR": str(tmp_path)}
    environment.pop("TORCHNEURON_MACHINE", None)

    def info(**more):
        command = [BIN / "neuron-info", "--json-output"]
        return json.loads(subprocess.check_output(command, env=environment | more, text=True))

    private = info()
    assert private["emulated"]
    assert "libnrt_emulator" in private["library"]
    assert (private["chip"], private["visible_cores"], private["machine"]) == ("trn2", 4, "")
    named = {"TORCHNEURON_MACHINE": "lab"}
    script = "import torch; x = torch.ones(3, device='neuron:2'); print(x.sum().item()); input()"
    holder = subprocess.Popen(
        [sys.executable, "-c", script],
        env=environment | named,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "3.0\n"
    held = {core["core"]: core["held_by"] for core in info(**named)["cores"] if core["held_by"]}
    assert list(held) == [2]
    assert held[2].startswith(f"process {holder.pid} (")
    holder.communicate("\n")
    assert not any(core["held_by"] for core in info(**named)["cores"])
    text = run("neuron-info").stdout
    assert "The device is emulated: trn2, a machine private to each process" in text


def test_utilisation_tells_what_binds(tmp_path):
    n = 1024

    def text_of(function, *arguments):
        path, out = tmp_path / "f.pb", tmp_path / "f.neff"
        lowered = jax.jit(function).lower(*arguments)
        path.write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
        assert run("neuron-compile", "compile", "--target=trn2", path, "-o", out).returncode == 0
        result = run("neuron-objdump", "--utilisation", out)
        assert (result.returncode, result.stderr) == (0, "")
        return result.stdout

    x = jnp.zeros((4 * n, n), jnp.float32)
    text = text_of(lambda x: jnp.tanh(x + 1), x)
    assert "bound by hbm" in text
    assert f"{x.nbytes * 1e-6:.3f} MB read, {x.nbytes * 1e-6:.3f} MB written" in text
    text = text_of(lambda x: x @ x.T, x)
    assert "bound by tensor" in text
    busy = float(next(line for line in text.splitlines() if "tensor" in line).split()[2])
    # fp32 takes four passes of the 128 x 128 array, a column in each cycle.
    assert busy == pytest.approx(4 * (4 * n) ** 2 * n / 128**2 / 2.4e9 * 1e6, rel=0.02)
    assert "of 16384 bytes per partition" in text.splitlines()[-1]


def test_a_scalar_parameter_gets_a_slot(tmp_path):
    lowered = jax.jit(lambda x, s: x * s).lower(jnp.zeros(64, jnp.float32), jnp.float32(0))
    path, out = tmp_path / "f.pb", tmp_path / "f.neff"
    path.write_bytes(lowered.compiler_ir("hlo").as_serialized_hlo_module_proto())
    words = ("compile", "--target", "trn2", path, "--output", out)
    assert run("neuron-compile", *words, "--scalar-parameters", "1").returncode == 0
    assert "slot 2: scalar parameter 1" in run("neuron-objdump", "-s", out).stdout
    result = run("neuron-compile", *words, "--scalar-parameters", "5")
    assert result.returncode == 1
    assert "names parameter 5, the module has 2" in result.stderr


@pytest.mark.parametrize(
    ("words", "status", "advice"),
    [
        (["compile", "--targt", "trn2", "{m}"], 2, "did you mean --target?"),
        (["compile", "{m}"], 2, "--target trn2"),
        (["compile", "--target", "trn9", "{m}"], 2, "'trn9' is no chip"),
        (["compile", "--target", "trn2", "--lnc", "3", "{m}"], 2, "--lnc should be 1 or 2"),
        (["compile", "--target", "trn2", "--auto-cast=some", "{m}"], 2, "none, matmult, all"),
        (["compile", "--target", "trn2", "--output"], 2, "'--output' needs a value"),
        (["compile", "--target", "trn2"], 2, "compile takes one file"),
        (["build", "--target", "trn2", "{m}"], 2, "should be 'compile'"),
        (["compile", "--target", "trn2", "/nowhere.pb"], 1, "cannot read /nowhere.pb"),
        (["compile", "--target", "trn2", __file__], 1, "holds no HloModuleProto"),
        (["compile", "--target", "trn2", "{m}", "--output", "/no/where"], 1, "cannot write"),
    ],
)
def test_mistakes_are_answered_with_advice(module, tmp_path, words, status, advice):
    result = run("neuron-compile", *[word.format(m=module) for word in words])
    assert result.returncode == status, result.stderr
    assert advice in result.stderr


@pytest.mark.parametrize("damage", [b"", b"NEFF", "flip"])
def test_objdump_refuses_what_is_no_program(module, tmp_path, damage):
    out = tmp_path / "f.neff"
    run("neuron-compile", "compile", "--target", "trn2", module, "--output", out)
    data = bytearray(out.read_bytes())
    if damage == "flip":
        data[-1] ^= 1
        out.write_bytes(data)
    else:
        out.write_bytes(damage)
    result = run("neuron-objdump", out)
    assert result.returncode == 1
    assert str(out) in result.stderr


def test_help_and_version():
    assert "--scalar-parameters" in run("neuron-compile", "--help").stdout
    assert run("neuron-compile", "--version").stdout.startswith("neuron-compile ")


def compiled(directory, module, *more):
    out = directory / "f.neff"
    words = ("compile", "--framework", "XLA", "--target", "trn2", module, "--output", out)
    return run("neuron-compile", *words, *more), out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--native-int64", "default"), ""),
        (("--native-int64", "disabled"), "computed with 64 bits"),
        (("--implicit-integer-downcast", "none"), ""),
        (("--implicit-integer-downcast", "dot,scatter"), "integers keep their width"),
        (("--distribution-strategy", "llm-training"), ""),
        (("--enable-mixed-precision-accumulation",), ""),
        (("--disable-mixed-precision-accumulation",), "accumulated in fp32"),
        (("--enable-saturate-infinity",), "infinities stay"),
        (("--enable-fast-context-switch",), ""),
        (("--enable-fast-loading-neuron-binaries",), ""),
        (("--model-type", "transformer", "--verbose=35"), ""),
    ],
)
def test_options_of_neuronx_cc_are_accepted_and_said(words, said, module, tmp_path):
    result, out = compiled(tmp_path, module, *words)
    assert result.returncode == 0
    assert out.exists()
    if said:
        assert "has no effect" in result.stderr
    assert said in result.stderr
    assert said or result.stderr == ""


def test_a_log_file_holds_what_was_said(module, tmp_path):
    log = tmp_path / "log-neuron-cc.txt"
    compiled(tmp_path, module, "--logfile", log)
    assert "Compiler status PASS" in log.read_text()
    (tmp_path / "bad.pb").write_bytes(b"nonsense")
    result, _ = compiled(tmp_path, tmp_path / "bad.pb", "--logfile", log)
    assert result.returncode == 1
    assert "holds no HloModuleProto" in log.read_text()
    assert "Compiler status ERROR" in log.read_text()


def test_operators_are_listed_as_xla_spells_them():
    listed = run("neuron-compile", "list-operators", "--framework", "XLA").stdout.split()
    assert {"Add", "AllReduce", "BatchNormTraining", "Dot", "While"} <= set(listed)
    assert not {"Rng", "Infeed", "SetDimensionSize"} & set(listed)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("words", [("--auto-cast", "some"), ("--auto-cast-type", "int8")])
def test_a_cast_that_is_none_is_refused(words, module, tmp_path):
    result, _ = compiled(tmp_path, module, *words)
    assert result.returncode == 2
    assert "should be one of" in result.stderr
