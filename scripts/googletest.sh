#!/usr/bin/env bash
# Debian's GoogleTest for the C++ suite: installed if root asks, else one sentence says how.
set -euo pipefail
[ ! -f "${GTEST_HEADER:-/usr/include/gtest/gtest.h}" ] || exit 0
if [ "$(id -u)" != 0 ]; then
  echo "torchneuron: GoogleTest is missing; install it with: sudo apt-get install libgtest-dev" >&2
  exit 1
fi
echo "==> installing Debian's GoogleTest"
apt-get install -y -qq libgtest-dev >/dev/null 2>&1 || { apt-get update -qq && apt-get install -y -qq libgtest-dev >/dev/null; }
