#include "emulator/transfer_time.h"

#include <algorithm>

namespace neuron::emulator {

int64_t HostTransferPs(const isa::TargetRow& target, uint64_t bytes) {
  const double ns =
      target.host_start_ns + static_cast<double>(bytes) * 1e9 / target.host_bytes_per_second;
  return static_cast<int64_t>(ns * 1000);
}

int64_t DeviceCopyPs(const isa::TargetRow& target, uint64_t bytes) {
  const double engines =
      target.dma_bytes_per_second_per_engine * static_cast<double>(target.dma_engines_per_core);
  const double bytes_per_second = std::min(engines, target.hbm_bytes_per_second_per_core / 2);
  const double ns = target.dma_start_ns + static_cast<double>(bytes) * 1e9 / bytes_per_second;
  return static_cast<int64_t>(ns * 1000);
}

}  // namespace neuron::emulator
