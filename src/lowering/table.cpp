#include "lowering/table.h"

#include <algorithm>
#include <vector>

#include "lowering/rows.h"

namespace neuron::lowering {

std::span<const Row> Rows() {
  static const std::vector<Row> rows = [] {
    std::vector<Row> all;
#define V(name) all.insert(all.end(), k##name##Rows.begin(), k##name##Rows.end());
    NEURON_LOWERING_FAMILIES(V)
#undef V
    std::ranges::sort(all, {}, &Row::overload);
    return all;
  }();
  return rows;
}

const Row* FindRow(std::string_view overload) {
  const std::span<const Row> rows = Rows();
  const auto it = std::ranges::lower_bound(rows, overload, {}, &Row::overload);
  return it != rows.end() && it->overload == overload ? &*it : nullptr;
}

}  // namespace neuron::lowering
