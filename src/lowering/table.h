// The lowering table: one row per functional ATen overload, shared by eager and torch.compile.
//
// In-place and out= forms follow by rule (the caller maps aten::add_.Tensor and aten::add.out to
// aten::add.Tensor: the exact name first, then without the trailing underscore); ops that exist
// only in place are rows of their own, with `mutates`. A family is a file: `extern const
// std::span<const Row> kActivationRows;`, collected in table.cpp.
//
// Where data decide how many rows a result has (nonzero, unique), the row computes the most there
// can be and says which count (Args::SetRows).
//
// What a row cannot express (an unusual option) it refuses with
// Builder::Fail(Unimplemented(...)): the caller falls back to CPU and counts it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "hlo/builder.h"
#include "lowering/args.h"

namespace neuron::lowering {

using Values = std::vector<hlo::Value>;  // in schema order; not valid: an undefined tensor
using LowerFunction = Values (*)(hlo::Builder& b, Args& args);

// Dtypes whose programs hold no GpSimd kernel for this row.
enum class Native : uint8_t { kNone, kReal32, kFloating, kAny };

enum RowFlags : uint32_t {
  kNoFlags = 0,
  kElementwise = 1u << 0,  // may write through an alias of an equally shaped and strided input
  kView = 1u << 1,         // returns an alias in eager; lowered only inside FX graphs
  kRandom = 1u << 2,
  kCreation = 1u << 3,       // no tensor argument decides the device
  kGraphOnly = 1u << 4,      // eager keeps ATen's own kernel (it allocates, or crosses devices)
  kDataDependent = 1u << 5,  // sizes depend on data: no meta kernel, not in graphs
  kOwnShapes = 1u << 6,      // PyTorch's meta kernel refuses legal calls: shapes are the program's
};

struct Row {
  std::string_view overload;  // "aten::add.Tensor", "aten::relu"
  LowerFunction lower;
  Native native = Native::kFloating;
  uint32_t flags = kNoFlags;
  // Schema positions, as a mask, of scalars (or scalar lists) that are run-time. A scalar that is
  // exactly 0 or 1 is better passed as a constant: alpha = 1 and beta = 0 then cost nothing.
  uint32_t run_time_scalars = 0;
  // Schema positions, as a mask, of tensors (or lists) that the op overwrites: in-place-only ops,
  // and batch norm's running statistics, which the schema hides. Their new values are the last
  // results, one per tensor in order; one that is not valid means unchanged.
  uint32_t mutates = 0;
};
constexpr uint32_t At(std::initializer_list<int> positions) {
  uint32_t mask = 0;
  for (int p : positions) mask |= 1u << p;
  return mask;
}

std::span<const Row> Rows();                    // sorted by overload
const Row* FindRow(std::string_view overload);  // nullptr: not in the table

}  // namespace neuron::lowering
