// Modelled duration of transfers that no program makes: the host's, and copies inside HBM.
#pragma once

#include <cstdint>

#include "isa/target.h"

namespace neuron::emulator {

// Between host memory and HBM: the link's bandwidth behind a fixed latency.
int64_t HostTransferPs(const isa::TargetRow& target, uint64_t bytes);

// Inside HBM by all DMA engines of a core: each byte is read and written.
int64_t DeviceCopyPs(const isa::TargetRow& target, uint64_t bytes);

}  // namespace neuron::emulator
