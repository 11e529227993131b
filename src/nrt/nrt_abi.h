// The C ABI of the Neuron runtime (NRT), declared anew from its published description.
//
// Numbering of enums and layout of structs are those of runtime 2.30 and later (SDK 2.28). Enums
// are int-sized, every call returns NRT_STATUS unless it says otherwise. A `vnc` is a logical
// NeuronCore, counted inside the set that the process sees. Structs passed with their size grow at
// the end only. The emulator defines these functions; everybody else calls them through Library
// (loader.h), since which of them exist depends on the library's version. Valid C and C++.
#pragma once

#include <stdbool.h>  // NOLINT(modernize-deprecated-headers): also C
#include <stddef.h>   // NOLINT(modernize-deprecated-headers)
#include <stdint.h>   // NOLINT(modernize-deprecated-headers)

// A caller's number may be none of an enum's; in C++ only an enum of a fixed type can hold it.
#ifdef __cplusplus
#define NRT_ENUM : int
extern "C" {
#else
#define NRT_ENUM
#endif

typedef enum NRT_ENUM {
  NRT_SUCCESS = 0,
  NRT_FAILURE = 1,
  NRT_INVALID = 2,  // malformed program, argument, tensor name or size
  NRT_INVALID_HANDLE = 3,
  NRT_RESOURCE = 4,  // device memory appears here
  NRT_TIMEOUT = 5,
  NRT_HW_ERROR = 6,
  NRT_QUEUE_FULL = 7,
  NRT_LOAD_NOT_ENOUGH_NC = 9,
  NRT_UNSUPPORTED_NEFF_VERSION = 10,
  NRT_FAIL_HOST_MEM_ALLOC = 11,
  NRT_UNINITIALIZED = 13,  // before nrt_init
  NRT_CLOSED = 14,         // after nrt_close
  NRT_QUEUE_EMPTY = 15,
  NRT_EXEC_UNIT_UNRECOVERABLE = 101,
  NRT_EXEC_BAD_INPUT = 1002,
  NRT_EXEC_COMPLETED_WITH_NUM_ERR = 1003,
  NRT_EXEC_COMPLETED_WITH_ERR = 1004,
  NRT_EXEC_NC_BUSY = 1005,
  NRT_EXEC_OOB = 1006,
  NRT_COLL_PENDING = 1100,
  NRT_EXEC_HW_ERR_COLLECTIVES = 1200,
  NRT_EXEC_HW_ERR_HBM_UE = 1201,
  NRT_EXEC_HW_ERR_NC_UE = 1202,
  NRT_EXEC_HW_ERR_DMA_ABORT = 1203,
  NRT_EXEC_SW_NQ_OVERFLOW = 1204,
  NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE = 1205,
  NRT_NETWORK_PROXY_FAILURE = 1206,
} NRT_STATUS;

typedef struct nrt_model nrt_model_t;
typedef struct nrt_tensor nrt_tensor_t;
typedef struct nrt_cc_context nrt_cc_context_t;
typedef void nrt_tensor_set_t;

typedef enum NRT_ENUM {
  NRT_TENSOR_PLACEMENT_DEVICE = 0,
  NRT_TENSOR_PLACEMENT_HOST = 1,
  NRT_TENSOR_PLACEMENT_VIRTUAL = 2,  // gone since runtime 2.32
} nrt_tensor_placement_t;

typedef enum NRT_ENUM {
  NRT_FRAMEWORK_TYPE_INVALID = 0,
  NRT_FRAMEWORK_TYPE_NO_FW = 1,
  NRT_FRAMEWORK_TYPE_TENSORFLOW = 2,
  NRT_FRAMEWORK_TYPE_PYTORCH = 3,
  NRT_FRAMEWORK_TYPE_MXNET = 4,
  NRT_FRAMEWORK_TYPE_PRECHECK = 5,
} nrt_framework_type_t;

// nrt_instance_info_t::family and ::size. Only families that this project names.
typedef enum NRT_ENUM {
  NRT_INSTANCE_FAMILY_UNKNOWN = 0,
  NRT_INSTANCE_FAMILY_TRN1 = 2,
  NRT_INSTANCE_FAMILY_TRN1N = 3,
  NRT_INSTANCE_FAMILY_INF2 = 4,
  NRT_INSTANCE_FAMILY_TRN2 = 5,
  NRT_INSTANCE_FAMILY_TRN2N = 6,
  NRT_INSTANCE_FAMILY_TRN2P = 8,
  NRT_INSTANCE_FAMILY_TRN2U = 9,
  NRT_INSTANCE_FAMILY_TRN2E = 10,
  NRT_INSTANCE_FAMILY_TRN2EU = 11,
  NRT_INSTANCE_FAMILY_TRN2AC = 12,
  NRT_INSTANCE_FAMILY_TRN2UAC = 13,
  NRT_INSTANCE_FAMILY_TRN3 = 14,
  NRT_INSTANCE_FAMILY_TRN3PDS98 = 15,
} nrt_instance_family_t;
typedef enum NRT_ENUM {
  NRT_INSTANCE_SIZE_48XL = 7,
  NRT_INSTANCE_SIZE_3XL = 8,
  NRT_INSTANCE_SIZE_UNKNOWN = 9,
} nrt_instance_size_t;

// Numbered differently before runtime 2.30, and wrong for some types since: never trust
// nrt_tensor_info_t::dtype for semantics.
typedef enum NRT_ENUM {
  NRT_DTYPE_UNKNOWN = 0,
  NRT_DTYPE_UINT64 = 1,
  NRT_DTYPE_INT8 = 2,
  NRT_DTYPE_UINT8 = 3,
  NRT_DTYPE_INT16 = 4,
  NRT_DTYPE_UINT16 = 5,
  NRT_DTYPE_BFLOAT16 = 6,
  NRT_DTYPE_FLOAT16 = 7,
  NRT_DTYPE_INT32 = 8,
  NRT_DTYPE_UINT32 = 9,
  NRT_DTYPE_FLOAT32 = 10,
  NRT_DTYPE_FP32R = 11,
  NRT_DTYPE_INT64 = 12,
  NRT_DTYPE_FP8_E3 = 13,
  NRT_DTYPE_FP8_E4 = 14,
  NRT_DTYPE_FP8_E5 = 15,
} nrt_dtype_t;

typedef struct {
  uint32_t family;
  uint32_t size;
  char arch_name[16];
  char device_revision[8];
} nrt_instance_info_t;

typedef struct {
  uint64_t rt_major, rt_minor, rt_patch, rt_maintenance;
  char rt_detail[128];
  char git_hash[64];
} nrt_version_t;

typedef struct {
  uint64_t offset;
  uint64_t size;
  void* buffer;
} nrt_tensor_batch_op_t;
typedef struct {
  const nrt_tensor_t* tensor;
  const nrt_tensor_batch_op_t* ops;
  uint32_t num_ops;
} nrt_tensor_batch_t;

typedef struct {
  uint64_t physical_address;
  size_t size;  // may exceed the tensor's
  int hbm_index;
} nrt_tensor_device_allocation_info_t;

typedef struct {
  size_t bytes_used;
  size_t bytes_limit;
} nrt_vnc_memory_stats_t;

typedef enum NRT_ENUM {
  NRT_TENSOR_USAGE_INPUT = 0,
  NRT_TENSOR_USAGE_OUTPUT = 1
} nrt_tensor_usage_t;
#define NRT_TENSOR_NAME_MAX 256
typedef struct {
  char name[NRT_TENSOR_NAME_MAX];
  nrt_tensor_usage_t usage;
  size_t size;
  nrt_dtype_t dtype;
  uint32_t* shape;
  uint32_t ndim;
} nrt_tensor_info_t;
typedef struct {
  uint64_t tensor_count;
  nrt_tensor_info_t tensor_array[];  // tensor_count of them
} nrt_tensor_info_array_t;

typedef struct {
  uint32_t vnc;
} nrt_model_info_t;

// ---- Process: legal before nrt_init: versions, instance, core counts
NRT_STATUS nrt_init(nrt_framework_type_t framework, const char* fw_version,
                    const char* fal_version);
void nrt_close(void);
NRT_STATUS nrt_get_version(nrt_version_t* version, size_t size);
NRT_STATUS nrt_get_instance_info(nrt_instance_info_t* info, size_t size);
NRT_STATUS nrt_get_total_nc_count(uint32_t* count);
NRT_STATUS nrt_get_visible_nc_count(uint32_t* count);
NRT_STATUS nrt_get_total_vnc_count(uint32_t* count);
NRT_STATUS nrt_get_visible_vnc_count(uint32_t* count);
NRT_STATUS nrt_get_vnc_memory_stats(uint32_t vnc, nrt_vnc_memory_stats_t* stats, size_t size_in,
                                    size_t* size_out);
const char* nrt_get_status_as_str(NRT_STATUS status);

// ---- Programs. vnc -1: the first free core; vnc_count is deprecated: pass 1
NRT_STATUS nrt_load(const void* neff, size_t size, int32_t vnc, int32_t vnc_count,
                    nrt_model_t** model);
NRT_STATUS nrt_load_collectives(const void* neff, size_t size, int32_t vnc, int32_t vnc_count,
                                uint32_t ctx_device_id, uint32_t ctx_device_count,
                                nrt_model_t** model);
NRT_STATUS nrt_unload(nrt_model_t* model);
NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* count);
NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* count);
NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* count);
NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t size_in,
                              size_t* size_out);
