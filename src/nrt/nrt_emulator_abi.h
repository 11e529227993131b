// What a library may offer beyond NRT: symbols a caller looks up and does without when missing.
//
// Our emulator exports them, AWS's libnrt does not. Callers decide by capability bit, never by
// which library it is. Valid C and C++.
#pragma once

#include "nrt/nrt_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  // nrt_tensor_get_va of a device tensor may be dereferenced by the host.
  NRT_EMULATOR_HOST_ADDRESSABLE_HBM = 1u << 0,
  // nrt_emulator_device_time_ps and nrt_emulator_last_duration_ps advance with what runs.
  NRT_EMULATOR_DEVICE_TIME = 1u << 1,
};
uint64_t nrt_emulator_capabilities(void);

// The core's virtual clock in picoseconds: how long the chip would have worked until now. Starts
// at 0, does not move while nothing runs. Needs nrt_init; 0 for a vnc that does not exist.
uint64_t nrt_emulator_device_time_ps(int32_t vnc);
// Modelled duration of the model's last execution; before the first: of one cold execution alone
// where that does not depend on run-time extents, else 0.
uint64_t nrt_emulator_last_duration_ps(const nrt_model_t* model);

// Modelled duration of a transfer of so many bytes, between host and HBM or inside HBM: a fixed
// time and one per byte. Computing and transfers are queues of their own: the core's clock does not
// move for them. Needs nrt_init.
uint64_t nrt_emulator_copy_duration_ps(uint64_t bytes, bool host);

// The instructions of the model's last execution on the modelled time line, as a JSON list of
// {instruction, mnemonic, engine, queue, start_ps, end_ps, source} and the fields of Chrome's
// trace-event format {name, ph, ts, dur, pid, tid}; the first 100,000 at most.
// Valid until the thread's next call.
const char* nrt_emulator_trace(nrt_model_t* model);

// Host threads that may share the work of one instruction; 0: as many as the affinity allows.
void nrt_emulator_set_num_threads(int32_t threads);

// Why the calling thread's last failed call failed, as a sentence; "" if none did.
const char* nrt_emulator_last_error(void);

// What the core has executed since nrt_init or the last reset, as JSON: executions,
// tensor_multiplies, dma_bytes_read, dma_bytes_written (of HBM), instructions {mnemonic: count}.
// Valid until the thread's next call.
const char* nrt_emulator_counters(int32_t vnc);
void nrt_emulator_reset_counters(int32_t vnc);

// Which process holds a logical core of the machine that TORCHNEURON_MACHINE names; "" if none does
// or the machine is private. Valid until the thread's next call.
const char* nrt_emulator_core_holder(int32_t core);

#ifdef __cplusplus
}  // extern "C"
#endif
