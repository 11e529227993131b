// The explicit asynchronous calls of NRT (`nrta_*`, ABI 3.0: runtime 2.31 and later), declared anew
// from their published description.
//
// An execution unit (XU) is a queue of a logical core: (core, type, number). It runs its requests
// one at a time in the order of their calls; across units a caller waits for the producer before it
// schedules the consumer. A schedule call never blocks: it returns NRT_SUCCESS and the request's
// sequence id, NRT_QUEUE_FULL with nothing changed, or why the request was refused. The request's
// own status is stored through `ret` before the request is seen completed; `ret`, tensors, sets and
// host buffers live until then. After a fatal error (the unit cannot go on) its later requests and
// schedule calls end with NRT_EXEC_UNIT_UNRECOVERABLE.
//
// Caution for callers of AWS's library: symbols kept their names when the ABI changed from 2.x, so
// a pointer alone does not tell which it is. That nrta_event_register_seq_id_completion exists
// implies 3.0. The position of `lnc` in nrta_tensor_* is known from published callers of write and
// read only, for copy it is by analogy: our runtime calls none of the three. Gone since 2.x and not
// declared: error trackers, completion handles. Collectives are not declared yet.
#pragma once

#include "nrt/nrt_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum NRT_ENUM {
  NRTA_XU_TENSOR_OP = 0,    // 2 queues per core
  NRTA_XU_COMPUTE = 1,      // 1 queue per core
  NRTA_XU_COLLECTIVES = 2,  // 3 queues per core
  NRTA_XU_TYPE_NUM = 3,
} nrta_xu_t;

// The upper 16 bits name the unit, the lower 48 count its requests from 1.
typedef uint64_t nrta_seq_t;
typedef uint16_t nrta_xu_id_t;
#define NRTA_SEQ_NUM_BITS 48
#define NRTA_SEQ_NUM_MAX ((UINT64_C(1) << NRTA_SEQ_NUM_BITS) - 1)

NRT_STATUS nrta_execute_schedule(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                                 nrt_tensor_set_t* output_set, int queue, NRT_STATUS* ret,
                                 nrta_seq_t* seq);
// `lnc` chooses the core whose tensor-op queue carries the request.
NRT_STATUS nrta_tensor_write(nrt_tensor_t* tensor, const void* buffer, uint64_t offset,
                             uint64_t size, int lnc, int queue, NRT_STATUS* ret, nrta_seq_t* seq);
NRT_STATUS nrta_tensor_read(void* buffer, nrt_tensor_t* tensor, uint64_t offset, uint64_t size,
                            int lnc, int queue, NRT_STATUS* ret, nrta_seq_t* seq);
NRT_STATUS nrta_tensor_copy(nrt_tensor_t* source, uint64_t source_offset, nrt_tensor_t* destination,
                            uint64_t destination_offset, uint64_t size, int lnc, int queue,
                            NRT_STATUS* ret, nrta_seq_t* seq);

// NRT_INVALID only for an id that no request has.
NRT_STATUS nrta_is_completed(nrta_seq_t seq, bool* completed);
// The last completed request of a unit: request s is completed if *seq >= s.
NRT_STATUS nrta_get_sequence(uint32_t lnc, nrta_xu_t xu, int queue, nrta_seq_t* seq);
// Adds 1 to an eventfd when the request is completed, at once if it is; fd -1 takes it back.
NRT_STATUS nrta_event_register_seq_id_completion(nrta_seq_t seq, int fd);
// Adds 1 to an eventfd at each completion of the unit; fd -1 takes it back.
NRT_STATUS nrta_event_register_xu_completion(int lnc, nrta_xu_t xu, int queue, int fd);

#ifdef __cplusplus
}  // extern "C"
#endif
