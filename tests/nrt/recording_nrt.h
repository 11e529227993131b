// A plain NRT library for tests: the mandatory functions and memory statistics, over host memory,
// with none of the emulator's extensions. It records every call, so that a test can say which
// sequence reached the machine.
//
// Its programs are text, one command a line, run in order by nrt_execute:
//   recording                       first line, the magic
//   tensor NAME BYTES SLOT          declares; byte offset from slot SLOT of "scalars", -1: none
//   copy TO FROM BYTES
//   add TO A B COUNT                fp32 elementwise
//   add_scalar TO FROM COUNT SLOT   fp32 bits in the low word of the slot
//   iota TO COUNT                   s32 0, 1, 2, ...
//   words TO W0 W1 ...              s32 values, as an error record
//   sleep MICROSECONDS
//   fail STATUS                     nrt_execute returns it
// A program of any other text is answered with NRT_UNSUPPORTED_NEFF_VERSION.
#pragma once

#include <cstdint>

extern "C" {
// One line per call, oldest first; valid until the next call of this function on this thread.
const char* recording_nrt_calls();
void recording_nrt_clear();
// Calls that break the documented order, one per line: anything before nrt_init or after nrt_close,
// a model, tensor or set that is not alive (used after it was given back, or given back twice), a
// tensor freed while a set holds it that is executed later, bytes beyond a tensor. "" if none did.
const char* recording_nrt_violations();
void recording_nrt_set_memory_limit(uint64_t bytes);  // of one core
uint64_t recording_nrt_memory_used();
uint64_t recording_nrt_max_concurrent_executions();  // highest seen at once on one core
// Added to every read and write of this many bytes or more.
void recording_nrt_set_copy_delay(int64_t microseconds, uint64_t from_bytes);
// Highest seen at once on one core: reads, writes and executions, one of each at most by contract.
uint64_t recording_nrt_max_reads();
uint64_t recording_nrt_max_writes();
uint64_t recording_nrt_max_together();
}
