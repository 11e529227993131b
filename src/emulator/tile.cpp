#include "emulator/tile.h"

#include <algorithm>
#include <cstring>

namespace neuron::emulator {
namespace {

// Calls visit(byte offset, dense index, run length) for each innermost run of [first, first + n).
template <typename Visit>
void ForEachRun(const TileShape& shape, int64_t first, int64_t n, Visit visit) {
  if (shape.num_dims == 0) {
    if (n > 0) visit(int64_t{0}, int64_t{0}, int64_t{1});
    return;
  }
  const int last = shape.num_dims - 1;
  int64_t index[TileShape::kMaxDims];
  int64_t rest = first;
  int64_t outer = 0;
  for (int d = last; d >= 0; --d) {
    index[d] = rest % shape.count[d];
    rest /= shape.count[d];
    if (d != last) outer += index[d] * shape.stride[d];
  }
  int64_t done = 0;
  while (done < n) {
    const int64_t run = std::min(shape.count[last] - index[last], n - done);
    visit(outer + index[last] * shape.stride[last], done, run);
    done += run;
    index[last] = 0;
    for (int d = last - 1; d >= 0; --d) {
      outer += shape.stride[d];
      if (++index[d] < shape.count[d]) break;
      outer -= shape.count[d] * shape.stride[d];
      index[d] = 0;
    }
  }
}

template <typename T>
void Gather(const TileShape& shape, const char* row, int64_t first, int64_t n, T* dense) {
  const int64_t stride = shape.num_dims == 0 ? 0 : shape.stride[shape.num_dims - 1];
  ForEachRun(shape, first, n, [&](int64_t offset, int64_t at, int64_t run) {
    const char* from = row + offset;
    if (stride == static_cast<int64_t>(sizeof(T))) {
      std::memcpy(dense + at, from, run * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < run; ++i, from += stride) std::memcpy(dense + at + i, from, sizeof(T));
  });
}

template <typename T>
void Scatter(const TileShape& shape, char* row, int64_t first, int64_t n, const T* dense) {
  const int64_t stride = shape.num_dims == 0 ? 0 : shape.stride[shape.num_dims - 1];
  ForEachRun(shape, first, n, [&](int64_t offset, int64_t at, int64_t run) {
    char* to = row + offset;
    if (stride == static_cast<int64_t>(sizeof(T))) {
      std::memcpy(to, dense + at, run * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < run; ++i, to += stride) std::memcpy(to, dense + at + i, sizeof(T));
  });
}

struct Wide {
  uint64_t words[2];
};

}  // namespace

void TileShape::Normalise() {
  int kept = 0;
  elements = 1;
  for (int d = 0; d < num_dims; ++d) {
    elements *= count[d];
    if (count[d] == 1) continue;
    if (kept > 0 && stride[kept - 1] == count[d] * stride[d]) {
      count[kept - 1] *= count[d];
      stride[kept - 1] = stride[d];
      continue;
    }
    count[kept] = count[d];
    stride[kept] = stride[d];
    ++kept;
  }
  num_dims = kept;
  if (elements == 0) {
    num_dims = 1;
    count[0] = 0;
    stride[0] = element_bytes;
  }
}

TileShape TileShape::Flattened() const {
  TileShape flat = *this;
  for (int d = num_dims; d > 0; --d) {
    flat.count[d] = count[d - 1];
    flat.stride[d] = stride[d - 1];
  }
  flat.count[0] = rows;
  flat.stride[0] = row_stride;
  flat.num_dims = num_dims + 1;
  flat.rows = 1;
  flat.row_stride = 0;
  flat.Normalise();
  return flat;
}

bool TileShape::SplitRows(int64_t rows) {
  if (rows == 1) return true;
  sub_rows = rows;
  if (elements == 1) return true;
  if (num_dims == 0 || count[0] % rows != 0) return false;
  elements /= rows;
  count[0] /= rows;
  sub_stride = count[0] * stride[0];
  Normalise();
  return true;
}

void GatherRow(const TileShape& shape, const char* row, int64_t first, int64_t n, void* dense) {
  switch (shape.element_bytes) {
    case 1:
      return Gather(shape, row, first, n, static_cast<uint8_t*>(dense));
    case 2:
      return Gather(shape, row, first, n, static_cast<uint16_t*>(dense));
    case 4:
      return Gather(shape, row, first, n, static_cast<uint32_t*>(dense));
    case 8:
      return Gather(shape, row, first, n, static_cast<uint64_t*>(dense));
    default:
      return Gather(shape, row, first, n, static_cast<Wide*>(dense));
  }
}

void ScatterRow(const TileShape& shape, char* row, int64_t first, int64_t n, const void* dense) {
  switch (shape.element_bytes) {
    case 1:
      return Scatter(shape, row, first, n, static_cast<const uint8_t*>(dense));
    case 2:
      return Scatter(shape, row, first, n, static_cast<const uint16_t*>(dense));
    case 4:
      return Scatter(shape, row, first, n, static_cast<const uint32_t*>(dense));
    case 8:
      return Scatter(shape, row, first, n, static_cast<const uint64_t*>(dense));
    default:
      return Scatter(shape, row, first, n, static_cast<const Wide*>(dense));
  }
}

}  // namespace neuron::emulator
