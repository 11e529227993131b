// A plan: an executable with everything needed to run a call of the same key again without looking
// at the op: where its buffers come from, its run-time scalars, its results' metadata.
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/stack.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowering/args.h"
#include "runtime/runtime.h"
#include "torch/call.h"
#include "torch/op_entry.h"

namespace neuron::pytorch {

// A result of the program.
struct PlanResult {
  enum class Kind : uint8_t {
    kUndefined,    // an undefined tensor; nothing computed
    kNew,          // a new tensor, returned
    kInto,         // bound to the memory of tensor `tensor` of the call
    kCopyInto,     // a new tensor, then copied into tensor `tensor`: their memory overlaps an input
    kErrorRecord,  // s32[lowering::kErrorWords]
    kRowCount,     // s32[]: how many rows of the counted results mean something
  };
  Kind kind = Kind::kNew;
  int tensor = -1;
  int counted = -1;     // along this dimension sizes say the most there can be; kNew or kCopyInto
  int64_t integer = 0;  // of kUndefined, where the schema returns an int
  std::vector<int64_t> sizes, strides;  // of a plan for all lengths: see hlo/extent.h
  at::ScalarType dtype = at::ScalarType::Undefined;
};

struct PlanBuffer {
  enum class Source : uint8_t { kTensor, kResult, kPhilox };
  Source source = Source::kTensor;
  int index = 0;
};

struct PlanScalar {
  lowering::ScalarParameter parameter;
  std::optional<hlo::Linear> of_extent;  // it is no argument's value, but this
};

struct Plan {
  std::vector<uint64_t> key;
  // Not empty: this call runs on the CPU, and why (logged once).
  std::string fallback_reason;
  // The reason is the arguments: CPU has the last word, by its own exception, or else by its
  // result.
  bool wrong_arguments = false;
  std::shared_ptr<runtime::Executable> executable;  // nullptr: nothing to compute
  std::vector<PlanResult> results;                  // in the order of the program's results
  std::vector<PlanBuffer> buffers;                  // in signature order
  // Of slot first_scalar_slot + i; `argument` is a position in the call, not in the row.
  std::vector<PlanScalar> scalars;
  // Of the call's tensors, which a number may have to fit besides its slot's dtype.
  DType number_dtype = DType::kInvalid;
  int64_t philox_numbers = 0;
  size_t returned = 0;  // how many leading kNew/kUndefined results are returned
  // A plan for all lengths up to the bound: what of the key depends on the call's.
  std::optional<ExtentKey> extent_key;
  int64_t extent_bound = 0;
};

// Compiles, through the executable cache. Wrong arguments throw what PyTorch's meta kernels throw.
std::unique_ptr<Plan> BuildPlan(OpEntry& entry, const c10::OperatorHandle& op,
                                std::span<const c10::IValue> arguments, const Call& call);

// One for all lengths, whose key differs in `extent`'s words; nullptr, with the reason in *why.
std::unique_ptr<Plan> BuildRunTimePlan(OpEntry& entry, const c10::OperatorHandle& op,
                                       std::span<const c10::IValue> arguments, const Call& call,
                                       std::span<const KeyField> fields, const ExtentKey& extent,
                                       std::string* why);

// The plan of this call: cached or built. Valid for ever, or until the thread's next refusal.
Plan* FindOrBuildPlan(OpEntry& entry, const c10::OperatorHandle& op,
                      std::span<const c10::IValue> arguments, Call& call);

// Runs `plan`; new tensors that the op returns are appended to `returned`. `rows`: of counted
// results, where the caller knows it; else it is read, which waits for the device.
void RunPlan(const OpEntry& entry, const Plan& plan, std::span<const c10::IValue> arguments,
             const Call& call, c10::SmallVectorImpl<at::Tensor>& returned,
             std::optional<int64_t> rows = std::nullopt);

}  // namespace neuron::pytorch
