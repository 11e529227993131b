// What the synchronous and the asynchronous calls do to a tensor's bytes.
#pragma once

#include <cstdint>

#include "emulator/abi/objects.h"

namespace neuron::emulator::abi {

// Whether the bytes exist: the tensor's handle, extent and storage.
Outcome CheckRange(const nrt_tensor_t* tensor, uint64_t offset, uint64_t size);
// Both ranges, and that no HBM boundary lies between.
Outcome CheckCopy(const nrt_tensor_t* source, uint64_t source_offset,
                  const nrt_tensor_t* destination, uint64_t destination_offset, uint64_t size);

// Require the check's success. The first two take as long as TORCHNEURON_COPY_DELAY_US says.
void ReadBytes(const nrt_tensor_t* tensor, uint64_t offset, uint64_t size, void* buffer);
void WriteBytes(nrt_tensor_t* tensor, uint64_t offset, uint64_t size, const void* buffer);
void CopyBytes(const nrt_tensor_t* source, uint64_t source_offset, nrt_tensor_t* destination,
               uint64_t destination_offset, uint64_t size);

}  // namespace neuron::emulator::abi
