"""The wheel by itself: built from the objects at hand, installed elsewhere, used without compiler.

Its environment holds the declared dependencies and nothing else; its PATH has no tool but Python.
"""

import json
import os
import re
import subprocess
import sys
import textwrap
import venv
import zipfile
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("portable", "avx2", "")  # values of TORCHNEURON_SIMD; "": the best of the host

TRAIN = """
    import hashlib
    import json
    import torch
    from torch import nn
    from torch.nn import functional as F

    class NoMatmul(nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nn.Parameter(torch.randn(192))
            self.norm = nn.LayerNorm(192)

        def forward(self, x):
            return self.norm(F.gelu(x.flatten(1) * self.scale)).tanh()

    def train(model):
        "Losses before and after one step, and a digest of the parameters after it."
        model = model.to("neuron")
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        digest = hashlib.sha256()
        for parameter in model.parameters():
            digest.update(parameter.detach().cpu().numpy().tobytes())
        return [loss.item(), F.cross_entropy(model(x), y).item()], digest.hexdigest()

    torch.manual_seed(0)
    x = torch.randn(16, 3, 8, 8).to("neuron")
    y = torch.randint(0, 5, (16,)).to("neuron")
    conv = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 6, 5))
    results = {"conv": train(conv), "no matmul": train(NoMatmul())}
    import nki
    import torch_neuronx
    results["files"] = [torch_neuronx.__file__, torch_neuronx._C.__file__, nki.__file__]
    print(json.dumps(results))
"""


def build_tree() -> Path:
    """The tree whose objects are the package under test: of `make build`, or of PYTHONPATH."""
    release = ROOT / "build/release"
    if (release / "build.ninja").exists():
        return release
    import neuron_testing

    return Path(neuron_testing.__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--disable-pip-version-check", "-q", str(ROOT)]
    command += ["--no-build-isolation", "--no-deps", "-w", str(folder)]
    command += ["-C", f"build-dir={build_tree()}", "-C", "cmake.build-type=Release"]
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


def requirements(found: Distribution) -> set[str]:
    """Names of the distributions that one needs, itself included, extras left out."""
    names = {found.metadata["Name"]}
    for line in found.requires or []:
        if "extra ==" in line:
            continue
        name = re.match(r"[\w.-]+", line)[0]
        try:
            names |= requirements(distribution(name))
        except ModuleNotFoundError:  # of another platform or Python: torch works without it here
            continue
    return names


class Environment:
    """A virtual environment with the wheel and links to what it requires."""

    def __init__(self, folder: Path, wheel: Path) -> None:
        self.folder = folder
        venv.create(folder, with_pip=False, symlinks=True)
        (self.packages,) = folder.glob("lib/python*/site-packages")
        install = [sys.executable, "-m", "pip", "--python", folder / "bin/python", "install", "-q"]
        install += ["--disable-pip-version-check", "--no-deps", "--no-index", wheel]
        # Of PYTHONPATH pip would say that torchneuron is there already.
        clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        subprocess.run(install, env=clean, check=True)
        (info,) = self.packages.glob("torchneuron-*.dist-info")
        for name in requirements(Distribution.at(info)) - {"torchneuron"}:
            for file in distribution(name).files:
                if file.parts[0] not in ("..", "__pycache__"):
                    link = self.packages / file.parts[0]
                    if not link.exists():
                        link.symlink_to(distribution(name).locate_file(file.parts[0]))

    def run(self, program, *words, **variables):
        """Standard output of a program of the environment, in an empty folder."""
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir(exist_ok=True)
        environment = {"PATH": str(self.folder / "bin"), "HOME": str(elsewhere), **variables}
        command = [self.folder / "bin" / program, *words]
        done = subprocess.run(
            command, env=environment, cwd=elsewhere, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def train(self, simd):
        """What TRAIN prints on one SIMD target."""
        variables = {"TORCHNEURON_SIMD": simd} if simd else {}
        return json.loads(self.run("python", "-c", textwrap.dedent(TRAIN), **variables))


@pytest.fixture(scope="module")
def environment(wheel, tmp_path_factory):
    return Environment(tmp_path_factory.mktemp("environment") / "venv", wheel)


@pytest.fixture(scope="module")
def portable(environment):
    return environment.train("portable")


def test_pytorch_finds_the_device_and_trains(environment, portable):
    for model in ("conv", "no matmul"):
        before, after = portable[model][0]
        assert after < before
    for file in portable["files"]:
        assert file.startswith(str(environment.packages))


@pytest.mark.parametrize("simd", [t for t in TARGETS if t != "portable"])
def test_other_simd_targets_give_the_same_bits(environment, portable, simd):
    """Only dots may differ, by the rounding inside a multiply-add."""
    if simd == "avx2" and "avx2" not in Path("/proc/cpuinfo").read_text().split():
        pytest.skip("this host has no AVX2")
    results = environment.train(simd)
    assert results["no matmul"] == portable["no matmul"]
    assert results["conv"][0] == pytest.approx(portable["conv"][0], rel=1e-5)


def test_commands_are_on_the_path(environment):
    for command in ("neuron-compile", "neuron-info", "neuron-objdump"):
        assert command in environment.run(command, "--help")


def test_it_holds_what_the_package_needs_and_nothing_else(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for needed in (
        "torch_neuronx/_C.so",
        "torch_neuronx/_C.pyi",
        "torch_neuronx/lib/libneuron_core.so",
        "torch_neuronx/lib/libnrt_emulator.so.1",
        "torch_neuronx/bin/neuron-compile",
        "nki/isa/__init__.py",
    ):
        assert needed in names
    assert any(name.startswith("nki/_core.") and name.endswith(".so") for name in names)
    ours = ("torch_neuronx", "nki", "nkilib", "neuron_explorer", "torchneuron")
    foreign = {n for n in names if n.split("/")[0].split("-")[0] not in ours}
    assert foreign == set()
    assert not [n for n in names if n.endswith((".cpp", ".h", ".a", ".pyc"))]


def test_it_does_not_tell_where_it_was_built(wheel):
    tree = build_tree()
    places = {str(p).encode() for p in (ROOT, tree, Path(sys.prefix), Path(sys.base_prefix))}
    archive = zipfile.ZipFile(wheel)
    for name in archive.namelist():
        content = archive.read(name)
        for place in places:
            at = content.find(place)
            assert at < 0, f"{name} names {content[at : at + 100]!r}"


def test_libraries_are_found_from_where_they_lie(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path)
    programs = [
        p for p in tmp_path.rglob("*") if p.is_file() and p.open("rb").read(4) == b"\x7fELF"
    ]
    assert len(programs) >= 6
    for program in programs:
        command = ["readelf", "-d", program]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for path in re.findall(r"R(?:UN)?PATH\).*\[(.*)\]", text):
            assert all(part.startswith("$ORIGIN") for part in path.split(":")), (program, path)
