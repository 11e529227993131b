// Integer indices: 32 bits on the device, wrapped, checked.
#pragma once

#include "lowering/args.h"
#include "lowering/dims.h"
#include "lowering/expr.h"

namespace neuron::lowering {

// An index tensor as words of 32 bits: `low` is the index where it fits, `high` what a 64-bit one
// has beside it (not valid for narrower ones), `beyond` where it does not fit (pred, ditto).
struct IndexWords {
  Expr low, high, beyond;
};
IndexWords SplitIndex(Expr index);

// An index tensor as s32 in [0, extent.size). Negative entries count from the end if `wraps`. What
// is out of range is reported as an error of argument `operand` and then clamped to a legal place.
Expr CheckedIndex(Args& args, Expr index, Extent extent, int32_t operand, bool wraps);

// The slices of x along `dim` that `index` names: x's dims with `dim` replaced by index's dims.
Expr TakeAlong(Expr x, int64_t dim, Expr index);

// x with `updates` combined in at `index` along `dim`; updates has the dims TakeAlong returns.
// Equal indices combine in index order.
enum class ScatterMode : uint8_t { kReplace, kAdd, kMultiply, kMaximum, kMinimum };
Expr ScatterAlong(Expr x, int64_t dim, Expr index, Expr updates, ScatterMode mode);

// The extremum along `dim` (NaN is one) and the position of the first, s32; extent 1 in `dim`.
struct Located {
  Expr value, index;
};
Located Locate(Expr x, int64_t dim, bool max);

// The largest so far along `dim`, s32.
Expr RunningMax(Expr x, int64_t dim);

// Of a mask [n]: the number of set elements up to and including each, s32.
Expr RunningCount(Expr mask);

// The rows of x [n, ...] whose mask is set, in order; rows behind them are zero. `rank`:
// RunningCount(mask).
Expr Compacted(Expr x, Expr mask, Expr rank);

// x sorted along `dim`, stable, NaN last in ascending order; with the places of the elements, s32.
struct Sorted {
  Expr values, places;
};
Sorted SortAlong(Expr x, int64_t dim, bool descending);

// Constant vectors.
Expr ConstantS32(hlo::Builder& b, const std::vector<int64_t>& values);
Expr ConstantF32(hlo::Builder& b, const std::vector<float>& values);

}  // namespace neuron::lowering
