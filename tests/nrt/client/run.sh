#!/bin/sh
# run.sh CLIENT WRITE_PROGRAMS LIBRARY: the C client on a library, and that it called all there is.
set -eu
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$2" "$directory"
"$1" "$3" "$directory" "$directory/log"
nm -D --defined-only "$3" | awk '{print $NF}' | sed 's/@.*//' |
  grep -E '^nrta?_' | grep -v '^nrt_emulator_' | sort -u >"$directory/exported"
cut -d' ' -f1 "$directory/log" | sort -u >"$directory/called"
if ! diff "$directory/exported" "$directory/called"; then
  echo "exported (<) and not called by the client, or called (>) and not exported" >&2
  exit 1
fi
