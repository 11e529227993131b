// The functions this project calls, as one list each: what every NRT library has had since 2022,
// what may be missing, and what goes beyond NRT. Library has one pointer per row.
#pragma once

#define NEURON_NRT_MANDATORY(X)     \
  X(nrt_init)                       \
  X(nrt_close)                      \
  X(nrt_get_version)                \
  X(nrt_get_total_nc_count)         \
  X(nrt_get_visible_nc_count)       \
  X(nrt_load)                       \
  X(nrt_unload)                     \
  X(nrt_allocate_tensor_set)        \
  X(nrt_destroy_tensor_set)         \
  X(nrt_add_tensor_to_tensor_set)   \
  X(nrt_get_tensor_from_tensor_set) \
  X(nrt_execute)                    \
  X(nrt_tensor_allocate)            \
  X(nrt_tensor_free)                \
  X(nrt_tensor_read)                \
  X(nrt_tensor_write)               \
  X(nrt_tensor_get_size)            \
  X(nrt_tensor_get_va)              \
  X(nrt_tensor_allocate_slice)      \
  X(nrt_get_model_tensor_info)      \
  X(nrt_free_model_tensor_info)

#define NEURON_NRT_OPTIONAL(X)             \
  X(nrt_get_total_vnc_count)               \
  X(nrt_get_visible_vnc_count)             \
  X(nrt_get_instance_info)                 \
  X(nrt_get_vnc_memory_stats)              \
  X(nrt_get_status_as_str)                 \
  X(nrt_load_collectives)                  \
  X(nrt_get_model_info)                    \
  X(nrt_execute_repeat)                    \
  X(nrt_tensor_copy)                       \
  X(nrt_tensor_memset)                     \
  X(nrt_tensor_read_batch)                 \
  X(nrt_tensor_write_batch)                \
  X(nrt_tensor_get_device_allocation_info) \
  X(nrt_build_global_comm)                 \
  X(nrt_cc_global_comm_init)               \
  X(nrt_barrier)                           \
  X(nrt_all_gather)

#define NEURON_NRT_BEYOND(X)       \
  X(nrt_emulator_capabilities)     \
  X(nrt_emulator_device_time_ps)   \
  X(nrt_emulator_last_duration_ps) \
  X(nrt_emulator_copy_duration_ps) \
  X(nrt_emulator_trace)            \
  X(nrt_emulator_set_num_threads)  \
  X(nrt_emulator_last_error)       \
  X(nrt_emulator_counters)         \
  X(nrt_emulator_core_holder)      \
  X(nrt_emulator_reset_counters)
