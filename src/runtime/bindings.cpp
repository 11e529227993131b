#include "runtime/bindings.h"

#include <algorithm>
#include <utility>

namespace neuron::runtime {
namespace {

constexpr size_t kMaxBound = 32;  // combinations of segments kept per executable

}  // namespace

Bindings::Bindings(const nrt::Library& nrt, int device, const compiler::Signature& signature,
                   ScalarArena& arena)
    : nrt_(nrt), device_(device), signature_(signature), arena_(arena) {
  const size_t buffers = signature.buffers.size();
  segments_.resize(buffers);
  key_.resize(buffers);
  for (const compiler::Signature::Buffer& buffer : signature.buffers)
    if (buffer.offset_slot < 0) key_.push_back(0);
  fixed_extents_ = signature.num_slots - signature.first_scalar_slot <=
                   static_cast<int64_t>(signature.scalar_parameters.size());
}

Bindings::~Bindings() {
  if (abandoned_) return;
  for (auto& bound : bound_) Release(*bound);
  if (scalars_) arena_.Delete(std::move(scalars_));
}

void Bindings::Release(Bound& bound) {
  nrt_.nrt_destroy_tensor_set(&bound.sets.inputs);
  nrt_.nrt_destroy_tensor_set(&bound.sets.outputs);
  for (nrt_tensor_t*& slice : bound.slices) nrt_.nrt_tensor_free(&slice);
}

Status Bindings::Resolve(std::span<void* const> buffers) {
  size_t slice_key = buffers.size();
  for (size_t i = 0; i < buffers.size(); ++i) {
    const compiler::Signature::Buffer& buffer = signature_.buffers[i];
    const auto address = reinterpret_cast<uintptr_t>(buffers[i]);
    Segment* segment = Segments().Find(buffers[i]);
    if (segment == nullptr || segment->device != device_) [[unlikely]] {
      if (buffer.bytes == 0) {  // an empty tensor has no memory and is not bound
        segments_[i] = nullptr;
        key_[i] = 0;
        if (buffer.offset_slot < 0) key_[slice_key++] = 0;
        continue;
      }
      return InvalidArgument(
          buffer.name, ": address ", buffers[i], " is ",
          segment ? StrCat("memory of neuron:", segment->device) : std::string("no device memory"),
          ", expected memory of neuron:", device_);
    }
    const int64_t behind = segment->bytes - static_cast<int64_t>(address - segment->base);
    // With dynamic extents the signature's bytes are a bound; the device checks what it touches.
    if (fixed_extents_ && buffer.bytes > behind) [[unlikely]]
      return OutOfRange(buffer.name, ": needs ", buffer.bytes, " bytes at ", buffers[i],
                        ", its segment has ", behind, " from there");
    segments_[i] = segment;
    key_[i] = segment->id;
    if (buffer.offset_slot < 0) key_[slice_key++] = address;
  }
  return OkStatus();
}

StatusOr<Bindings::Sets> Bindings::Bind(std::span<void* const> buffers,
                                        std::span<const int64_t> scalars) {
  NEURON_RETURN_IF_ERROR(Resolve(buffers));
  Bound* bound = nullptr;
  for (auto& candidate : bound_) {
    if (candidate->key == key_) {
      bound = candidate.get();
      // The most recent one first: launches of a loop repeat.
      if (&candidate != &bound_.front()) std::swap(candidate, bound_.front());
      break;
    }
  }
  if (bound == nullptr) [[unlikely]] {
    NEURON_ASSIGN_OR_RETURN(bound, Make(buffers));
  }
  bound->last_use = ++uses_;
  if (scalars_ != nullptr) {
    int64_t* const values = scalars_->values();
    for (size_t i = 0; i < buffers.size(); ++i) {
      const int64_t slot = signature_.buffers[i].offset_slot;
      if (slot < 0) continue;
      values[slot] =
          segments_[i]
              ? static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffers[i]) - segments_[i]->base)
              : 0;
    }
    std::copy(scalars.begin(), scalars.end(), values + signature_.first_scalar_slot);
    NEURON_RETURN_IF_ERROR(scalars_->Upload());
  }
  return bound->sets;
}

Status Bindings::TakeScalars() {
  if (scalars_ == nullptr && signature_.num_slots > 0) {
    NEURON_ASSIGN_OR_RETURN(scalars_, arena_.New(signature_.num_slots));
  }
  return OkStatus();
}

StatusOr<Bindings::Bound*> Bindings::Make(std::span<void* const> buffers) {
  NEURON_RETURN_IF_ERROR(TakeScalars());
  if (bound_.size() >= kMaxBound) {
    const auto oldest =
        std::min_element(bound_.begin(), bound_.end(),
                         [](const auto& a, const auto& b) { return a->last_use < b->last_use; });
    Release(**oldest);
    bound_.erase(oldest);
  }
  auto bound = std::make_unique<Bound>();
  bound->key = key_;
  const auto check = [this](NRT_STATUS status, const char* call) {
    return nrt_.Check(status, call);
  };
  Status status =
      check(nrt_.nrt_allocate_tensor_set(&bound->sets.inputs), "nrt_allocate_tensor_set");
  if (status.ok())
    status = check(nrt_.nrt_allocate_tensor_set(&bound->sets.outputs), "nrt_allocate_tensor_set");
  const auto add = [&](nrt_tensor_set_t* set, const char* name, nrt_tensor_t* tensor) {
    if (status.ok())
      status = check(nrt_.nrt_add_tensor_to_tensor_set(set, name, tensor),
                     "nrt_add_tensor_to_tensor_set");
  };
  for (size_t i = 0; i < buffers.size() && status.ok(); ++i) {
    const compiler::Signature::Buffer& buffer = signature_.buffers[i];
    if (segments_[i] == nullptr) continue;
    nrt_tensor_t* tensor = segments_[i]->tensor;
    if (buffer.offset_slot < 0) {
      const size_t offset = reinterpret_cast<uintptr_t>(buffers[i]) - segments_[i]->base;
      status = check(nrt_.nrt_tensor_allocate_slice(segments_[i]->tensor, offset,
                                                    static_cast<size_t>(buffer.bytes),
                                                    buffer.name.c_str(), &tensor),
                     "nrt_tensor_allocate_slice");
      if (!status.ok()) break;
      bound->slices.push_back(tensor);
    }
    if (buffer.parameter >= 0 || buffer.output < 0)
      add(bound->sets.inputs, buffer.name.c_str(), tensor);
    if (buffer.output >= 0) add(bound->sets.outputs, buffer.name.c_str(), tensor);
  }
  if (scalars_ != nullptr) add(bound->sets.inputs, "scalars", scalars_->tensor());
  if (!status.ok()) {
    Release(*bound);
    return status;
  }
  bound_.push_back(std::move(bound));
  std::swap(bound_.back(), bound_.front());
  return bound_.front().get();
}

void Bindings::Drop(std::span<Segment* const> segments) {
  std::erase_if(bound_, [&](std::unique_ptr<Bound>& bound) {
    const auto ids = std::span(bound->key).first(signature_.buffers.size());
    const bool refers = std::any_of(segments.begin(), segments.end(), [&](const Segment* segment) {
      return std::find(ids.begin(), ids.end(), segment->id) != ids.end();
    });
    if (refers) Release(*bound);
    return refers;
  });
}

}  // namespace neuron::runtime
