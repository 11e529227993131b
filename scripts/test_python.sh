#!/usr/bin/env bash
# The Python suite on the installed package. The bindings that only tests need come from the C++
# test build.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=$PWD/.venv/bin
export PYTHONPATH=$PWD/build/test-release/python${PYTHONPATH:+:$PYTHONPATH}
# Before OMP_NUM_THREADS is set, which nproc obeys.
JOBS=${JOBS:-$(nproc)}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# The conformance file is one list of thousands of equal cases: spread them, not the file.
"$BIN/python" -m pytest tests -n "$JOBS" --dist loadfile --ignore tests/conformance "$@"
"$BIN/python" -m pytest tests/conformance -n "$JOBS" --dist load "$@"

echo "==> ratchet: what may only get better (tests/ratchet.json)"
# As many threads for the CPU as the emulator takes.
OMP_NUM_THREADS=$JOBS "$BIN/python" scripts/measure.py >build/measured.json
"$BIN/python" scripts/ratchet.py --measured build/measured.json
