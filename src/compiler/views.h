// Strided views: values that need no work of their own.
//
// Slice, reverse, reshape, transpose, broadcast, and the low words of 64-bit integers, over a value
// that has a buffer are a View of that buffer: an offset and a step per dimension. The kernel that
// reads the view folds it into its DMA access pattern. Plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo/module.h"

namespace neuron::compiler {

using Dims = std::vector<int64_t>;

int64_t Product(const Dims& dims);
Dims DenseStrides(const Dims& sizes);  // row major

struct View {
  const hlo::Instruction* base = nullptr;  // whose buffer is read
  DType dtype = DType::kInvalid;  // of the elements seen; not base's for words of wide numbers
  int64_t offset = 0;             // elements of dtype, from the buffer's start
  Dims sizes, strides;            // elements of dtype; stride 0 repeats

  static View Of(const hlo::Instruction* base);  // all of it, dense
  bool IsDense() const;                          // row major without holes (offset may be anything)
  bool operator==(const View&) const = default;
};

// Strides of the same elements, in the same row-major order, under other sizes; nullopt if strides
// cannot say it (a reshape that merges dimensions which do not nest).
std::optional<Dims> ReshapeStrides(const Dims& sizes, const Dims& strides, const Dims& new_sizes);

// What `op` makes of its first operand's view; nullopt if `op` is no view op, or cannot be a view
// of this operand. Dynamic starts are not views.
std::optional<View> ApplyViewOp(const hlo::Instruction& op, const View& operand);

// The finest row-major dims that both factorise the same element count into; nullopt if none.
std::optional<Dims> CommonRefinement(const Dims& a, const Dims& b);

// Drops extents of 1 and merges neighbours d, d + 1 wherever every stride list allows it and
// `barrier` (dims [0, barrier) and [barrier, rank) never merge; -1: none) permits. All lists are
// changed alike. At least one dimension remains on each side that had elements. Returns the new
// position of the barrier.
int CollapseDims(Dims& sizes, std::vector<Dims>& strides, int barrier = -1);

}  // namespace neuron::compiler
