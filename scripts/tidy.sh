#!/usr/bin/env bash
# clang-tidy on the files given, where clang-tidy and a build exist; says so otherwise.
cd "$(dirname "$0")/.."
command -v clang-tidy >/dev/null || { echo "clang-tidy is not installed; skipped (apt-get install clang-tidy)"; exit 0; }
[ -f build/release/compile_commands.json ] || { echo "no build yet; run make build first"; exit 0; }
exec clang-tidy -p build/release --quiet "$@"
