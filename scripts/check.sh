#!/usr/bin/env bash
# check.sh: every hook of .pre-commit-config.yaml over every file but clang-tidy, which is slow.
# check.sh tidy: clang-tidy over what differs from BASE (default: the commit before the last).
set -uo pipefail
cd "$(dirname "$0")/.."
PRE_COMMIT=$PWD/.venv/bin/pre-commit
if [ "${1:-}" != tidy ]; then
  SKIP=clang-tidy exec "$PRE_COMMIT" run --all-files --show-diff-on-failure
fi
mapfile -t changed < <(git diff --name-only --diff-filter=d "${BASE:-HEAD~1}" -- 'src/*.cpp')
[ ${#changed[@]} -eq 0 ] || exec "$PRE_COMMIT" run clang-tidy --files "${changed[@]}"
