"""scripts/doctor.sh: one sentence per thing that is missing, and how to get it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCTOR = Path(__file__).resolve().parent.parent / "scripts/doctor.sh"
BASH = shutil.which("bash")


@pytest.fixture
def machine(tmp_path):
    """A folder that is the whole PATH: each command runs the real one, with the real PATH."""
    for name, real in {"python3": sys.executable, "make": "make", "g++": "g++"}.items():
        put(tmp_path, name, f'PATH="{os.environ["PATH"]}" exec "{shutil.which(real)}" "$@"')
    return tmp_path


def put(machine, name, text):
    script = machine / name
    script.write_text(f"#!{BASH}\n{text}\n")
    script.chmod(0o755)


def python_with(machine, sitecustomize):
    """Replace python3 by one that runs this first."""
    folder = machine / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(sitecustomize)
    put(machine, "python3", f'PYTHONPATH="{folder}" exec "{sys.executable}" "$@"')


def examine(machine, **variables):
    """Exit code and standard error of the doctor on this machine."""
    environment = {"PATH": str(machine), "HOME": str(machine), **variables}
    done = subprocess.run([BASH, DOCTOR], env=environment, capture_output=True, text=True)
    return done.returncode, done.stderr


def test_says_nothing_where_nothing_is_missing(machine):
    assert examine(machine) == (0, "")


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("python3", "there is no python3; install it with: sudo apt-get install python3 "),
        ("make", "there is no make; install it with: sudo apt-get install make"),
        ("g++", "there is no C++ compiler; install one with: sudo apt-get install g++"),
    ],
)
def test_names_the_missing_command(machine, command, sentence):
    (machine / command).unlink()
    code, message = examine(machine)
    assert code == 1
    assert message.startswith(f"torchneuron: {sentence}")
    assert message.count("\n") == 1


@pytest.mark.parametrize(
    ("sitecustomize", "sentence"),
    [
        (
            "import sys; sys.version_info = (3, 9, 2)",
            "Python 3.11 or newer is needed",
        ),
        (
            "import sys; sys.modules['venv'] = None",
            "Python's venv module is missing; install it with: sudo apt-get install python3-venv",
        ),
        (
            "import sys; sys.modules['ensurepip'] = None",
            "Python's venv module is missing; install it with: sudo apt-get install python3-venv",
        ),
        (
            "import sysconfig\n"
            "real = sysconfig.get_paths\n"
            "sysconfig.get_paths = lambda *a, **k: {**real(*a, **k), 'include': '/nowhere'}",
            "Python's C headers are missing (/nowhere/Python.h); "
            "install them with: sudo apt-get install python3-dev",
        ),
    ],
)
def test_names_what_python_lacks(machine, sitecustomize, sentence):
    python_with(machine, sitecustomize)
    code, message = examine(machine)
    assert code == 1
    assert message.startswith(f"torchneuron: {sentence}")
    assert message.count("\n") == 1


def test_names_a_compiler_that_is_too_old(machine):
    put(machine, "g++", "exit 1")
    code, message = examine(machine)
    assert code == 1
    assert "g++ does not know C++20; install g++ 12 or newer" in message


def test_examines_the_compiler_and_python_that_are_named(machine):
    code, message = examine(machine, CXX="clang++-99")
    assert code == 1
    assert "there is no C++ compiler" in message
    code, message = examine(machine, PYTHON="python3.99")
    assert code == 1
    assert "there is no python3.99" in message


ROOT = DOCTOR.parents[1]


@pytest.mark.parametrize("target", ["demo", "test", "build", "lint"])
def test_make_asks_the_doctor_before_anything_else(target):
    plan = subprocess.run(
        ["make", "-n", "VENV=/nonexistent/venv", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    steps = [line for line in plan if "scripts/" in line or "pip install" in line]
    assert "scripts/doctor.sh" in steps[0]
    if target == "test":
        assert "scripts/googletest.sh" in steps[1]


def test_missing_googletest_is_one_sentence(machine):
    put(machine, "id", "echo 1000")
    done = subprocess.run(
        [BASH, ROOT / "scripts/googletest.sh"],
        env={"PATH": str(machine), "GTEST_HEADER": str(machine / "gtest.h")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == (
        "torchneuron: GoogleTest is missing; install it with: sudo apt-get install libgtest-dev\n"
    )


def test_googletest_is_installed_for_root(machine):
    put(machine, "id", "echo 0")
    put(machine, "apt-get", f'echo "$@" >>{machine}/asked')
    environment = {"PATH": str(machine), "GTEST_HEADER": str(machine / "gtest.h")}
    subprocess.run([BASH, ROOT / "scripts/googletest.sh"], env=environment, check=True)
    assert (machine / "asked").read_text() == "install -y -qq libgtest-dev\n"
