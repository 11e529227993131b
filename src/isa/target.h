// The chips that programs are made for, and their named parameters, each with grade and source.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace neuron::isa {

enum class Target : uint8_t { kTrn2 = 2, kTrn3 = 3 };

struct TargetRow {
  Target target;
  std::string_view name;   // "trn2"
  std::string_view alias;  // "gen3" (NEURON_PLATFORM_TARGET_OVERRIDE accepts both)
  int64_t physical_cores;
  int64_t hbm_bytes;  // of the chip
  int64_t sbuf_bytes_per_partition;
  int64_t psum_bytes_per_partition;
  int64_t psum_bank_bytes;
  int64_t max_moving_free;  // fp32 columns of one nc_matmul
  double tensor_clock_hz, vector_clock_hz, scalar_clock_hz, gpsimd_clock_hz;
  double hbm_bytes_per_second_per_core;
  int64_t dma_engines_per_core;
  double dma_bytes_per_second_per_engine;  // practical
  double dma_descriptor_ns;                // per row of a transfer, on the engine that moves it
  double dma_issue_ns;                     // least time from a transfer to the next of its queue
  double dma_start_ns;                     // fixed latency of a transfer
  double dma_trigger_ns;                   // a sequencer's time to trigger a transfer
  double vector_fixed_cycles;              // per instruction, on top of its elements
  double scalar_latency_cycles;            // from issue to a visible result, beside its elements
  double gpsimd_fixed_cycles;              // per instruction
  double gpsimd_kernel_launch_ns;          // of a GpSimd kernel, beside its own modelled cost
  double memory_access_cycles;             // SBUF/PSUM, after an engine's last element
  double tensor_drain_cycles;
  double activation_table_load_ns;
  double semaphore_ns;
  double host_bytes_per_second;  // between host memory and HBM, one direction
  double host_start_ns;          // fixed latency of such a transfer
};

inline constexpr int kPartitions = 128;

std::span<const TargetRow> Targets();
const TargetRow& RowOf(Target target);
// "trn2", "gen3", "trn3", "gen4"; nullopt for anything else.
std::optional<Target> TargetFromName(std::string_view name);

}  // namespace neuron::isa
