#!/usr/bin/env bash
# clang-tidy on the files given (without any: all of src but the host's SIMD kernels, which are
# written in GCC's vector extensions), with the flags of the newest build.
set -euo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || mapfile -t all < <(git ls-files 'src/*.cpp' ':!src/emulator/kernels')
for tree in build/release build/test-release; do
  [ -f $tree/compile_commands.json ] && break
done
[ -f "$tree/compile_commands.json" ] || { echo "no build yet; run make build first" >&2; exit 1; }
printf '%s\n' "${@:-${all[@]}}" | xargs -P "$(nproc)" -n 1 .venv/bin/clang-tidy -p "$tree" --quiet 2>/dev/null
