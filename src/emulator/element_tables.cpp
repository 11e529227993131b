#include "emulator/element_tables.h"

#include <cstdlib>
#include <cstring>

#include "emulator/row_steps.h"

namespace neuron::emulator {
namespace {

template <typename T>
void GatherElements(const char* row, const int32_t* offsets, int64_t n, void* dense) {
  T* to = static_cast<T*>(dense);
  for (int64_t i = 0; i < n; ++i) std::memcpy(to + i, row + offsets[i], sizeof(T));
}

}  // namespace

ElementTables& ElementTables::OfThread() {
  thread_local ElementTables tables;
  tables.used_ = 0;
  return tables;
}

const int32_t* ElementTables::Of(const TileShape& shape) {
  constexpr int64_t kMostElements = kRowChunk;
  constexpr int64_t kLongRun = 32;  // bytes
  if (shape.elements > kMostElements || shape.num_dims < 2) return nullptr;
  const int last = shape.num_dims - 1;
  if (shape.stride[last] == shape.element_bytes &&
      shape.count[last] * shape.element_bytes >= kLongRun)
    return nullptr;
  for (size_t i = 0; i < used_; ++i)
    if (tables_[i].shape == &shape) return tables_[i].offsets.data();
  int64_t reach = 0;
  for (int d = 0; d < shape.num_dims; ++d) reach += shape.count[d] * std::abs(shape.stride[d]);
  if (reach > INT32_MAX) return nullptr;
  if (used_ == tables_.size()) tables_.emplace_back();
  Table& table = tables_[used_++];
  table.shape = &shape;
  table.offsets.assign(1, 0);
  for (int d = 0; d < shape.num_dims; ++d) {  // outermost first
    const size_t outer = table.offsets.size();
    std::vector<int32_t> next;
    next.reserve(outer * static_cast<size_t>(shape.count[d]));
    for (const int32_t at : table.offsets)
      for (int64_t i = 0; i < shape.count[d]; ++i)
        next.push_back(at + static_cast<int32_t>(i * shape.stride[d]));
    table.offsets = std::move(next);
  }
  return table.offsets.data();
}

void GatherElements(int64_t bytes, const char* row, const int32_t* offsets, int64_t n,
                    void* dense) {
  switch (bytes) {
    case 1:
      return GatherElements<uint8_t>(row, offsets, n, dense);
    case 2:
      return GatherElements<uint16_t>(row, offsets, n, dense);
    default:
      return GatherElements<uint32_t>(row, offsets, n, dense);
  }
}

}  // namespace neuron::emulator
