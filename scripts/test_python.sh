#!/usr/bin/env bash
# The Python suite on the installed package. The bindings that only tests need come from the C++
# test build.
set -euo pipefail
cd "$(dirname "$0")/.."
BIN=$PWD/.venv/bin
export PYTHONPATH=$PWD/build/test-release/python${PYTHONPATH:+:$PYTHONPATH}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
exec "$BIN/python" -m pytest tests -n "${JOBS:-$(nproc)}" --dist loadfile "$@"
