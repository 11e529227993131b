#!/usr/bin/env python3
"""Rewrites the committed pages and stubs that are made from tables and signatures; --check only
says which are stale.

Runs on the installed package, since the tables are in its libraries; the lowering table is printed
by a program of the build tree.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from nki import _core

ROOT = Path(__file__).resolve().parent.parent
# The environment's own, which need not be activated.
NINJA = Path(sys.executable).with_name("ninja")


def printed(program: str) -> str:
    """What a program of the newest build tree prints; it is built first."""
    trees = [f.parent for f in ROOT.glob("build/*/build.ninja")]
    if not trees:
        sys.exit("scripts/generate.py: no build tree under build/; run `make build` first")
    tree = max(trees, key=lambda t: (t / "build.ninja").stat().st_mtime)
    build = [NINJA, "-C", tree, program]
    subprocess.run(build, check=True, stdout=subprocess.DEVNULL)
    (path,) = tree.glob(f"src/*/{program}")
    return subprocess.run([path], check=True, capture_output=True, text=True).stdout


STUBS = {  # extension module: where its signatures are written
    "torch_neuronx._C": "src/torch",
    "nki._core": "src/nki",
}


def stub(module: str) -> str:
    """Type stub of an extension module, from the signatures that pybind11 puts into it."""
    import pybind11_stubgen
    import torch  # noqa: F401  loads the libraries that _C is linked with

    with tempfile.TemporaryDirectory() as folder:
        pybind11_stubgen.main([module, "-o", folder, "--exit-code"])
        text = (Path(folder) / f"{module.replace('.', '/')}.pyi").read_text()
    text = re.sub(r"__all__.*\n", "", text)
    text = re.sub(r'\n *"""[^"]*"""\n *\.\.\.', " ...", text)  # pybind11's own docstrings
    text = re.sub(r":\n +\.\.\.", ": ...", text)
    # pybind11 answers NotImplemented to other types, and a class that compares has no hash.
    text = re.sub(r"def __eq__\(self, arg0: \w+\)", "def __eq__(self, other: object)", text)
    text = re.sub(r"( +__hash__: .*)", r"\1  # type: ignore[assignment]", text)
    # Arrays say that they are buffers only to checkers of Python 3.12 and newer.
    text = text.replace("import typing_extensions\n", "")
    text = text.replace("typing_extensions.Buffer", "typing.Any")
    # What casts to a C++ integer or number; the package's own code passes nothing more general.
    text = text.replace("typing.SupportsInt | typing.SupportsIndex", "int")
    text = text.replace("typing.SupportsFloat | typing.SupportsIndex", "float")
    return f"# Generated from {STUBS[module]} by scripts/generate.py; run `make generate`.\n{text}"


def stubs() -> dict[str, str]:
    return {f"python/{module.replace('.', '/')}.pyi": stub(module) for module in STUBS}


def pages() -> dict[str, str]:
    """Path in the repository and text of everything generated."""
    import timing_report  # beside this file

    operators = {"docs/reference/operators.md": printed("neuron_lowering_doc")}
    return _core.reference_pages() | timing_report.pages() | operators | stubs()


def stale(pages: dict[str, str]) -> list[str]:
    """One sentence per file whose committed text is not what the tables make."""
    found = []
    for path, text in pages.items():
        file = ROOT / path
        old = file.read_text().splitlines() if file.exists() else []
        changed = set(old) ^ set(text.splitlines())
        if old != text.splitlines():
            found.append(f"{path} is stale ({len(changed)} lines); run `make generate`")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail if one is stale")
    if parser.parse_args().check:
        for sentence in (sentences := stale(pages())):
            print(f"scripts/generate.py --check: {sentence}", file=sys.stderr)
        return 1 if sentences else 0
    for path, text in pages().items():
        file = ROOT / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not file.exists() or file.read_text() != text:
            file.write_text(text)
            print(f"wrote {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
