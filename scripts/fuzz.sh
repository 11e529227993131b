#!/usr/bin/env bash
# fuzz.sh <modules> <first>: random HLO modules against XLA, and every one with checked memory too.
# Unless TORCHNEURON_CHECK_GROUPS=0, instruction groups are compared with single instructions.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH=$PWD/build/test-release/python${PYTHONPATH:+:$PYTHONPATH}
JOBS=${JOBS:-$(nproc)}
export TORCHNEURON_CHECK_GROUPS=${TORCHNEURON_CHECK_GROUPS:-1}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
.venv/bin/python -m pytest tests/compiler/test_random_modules.py --modules "$1" --first-module "$2" \
  -n "$JOBS" --dist load --maxfail 20
