#!/usr/bin/env bash
# fuzz_containers.sh <seconds>: damaged programs and HLO modules, with other seeds in each round, on
# the build of `make test-asan`. The time is shared by three test programs.
set -euo pipefail
cd "$(dirname "$0")/.."
SECONDS_EACH=$(($1 / 3))
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}
run() {
  echo "==> $1: $2, $SECONDS_EACH s"
  local log=build/fuzz-$1.log status=0
  timeout "$SECONDS_EACH" "build/test-asan/tests/$1" --gtest_filter="$2" --gtest_shuffle \
    --gtest_repeat=-1 --gtest_break_on_failure >"$log" 2>&1 || status=$?
  # Still running when the time was over: no finding.
  [ "$status" = 124 ] || { tail -n 60 "$log"; exit 1; }
  echo "    $(grep -c '^Repeating all tests' "$log") rounds"
}
run isa_test 'Container.*'
run hlo_test '*Examples.*:FromProto.*'
run emulator_test 'Damage.*'
