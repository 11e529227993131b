#!/usr/bin/env python3
"""Rewrites the committed pages that are made from tables; --check only says which are stale.

Runs on the installed package, since the tables are in its libraries.
"""

import argparse
import sys
from pathlib import Path

from nki import _core

ROOT = Path(__file__).resolve().parent.parent


def pages() -> dict[str, str]:
    """Path in the repository and text of every generated page."""
    return _core.reference_pages()


def stale() -> list[str]:
    """One sentence per page whose committed text is not what the tables make."""
    found = []
    for path, text in pages().items():
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
        for sentence in (sentences := stale()):
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
