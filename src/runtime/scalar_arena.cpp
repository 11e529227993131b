#include "runtime/scalar_arena.h"

#include <algorithm>
#include <utility>

namespace neuron::runtime {
namespace {

constexpr size_t kArenaBytes = size_t{256} << 10;
constexpr size_t kBlockAlignment = 64;

}  // namespace

Status ScalarBlock::Upload() {
  if (copy_.empty()) return OkStatus();
  return nrt_->Check(nrt_->nrt_tensor_write(tensor_, copy_.data(), 0,
                                            static_cast<size_t>(slots_) * sizeof(int64_t)),
                     "nrt_tensor_write of the scalar block");
}

StatusOr<std::unique_ptr<ScalarBlock>> ScalarArena::New(int64_t slots) {
  std::lock_guard lock(mutex_);
  const auto reusable = std::find_if(unused_.begin(), unused_.end(),
                                     [&](const auto& block) { return block->slots_ == slots; });
  if (reusable != unused_.end()) {
    std::unique_ptr<ScalarBlock> block = std::move(*reusable);
    unused_.erase(reusable);
    return block;
  }
  const size_t bytes = static_cast<size_t>(slots) * sizeof(int64_t);
  const size_t rounded = (bytes + kBlockAlignment - 1) / kBlockAlignment * kBlockAlignment;
  if (current_ == nullptr || used_ + rounded > nrt_.nrt_tensor_get_size(current_)) {
    if (current_ != nullptr) nrt_.nrt_tensor_free(&current_);  // its slices keep the storage
    NEURON_RETURN_IF_ERROR(nrt_.Check(
        nrt_.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, device_,
                                 std::max(kArenaBytes, rounded), "torchneuron scalars", &current_),
        "nrt_tensor_allocate of scalar blocks"));
    used_ = 0;
  }
  auto block = std::make_unique<ScalarBlock>();
  block->nrt_ = &nrt_;
  block->slots_ = slots;
  NEURON_RETURN_IF_ERROR(
      nrt_.Check(nrt_.nrt_tensor_allocate_slice(current_, used_, bytes, "scalars", &block->tensor_),
                 "nrt_tensor_allocate_slice of a scalar block"));
  used_ += rounded;
  void* address = nrt_.nrt_tensor_get_va(block->tensor_);
  if (nrt_.host_addressable_hbm() && address != nullptr) {
    block->values_ = static_cast<int64_t*>(address);
  } else {
    block->copy_.resize(static_cast<size_t>(slots));
    block->values_ = block->copy_.data();
  }
  return block;
}

void ScalarArena::Delete(std::unique_ptr<ScalarBlock> block) {
  std::lock_guard lock(mutex_);
  unused_.push_back(std::move(block));
}

}  // namespace neuron::runtime
