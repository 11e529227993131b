// Dimension arguments: negative ones wrap, an empty list means all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "lowering/args.h"
#include "lowering/expr.h"

namespace neuron::lowering {

using Dims = std::vector<int64_t>;

// A scalar counts as one dimension, as in PyTorch.
inline int64_t WrapDim(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + std::max<int64_t>(rank, 1) : dim;
}

inline Dims AllDims(int64_t rank) {
  Dims dims(static_cast<size_t>(rank));
  std::iota(dims.begin(), dims.end(), int64_t{0});
  return dims;
}

// The reduced dimensions that argument `i` names, sorted; none or [] is all of them. A scalar has
// none to reduce, whatever the argument says.
inline Dims ReducedDims(const Args& args, size_t i, int64_t rank) {
  Dims dims;
  for (const int64_t d : args.integers_or(i, {})) dims.push_back(WrapDim(d, rank));
  if (dims.empty() || rank == 0) return AllDims(rank);
  std::ranges::sort(dims);
  return dims;
}

inline int64_t Product(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

inline int64_t CountOf(const Expr& x, const Dims& dimensions) {
  int64_t n = 1;
  for (const int64_t d : dimensions) n *= x.dims()[static_cast<size_t>(d)];
  return n;
}

// `kept` has extent 1 in `dimensions`: drops these unless `keepdim`.
inline Expr DropDims(Expr kept, const Dims& dimensions, bool keepdim) {
  if (keepdim) return kept;
  Dims dims;
  for (int64_t d = 0; d < kept.rank(); ++d) {
    if (std::ranges::find(dimensions, d) == dimensions.end())
      dims.push_back(kept.dims()[static_cast<size_t>(d)]);
  }
  return {kept.builder(), kept.builder().Reshape(kept, dims)};
}

inline Expr Reshaped(Expr x, const Dims& dims) {
  return {x.builder(), x.builder().Reshape(x, dims)};
}
// s32 indices along `dimension`, shaped `dims`.
inline Expr IotaS32(hlo::Builder& b, const Dims& dims, int64_t dimension) {
  return {b, b.Iota(hlo::Shape::Array(DType::kS32, dims), dimension)};
}

}  // namespace neuron::lowering
