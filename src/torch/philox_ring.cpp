#include "torch/philox_ring.h"

#include <array>
#include <mutex>
#include <set>

#include "torch/capture.h"
#include "torch/device.h"
#include "torch/generator.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

// Host copies must stay until the queued copy has read them: a ring, and a wait once per turn.
class Ring {
 public:
  const uint64_t* Put(uint64_t seed, uint64_t offset, int device, runtime::StreamId stream) {
    const std::lock_guard lock(mutex_);
    if (next_ == slots_.size()) {
      for (const auto& [used_device, used_stream] : used_)
        runtime::AwaitEvent(*runtime::RecordEvent(used_device, used_stream, false));
      used_.clear();
      next_ = 0;
    }
    used_.emplace(device, stream);
    auto& slot = slots_[next_++];
    slot = {seed, offset};
    return slot.data();
  }

 private:
  std::mutex mutex_;
  std::array<std::array<uint64_t, 2>, 4096> slots_{};
  size_t next_ = 0;
  std::set<std::pair<int, runtime::StreamId>> used_;
};

}  // namespace

at::Tensor PhiloxArgument(const std::optional<at::Generator>& given, int device,
                          uint64_t counters) {
  static auto* ring = new Ring;
  PhiloxGenerator* generator = GeneratorFor(given, device);
  // Held by the step: a capture outlives the call.
  const auto held = c10::intrusive_ptr<PhiloxGenerator>::reclaim_copy(generator);
  at::Tensor out = EmptyContiguous(device, {2}, at::kLong);
  void* target = out.mutable_data_ptr();
  RunOrRecord(CurrentStream(device), [=](runtime::StreamId stream) {
    std::pair<uint64_t, uint64_t> state;
    {
      const std::lock_guard lock(held->mutex_);
      state = held->Draw(counters);
    }
    const uint64_t* host = ring->Put(state.first, state.second, device, stream);
    ThrowIfError(runtime::CopyToDevice(device, stream, target, host, 2 * sizeof(uint64_t),
                                       /*blocking=*/false));
  });
  return out;
}

}  // namespace neuron::pytorch
