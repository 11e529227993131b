"""Each folder of src/ includes only what its neuron_library line says it may use.

The rule is read from the same CMake lines that the build uses, so it cannot drift from them.
"""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
SRC = ROOT / "src"
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')
ALLOWED = {  # docs/design/layers.md; an edge more is a decision to write down there
    "base": set(),
    "isa": {"base"},
    "nrt": {"base"},
    "emulator": {"base", "isa", "nrt"},
    "hlo": {"base"},
    "lowering": {"base", "hlo"},
    "compiler": {"base", "isa", "hlo"},
    "runtime": {"base", "nrt", "hlo", "compiler", "isa"},
    "commands": {"base", "nrt", "isa", "hlo", "compiler"},
    "torch": {"base", "hlo", "lowering", "runtime", "compiler"},
    "nki": {"base", "isa", "compiler", "nrt"},
}
TORCH = re.compile(r"^(torch|ATen|c10|caffe2|kineto|libkineto)/")


def _declared() -> dict[str, set[str]]:
    edges = {}
    for lists in SRC.glob("*/CMakeLists.txt"):
        text = re.sub(r"#.*", "", lists.read_text())
        match = re.search(r"neuron_library\(\s*(\w+)(.*?)\)", text, re.S)
        if match:
            deps = re.search(r"\bDEPS\b((?:\s+[a-z]\w*)*)", match.group(2))
            edges[match.group(1)] = set(deps.group(1).split()) if deps else set()
    return edges


def violations(root: Path, edges: dict[str, set[str]]) -> list[str]:
    found = []
    for file in sorted(root.rglob("*")):
        if file.suffix not in {".cpp", ".h", ".c", ".inc"}:
            continue
        folder = file.relative_to(root).parts[0]
        allowed = edges.get(folder, set()) | {folder}
        for number, line in enumerate(file.read_text().splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, path = match.groups()
            where = f"src/{file.relative_to(root)}:{number}"
            if TORCH.match(path) and quote == "<" and folder != "torch":
                found.append(f"{where} includes <{path}>; PyTorch headers belong in src/torch")
            if quote == '"' and "/" in path:
                target = path.split("/")[0]
                if (root / target).is_dir() and target not in allowed:
                    rule = ", ".join(sorted(allowed - {folder})) or "nothing"
                    found.append(f'{where} includes "{path}"; {folder} may include: {rule}')
    return found


def test_every_include_is_declared():
    found = violations(SRC, ALLOWED | _declared())
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", sorted(ALLOWED))
def test_declared_edges_are_the_designs(folder):
    edges = _declared()
    if folder not in edges:
        pytest.skip(f"src/{folder} is not a neuron_library yet")
    assert edges[folder] <= ALLOWED[folder]


def test_a_violation_is_found(tmp_path):
    (tmp_path / "isa").mkdir()
    (tmp_path / "emulator").mkdir()
    (tmp_path / "isa" / "encoder.cpp").write_text(
        '#include "isa/program.h"\n#include "emulator/memory.h"\n#include <torch/library.h>\n'
    )
    messages = violations(tmp_path, {"isa": {"base"}, "emulator": set()})
    assert messages == [
        'src/isa/encoder.cpp:2 includes "emulator/memory.h"; isa may include: base',
        "src/isa/encoder.cpp:3 includes <torch/library.h>; PyTorch headers belong in src/torch",
    ]
