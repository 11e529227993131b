#!/usr/bin/env bash
# test_python_asan.sh [pytest arguments]: the Python suite on libraries built with ASan and UBSan.
# The interpreter and PyTorch are not instrumented, so ASan is loaded before them and leaks, which
# an ending interpreter has plenty of, are not counted.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=$PWD/.venv/bin
export PATH="$BIN:$PATH"
BUILD=build/test-asan-python
mkdir -p build
cmake -S . -B "$BUILD" -G Ninja -DNEURON_TESTS=ON -DNEURON_SANITIZE=address,undefined -DPython_EXECUTABLE="$BIN/python" \
  -Dpybind11_DIR="$("$BIN/python" -m pybind11 --cmakedir)" >"$BUILD.log" 2>&1 || { cat "$BUILD.log"; exit 1; }
NINJA_STATUS="[%f/%t, %W left] " ninja -C "$BUILD" -j "${JOBS:-$(nproc)}"
export PYTHONPATH=$PWD/$BUILD/python${PYTHONPATH:+:$PYTHONPATH}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
export TORCH_NEURONX_NEFF_CACHE_DIR=$PWD/$BUILD/cache
# Tests that ask for more memory than there is must get a null pointer, as from any allocator.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=0:allocator_may_return_null=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
# Only for Python: a compiler that a test starts gets on without it.
RUNTIMES="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
LD_PRELOAD=$RUNTIMES "$BIN/python" -m pytest tests -n "${JOBS:-$(nproc)}" --dist loadfile --ignore tests/packaging "$@"
