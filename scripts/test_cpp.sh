#!/usr/bin/env bash
# test_cpp.sh <name> <sanitizers>: builds the C++ suite in build/test-<name> and runs it.
set -euo pipefail
cd "$(dirname "$0")/.."
NAME=$1
SANITIZE=$2
BIN=$PWD/.venv/bin
export PATH="$BIN:$PATH"
scripts/googletest.sh
BUILD=build/test-$NAME
mkdir -p build
cmake -S . -B "$BUILD" -G Ninja -DNEURON_TESTS=ON -DNEURON_TORCH=OFF -DNEURON_SANITIZE="$SANITIZE" \
  -DPython_EXECUTABLE="$BIN/python" -Dpybind11_DIR="$("$BIN/python" -m pybind11 --cmakedir)" >"$BUILD.log" 2>&1 || { cat "$BUILD.log"; exit 1; }
NINJA_STATUS="[%f/%t, %W left] " ninja -C "$BUILD" -j "${JOBS:-$(nproc)}"
# Programs of the tests are compiled afresh: nothing may hide behind a cache of an earlier run.
export TORCH_NEURONX_NEFF_CACHE_DIR=$PWD/$BUILD/cache
# Undefined behaviour is only printed otherwise; a leak or a race fails its program by itself.
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
ctest --test-dir "$BUILD" --output-on-failure --no-tests=error
