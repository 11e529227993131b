// One segment from NRT and back.
#pragma once

#include "base/status.h"
#include "nrt/loader.h"
#include "runtime/segment.h"

namespace neuron::runtime {

// Allocates and enters into Segments(). Where NRT gives no address for device memory, the segment
// gets address space of the process that cannot be dereferenced, so that addresses stay unique.
StatusOr<Segment*> AllocateSegment(const nrt::Library& nrt, int device, int64_t bytes);
void ReleaseSegment(const nrt::Library& nrt, Segment* segment);

}  // namespace neuron::runtime
