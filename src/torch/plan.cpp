#include "torch/plan.h"

#include <ATen/native/Resize.h>

#include <algorithm>

#include "torch/arguments.h"
#include "torch/capture.h"
#include "torch/copy.h"
#include "torch/cpu_probe.h"
#include "torch/data_dependent.h"
#include "torch/device.h"
#include "torch/generator.h"
#include "torch/philox_ring.h"
#include "torch/storage.h"

namespace neuron::pytorch {
namespace {

using Kind = PlanResult::Kind;

bool SameKey(const Plan& plan, const Call& call) {
  return plan.key.size() == call.key.size() &&
         std::equal(plan.key.begin(), plan.key.end(), call.key.begin());
}

bool HasRunTimeScalars(const OpEntry& entry) {
  return std::ranges::any_of(entry.args, [](const ArgInfo& info) { return info.run_time; });
}

void ResizeInto(const at::Tensor& tensor, at::IntArrayRef sizes, at::IntArrayRef strides) {
  if (tensor.sizes() == sizes) return;
  at::native::resize_output(tensor, sizes);
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
}

// Sizes of a result, as this call has them.
class SizesAt {
 public:
  SizesAt(const std::vector<int64_t>& sizes, int64_t extent) : sizes_(sizes) {
    if (extent == 0) [[likely]]
      return;
    for (const int64_t n : sizes) values_.push_back(hlo::AtBound(n, extent));
    sizes_ = values_;
  }
  SizesAt(const SizesAt&) = delete;
  operator at::IntArrayRef() const { return sizes_; }  // NOLINT(google-explicit-constructor)

