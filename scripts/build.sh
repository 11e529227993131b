#!/usr/bin/env bash
# Builds and installs torchneuron into .venv, editable, with ninja's progress shown.
# CMake and ninja do nothing when nothing changed, so this is cheap to call.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=$PWD/.venv/bin
BUILD=build/release
export PATH="$BIN:$PATH"
# The build asks torch where it lies; a half-built backend must not load then.
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
STAMP=$BUILD/.installed
inputs() { git ls-files -- pyproject.toml CMakeLists.txt cmake src python 2>/dev/null || find src python -type f; }
key=$( { inputs | sort | xargs -d '\n' sha256sum 2>/dev/null; "$BIN/python" -c 'import torch; print(torch.__version__)'; } | sha256sum)
if [ -f "$STAMP" ] && [ "$(cat "$STAMP")" = "$key" ]; then exit 0; fi
mkdir -p build
echo "==> building torchneuron (progress: [done/all, time left])"
cmake -S . -B "$BUILD" -G Ninja -DCMAKE_BUILD_TYPE=Release -DPython_EXECUTABLE="$BIN/python" \
  -Dpybind11_DIR="$("$BIN/python" -m pybind11 --cmakedir)" -DCMAKE_INSTALL_PREFIX="$PWD/$BUILD/unused" >"$BUILD.log" 2>&1 ||
  { cat "$BUILD.log"; exit 1; }
NINJA_STATUS="[%f/%t, %W left] " ninja -C "$BUILD" -j "${JOBS:-$(nproc)}"
echo "==> installing it into .venv (editable)"
"$BIN/pip" install --disable-pip-version-check -q --no-deps --no-build-isolation -e . \
  -C build-dir="$BUILD" -C cmake.build-type=Release
echo "$key" >"$STAMP"