// The array belongs to the library until it is freed, once.
NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** info);
NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* info);

// ---- Execution: synchronous. A set does not own its tensors, which must outlive it
NRT_STATUS nrt_allocate_tensor_set(nrt_tensor_set_t** set);
void nrt_destroy_tensor_set(nrt_tensor_set_t** set);  // sets it to null
NRT_STATUS nrt_add_tensor_to_tensor_set(nrt_tensor_set_t* set, const char* name,
                                        nrt_tensor_t* tensor);  // or replaces
// Missing: NRT_FAILURE, *tensor untouched.
NRT_STATUS nrt_get_tensor_from_tensor_set(nrt_tensor_set_t* set, const char* name,
                                          nrt_tensor_t** tensor);
NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set);
NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count);

// ---- Tensors
// `name` is for logs, may be null. vnc is -1 for host placement. Zero bytes are refused.
NRT_STATUS nrt_tensor_allocate(nrt_tensor_placement_t placement, int vnc, size_t size,
                               const char* name, nrt_tensor_t** tensor);
NRT_STATUS nrt_tensor_allocate_empty(const char* name, nrt_tensor_t** tensor);
NRT_STATUS nrt_tensor_attach_buffer(nrt_tensor_t* tensor, void* buffer, size_t size);
// Shares the source's storage, which lives until the last of them is freed.
NRT_STATUS nrt_tensor_allocate_slice(const nrt_tensor_t* source, size_t offset, size_t size,
                                     const char* name, nrt_tensor_t** tensor);
