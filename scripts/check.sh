#!/usr/bin/env bash
# make check: every hook of .pre-commit-config.yaml over every file, except that clang-tidy reads
# only what differs from BASE (default: the commit before the last), since it is slow.
set -uo pipefail
cd "$(dirname "$0")/.."
PRE_COMMIT=$PWD/.venv/bin/pre-commit
status=0
SKIP=clang-tidy "$PRE_COMMIT" run --all-files --show-diff-on-failure || status=1
mapfile -t changed < <(git diff --name-only --diff-filter=d "${BASE:-HEAD~1}" -- 'src/*.cpp')
[ ${#changed[@]} -eq 0 ] || "$PRE_COMMIT" run clang-tidy --files "${changed[@]}" || status=1
exit $status
