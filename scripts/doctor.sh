#!/usr/bin/env bash
# Says in one sentence what is missing before anything long starts.
set -u
PYTHON=${PYTHON:-python3}
fail() { echo "torchneuron: $*" >&2; exit 1; }
command -v "$PYTHON" >/dev/null || fail "there is no $PYTHON; install it with: sudo apt-get install python3 python3-venv python3-dev"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
  fail "Python 3.11 or newer is needed, $("$PYTHON" --version) was found; name another with: make PYTHON=python3.11"
"$PYTHON" -c 'import ensurepip, venv' 2>/dev/null || fail "Python's venv module is missing; install it with: sudo apt-get install python3-venv"
command -v make >/dev/null || fail "there is no make; install it with: sudo apt-get install make"
command -v "${CXX:-g++}" >/dev/null || fail "there is no C++ compiler; install one with: sudo apt-get install g++"
include=$("$PYTHON" -c 'import sysconfig; print(sysconfig.get_paths()["include"])')
[ -f "$include/Python.h" ] || fail "Python's C headers are missing ($include/Python.h); install them with: sudo apt-get install python3-dev"
echo 'int main() { return __cplusplus < 202002L; }' |
  "${CXX:-g++}" -std=c++20 -x c++ -fsyntax-only - 2>/dev/null ||
  fail "${CXX:-g++} does not know C++20; install g++ 12 or newer with: sudo apt-get install g++"
