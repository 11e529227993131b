#include "runtime/segment_memory.h"

#include <sys/mman.h>

namespace neuron::runtime {

StatusOr<Segment*> AllocateSegment(const nrt::Library& nrt, int device, int64_t bytes) {
  nrt_tensor_t* tensor = nullptr;
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, device,
                                        static_cast<size_t>(bytes), "torchneuron segment", &tensor),
                "nrt_tensor_allocate"));
  void* address = nrt.nrt_tensor_get_va(tensor);
  void* reservation = nullptr;
  if (address == nullptr) {
    reservation = mmap(nullptr, static_cast<size_t>(bytes), PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (reservation == MAP_FAILED) {
      nrt.nrt_tensor_free(&tensor);
      return ResourceExhausted("address space for a segment of ", bytes, " bytes ran out");
    }
    address = reservation;
  }
  Segment* segment = Segments().NewSegment();
  segment->tensor = tensor;
  segment->base = reinterpret_cast<uintptr_t>(address);
  segment->bytes = bytes;
  segment->device = device;
  segment->host_addressable = nrt.host_addressable_hbm() && reservation == nullptr;
  segment->reservation = reservation;
  Segments().Insert(segment);
  return segment;
}

void ReleaseSegment(const nrt::Library& nrt, Segment* segment) {
  nrt_tensor_t* tensor = segment->tensor;
  void* reservation = segment->reservation;
  const auto bytes = static_cast<size_t>(segment->bytes);
  Segments().Remove(segment);
  nrt.nrt_tensor_free(&tensor);
  if (reservation != nullptr) munmap(reservation, bytes);
}

}  // namespace neuron::runtime
