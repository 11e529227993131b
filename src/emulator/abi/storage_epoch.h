// Counts the times that a tensor got other storage: bindings made before are stale then.
#pragma once

#include <atomic>
#include <cstdint>

namespace neuron::emulator::abi {
std::atomic<uint64_t>& StorageEpoch();
}  // namespace neuron::emulator::abi
