// Sizes and strides: which order of dimensions a tensor has in memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace neuron::pytorch {

using Dims = std::vector<int64_t>;

// Dimensions from the slowest in memory to the fastest; identity where strides are row major.
inline Dims MemoryOrder(const Dims& sizes, const Dims& strides) {
  Dims order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  // Extent 1 has no say: it would break a sort's order, so it is left where it stands.
  for (size_t i = 1; i < order.size(); ++i) {
    const auto moved = static_cast<size_t>(order[i]);
    if (sizes[moved] == 1) continue;
    size_t place = i;
    for (size_t j = i; j-- > 0;) {
      const auto other = static_cast<size_t>(order[j]);
      if (sizes[other] == 1) continue;
      if (strides[other] >= strides[moved]) break;
      place = j;
    }
    std::rotate(order.begin() + static_cast<int64_t>(place),
                order.begin() + static_cast<int64_t>(i),
                order.begin() + static_cast<int64_t>(i) + 1);
  }
  return order;
}

inline Dims Permuted(const Dims& dims, const Dims& order) {
  Dims out;
  out.reserve(order.size());
  for (const int64_t d : order) out.push_back(dims[static_cast<size_t>(d)]);
  return out;
}

inline bool IsIdentity(const Dims& order) { return std::is_sorted(order.begin(), order.end()); }

inline int64_t CountElements(const Dims& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>());
}

inline Dims RowMajorStrides(const Dims& sizes) {
  Dims strides(sizes.size(), 1);
  for (size_t i = sizes.size(); i-- > 1;)
    strides[i - 1] = strides[i] * std::max<int64_t>(sizes[i], 1);
  return strides;
}

}  // namespace neuron::pytorch