 private:
  c10::SmallVector<int64_t, 6> values_;
  at::IntArrayRef sizes_;
};

// A plan for all lengths, where an earlier key differs from this one by one extent.
void BuildForAllLengths(OpEntry& entry, const c10::OperatorHandle& op,
                        std::span<const c10::IValue> arguments) {
  std::vector<KeyField> fields;
  Call call;
  call.fields = &fields;
  Flatten(entry, arguments, call);
  const std::optional<ExtentKey> extent = entry.run_time_plans.Note(call, fields);
  if (!extent) return;
  std::string why;
  std::unique_ptr<Plan> plan = BuildRunTimePlan(entry, op, arguments, call, fields, *extent, &why);
  if (plan != nullptr)
    entry.run_time_plans.Add(std::move(plan));
  else
    CountRefusedRunTimePlan(entry.name, why);
}

}  // namespace

Plan* FindOrBuildPlan(OpEntry& entry, const c10::OperatorHandle& op,
                      std::span<const c10::IValue> arguments, Call& call) {
  Plan* latest = entry.latest.load(std::memory_order_acquire);
  if (latest != nullptr && SameKey(*latest, call)) return latest;
  const uint64_t hash = HashKey(call.key);
  {
    const std::lock_guard lock(entry.mutex);
    if (const auto bucket = entry.plans.find(hash); bucket != entry.plans.end())
      for (const auto& plan : bucket->second) {
        if (!SameKey(*plan, call)) continue;
        entry.latest.store(plan.get(), std::memory_order_release);
        return plan.get();
      }
  }
  if (Plan* plan = entry.run_time_plans.Find(call, latest)) {
    entry.latest.store(nullptr, std::memory_order_release);
    return plan;
  }
  // Outside the lock: meta kernels may call back into the dispatcher.
  std::unique_ptr<Plan> built = BuildPlan(entry, op, arguments, call);
  if (built->wrong_arguments && HasRunTimeScalars(entry)) {
    // The numbers may be what is wrong, and the key does not hold them: not for the next call.
    thread_local std::unique_ptr<Plan> refused;
    refused = std::move(built);
    return refused.get();
  }
  if (built->executable != nullptr && RunTimePlans::Enabled())
    BuildForAllLengths(entry, op, arguments);
  const std::lock_guard lock(entry.mutex);
  auto& bucket = entry.plans[hash];
  bucket.push_back(std::move(built));
  entry.latest.store(bucket.back().get(), std::memory_order_release);
  return bucket.back().get();
}

void RunPlan(const OpEntry& entry, const Plan& plan, std::span<const c10::IValue> arguments,
             const Call& call, c10::SmallVectorImpl<at::Tensor>& returned,
             std::optional<int64_t> rows) {
  c10::SmallVector<int64_t, 4> scalars;
  bool fit = true;
  for (const PlanScalar& scalar : plan.scalars)
    scalars.push_back(scalar.of_extent.has_value()
                          ? IntegerSlot(scalar.of_extent->At(call.extent), scalar.parameter.dtype)
                          : ScalarSlot(scalar.parameter, arguments, plan.number_dtype, &fit));
  if (!fit) [[unlikely]]
    AskCpuAboutNumbers(entry, arguments);
  const int device = call.device;
  c10::SmallVector<at::Tensor, 4> temporaries;  // of kCopyInto and the error record
  c10::SmallVector<void*, 8> addresses;
  void* error_record = nullptr;
  at::Tensor row_count;
  bool counted = false;
  for (const PlanResult& result : plan.results) {
    void* address = nullptr;
    switch (result.kind) {
      case Kind::kUndefined:
        returned.emplace_back();
        break;
      case Kind::kNew:
        returned.push_back(EmptyStrided(device, SizesAt(result.sizes, call.extent),
                                        SizesAt(result.strides, call.extent), result.dtype));
        address = returned.back().mutable_data_ptr();
        break;
      case Kind::kInto: {
        const at::Tensor& tensor = *call.tensors[static_cast<size_t>(result.tensor)];
        ResizeInto(tensor, SizesAt(result.sizes, call.extent),
                   SizesAt(result.strides, call.extent));
        address = tensor.mutable_data_ptr();
        break;
      }
      case Kind::kCopyInto:
        temporaries.push_back(EmptyStrided(device, SizesAt(result.sizes, call.extent),
                                           SizesAt(result.strides, call.extent), result.dtype));
        address = temporaries.back().mutable_data_ptr();
        break;
      case Kind::kErrorRecord:
        temporaries.push_back(EmptyContiguous(device, result.sizes, result.dtype));
        address = error_record = temporaries.back().mutable_data_ptr();
        break;
      case Kind::kRowCount:
        temporaries.push_back(EmptyContiguous(device, {}, result.dtype));
        row_count = temporaries.back();
        address = row_count.mutable_data_ptr();
        break;
    }
    addresses.push_back(address);
    counted |= result.counted >= 0;
  }
  if (plan.executable == nullptr) return;

  const runtime::StreamId stream = CurrentStream(device);
  runtime::Launch launch;
  launch.executable = plan.executable;
  launch.op = entry.name.c_str();
  launch.error_record = error_record;
  launch.buffers.reserve(plan.buffers.size());
  at::Tensor philox;
  for (const PlanBuffer& buffer : plan.buffers) {
    const auto index = static_cast<size_t>(buffer.index);
    switch (buffer.source) {
      case PlanBuffer::Source::kTensor:
        launch.buffers.push_back(const_cast<void*>(call.tensors[index]->const_data_ptr()));
        break;
      case PlanBuffer::Source::kResult:
        launch.buffers.push_back(addresses[index]);
        break;
      case PlanBuffer::Source::kPhilox: {
        std::optional<at::Generator> given;
        if (entry.generator.has_value()) {
          const c10::IValue& value = arguments[static_cast<size_t>(*entry.generator)];
          if (value.isGenerator()) given = value.toGenerator();
        }
        philox = PhiloxArgument(given, device, static_cast<uint64_t>(plan.philox_numbers));
        launch.buffers.push_back(philox.mutable_data_ptr());
        break;
      }
    }
  }
  launch.scalars.assign(scalars.begin(), scalars.end());
  if (call.extent != 0) launch.scalars.push_back(call.extent);
  Submit(device, stream, std::move(launch));

  if (counted && !rows.has_value()) rows = ReadCount(row_count);
  size_t temporary = 0, fresh = 0;
  for (const PlanResult& result : plan.results) {
    if (result.kind == Kind::kCopyInto) {
      const at::Tensor& to = *call.tensors[static_cast<size_t>(result.tensor)];
      at::Tensor from = temporaries[temporary++];
      if (result.counted >= 0) {
        from = FirstRows(from, result.counted, *rows);
        at::native::resize_output(to, from.sizes());
      }
      Copy(to, from, false);
    } else if (result.kind == Kind::kErrorRecord || result.kind == Kind::kRowCount) {
      ++temporary;
    } else if (result.kind == Kind::kNew || result.kind == Kind::kUndefined) {
      at::Tensor& tensor = returned[fresh++];
      if (result.counted >= 0) tensor = FirstRows(tensor, result.counted, *rows);
    }
  }
}

}  // namespace neuron::pytorch
