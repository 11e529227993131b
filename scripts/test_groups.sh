#!/usr/bin/env bash
# test_groups.sh [pytest arguments]: both suites with every program executed twice, instruction by
# instruction and with instruction groups; a difference in bits, counters or modelled time ends it.
set -euo pipefail
cd "$(dirname "$0")/.."
export TORCHNEURON_CHECK_GROUPS=1
scripts/test_cpp.sh release ""
BIN=$PWD/.venv/bin
export PYTHONPATH=$PWD/build/test-release/python${PYTHONPATH:+:$PYTHONPATH}
JOBS=${JOBS:-$(nproc)}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
"$BIN/python" -m pytest tests -n "$JOBS" --dist loadfile --ignore tests/conformance --ignore tests/packaging "$@"
"$BIN/python" -m pytest tests/conformance -n "$JOBS" --dist load "$@"
