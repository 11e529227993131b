// One ATen overload that a lowering row serves: how its arguments map to the row's, what it writes,
// and the plans made for it so far.
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/function_schema.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "lowering/table.h"
#include "torch/run_time_plans.h"

namespace neuron::pytorch {

struct Plan;

// What an argument is to a plan, from its schema type; optionals count as what they hold.
enum class ArgKind : uint8_t {
  kTensor,
  kTensorList,
  kScalar,
  kInt,
  kFloat,
  kBool,
  kIntList,
  kFloatList,
  kBoolList,
  kScalarList,
  kString,
  kDtype,
  kResolved,  // layout, memory format, pin_memory: what matters of them is in the result's metadata
  kDevice,
  kGenerator,
  kUnsupported,
};

struct ArgInfo {
  ArgKind kind = ArgKind::kUnsupported;
  int row_position = -1;  // of the row's schema; -1: an out= argument
  bool written = false;   // the op stores into this tensor (or list)
  bool run_time = false;  // a scalar whose value is no part of the key
  bool length = false;    // its integers may be lengths, by its schema type: no modes or flags
};

enum class Form : uint8_t {
  kFunctional,  // results are new tensors (mutated arguments beside them are possible)
  kInPlace,     // derived: the first argument takes the result
  kOut,         // derived: the out= arguments take the results
  kMutating,    // a row of its own that only writes arguments
};

struct OpEntry {
  c10::OperatorHandle op;
  const lowering::Row* row = nullptr;
  int32_t row_index = 0;
  Form form = Form::kFunctional;
  std::string name;  // "aten::add.out": names the op in errors and profiles
  std::vector<ArgInfo> args;
  size_t row_arguments = 0;
  // Arguments that take results, in result order: first those of the form, then the row's
  // `mutates`. Lists count once.
  std::vector<int> destinations;
  std::optional<int> generator;

  // Plans by key hash; never removed, so that a pointer stays valid.
  std::mutex mutex;
  std::unordered_map<uint64_t, std::vector<std::unique_ptr<Plan>>> plans;
  std::atomic<Plan*> latest{nullptr};
  RunTimePlans run_time_plans;

  explicit OpEntry(c10::OperatorHandle handle);
  ~OpEntry();
};

// nullptr, with the reason in *why: the schema has something no plan can express.
std::unique_ptr<OpEntry> MakeEntry(const c10::OperatorHandle& op, const lowering::Row& row,
                                   Form form, std::string* why);

// Kinds of the row's own arguments; empty if this PyTorch has no such overload.
std::vector<ArgKind> RowArgumentKinds(const lowering::Row& row);

}  // namespace neuron::pytorch
