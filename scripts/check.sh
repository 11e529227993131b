#!/usr/bin/env bash
# What pre-commit and reviewers check: format, lint, types, layering, generated files.
set -uo pipefail
cd "$(dirname "$0")/.."
BIN=$PWD/.venv/bin
status=0
run() { echo "==> $1"; shift; "$@" || status=1; }
run "clang-format" bash -c "git ls-files '*.cpp' '*.h' | xargs $BIN/clang-format --dry-run -Werror"
run "ruff format" "$BIN/ruff" format --check -q .
run "ruff" "$BIN/ruff" check -q .
run "mypy" "$BIN/mypy" python/torch_neuronx python/nki
run "layering" "$BIN/python" -m pytest -q tests/test_layering.py
run "generated files" "$BIN/python" scripts/generate.py --check
if command -v clang-tidy >/dev/null && [ -f build/release/compile_commands.json ]; then
  changed=$(git diff --name-only --diff-filter=d "${BASE:-HEAD~1}" -- 'src/*.cpp' | head -20)
  [ -z "$changed" ] || run "clang-tidy (changed files)" clang-tidy -p build/release --quiet $changed
fi
exit $status
