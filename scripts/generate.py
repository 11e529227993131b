#!/usr/bin/env python3
"""Rewrites the committed pages that are made from tables; --check only says which are stale.

Runs on the installed package, since the tables are in its libraries; the lowering table is printed
by a program of the build tree.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from nki import _core

ROOT = Path(__file__).resolve().parent.parent


def printed(program: str) -> str:
    """What a program of the newest build tree prints; it is built first."""
    trees = [f.parent for f in ROOT.glob("build/*/build.ninja")]
    if not trees:
        sys.exit("scripts/generate.py: no build tree under build/; run `make build` first")
    tree = max(trees, key=lambda t: (t / "build.ninja").stat().st_mtime)
    subprocess.run(["ninja", "-C", tree, program], check=True, stdout=subprocess.DEVNULL)
    (path,) = tree.glob(f"src/*/{program}")
    return subprocess.run([path], check=True, capture_output=True, text=True).stdout


def pages() -> dict[str, str]:
    """Path in the repository and text of every generated page."""
    operators = {"docs/reference/operators.md": printed("neuron_lowering_doc")}
    return _core.reference_pages() | operators


def stale(pages: dict[str, str]) -> list[str]:
    """One sentence per page whose committed text is not what the tables make."""
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