void nrt_tensor_free(nrt_tensor_t** tensor);  // sets it to null
size_t nrt_tensor_get_size(const nrt_tensor_t* tensor);
void* nrt_tensor_get_va(const nrt_tensor_t* tensor);  // null on failure
NRT_STATUS nrt_tensor_read(const nrt_tensor_t* tensor, void* buffer, size_t offset, size_t size);
NRT_STATUS nrt_tensor_write(nrt_tensor_t* tensor, const void* buffer, size_t offset, size_t size);
NRT_STATUS nrt_tensor_read_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool unsafe);
NRT_STATUS nrt_tensor_write_batch(const nrt_tensor_batch_t* batches, uint64_t count, bool unsafe);
NRT_STATUS nrt_tensor_memset(nrt_tensor_t* tensor, uint64_t offset, int value, size_t size);
// Inside one HBM only, else NRT_INVALID.
NRT_STATUS nrt_tensor_copy(const nrt_tensor_t* source, size_t source_offset,
                           nrt_tensor_t* destination, size_t destination_offset, size_t size);
NRT_STATUS nrt_tensor_get_device_allocation_info(const nrt_tensor_t* tensor,
                                                 nrt_tensor_device_allocation_info_t* info);
// Executions that have written the tensor. timeout_us < 0: unbounded. Not reached: NRT_TIMEOUT.
NRT_STATUS nrt_tensor_check_output_completion(const nrt_tensor_t* tensor, int64_t timeout_us,
                                              uint64_t expected);
NRT_STATUS nrt_tensor_reset_output_completion(nrt_tensor_t* tensor);
NRT_STATUS nrt_memcpy_to_device(void* destination_va, const void* source, size_t size);
NRT_STATUS nrt_get_dmabuf_fd(uint64_t va, uint64_t size, int* fd);

// ---- Profiling: the model's executions between the calls, into a file; both name the same one
NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* file);  // truncates it
NRT_STATUS nrt_profile_stop(const char* file);

// ---- Implicit asynchronous execution, gone since runtime 2.32: nrt_execute has ended when it
// returns, so nothing is ever queued and the callback never called
typedef void (*NRT_ASYNC_EXEC_STATUS_CALLBACK)(void* params, uint32_t model_id, uint32_t vnc,
                                               uint64_t job_id, NRT_STATUS status);
NRT_STATUS nrt_register_async_exec_callback(NRT_ASYNC_EXEC_STATUS_CALLBACK callback, void* params);
NRT_STATUS nrt_async_drain_queued_execs(int32_t vnc);  // blocks until none is queued

// ---- Collectives: communicators and the host-side helpers
NRT_STATUS nrt_build_global_comm(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
NRT_STATUS nrt_cc_global_comm_init(uint32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
NRT_STATUS nrt_barrier(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count);
NRT_STATUS nrt_all_gather(int32_t vnc, uint32_t g_device_id, uint32_t g_device_count,
                          uint32_t rank_input_bytes, void* input, void* output);

#ifdef __cplusplus
}  // extern "C"
#endif
