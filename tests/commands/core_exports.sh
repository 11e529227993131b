#!/usr/bin/env bash
# core_exports.sh <libneuron_core.so>: it exports names of namespace neuron and no others.
set -euo pipefail
exports=$(nm -D --defined-only -C "$1" | cut -d' ' -f3-)
foreign=$(grep -vE '^((typeinfo|typeinfo name|vtable|VTT|guard variable|non-virtual thunk) (for|to) )?neuron::' <<<"$exports" || true)
if [ -n "$foreign" ]; then
  echo "$1 exports foreign names:" && head <<<"$foreign" && exit 1
fi
count=$(wc -l <<<"$exports")
[ "$count" -gt 100 ] || { echo "$1 exports only $count names"; exit 1; }
echo "$count names, all of namespace neuron"
