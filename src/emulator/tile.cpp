#include "emulator/tile.h"

#include <algorithm>

#include "emulator/kernels/kernels.h"

namespace neuron::emulator {
namespace {

// Calls visit(byte offset, dense index, lines) for each stretch of [first, first + n) over the two
// innermost dimensions. Requires whole lines of the innermost one.
template <typename Visit>
void ForEachStretch(const TileShape& shape, int64_t first, int64_t n, Visit visit) {
  const int last = shape.num_dims - 1;
  int64_t index[TileShape::kMaxDims];
  int64_t rest = first / shape.count[last];
  int64_t offset = 0;
  for (int d = last - 1; d >= 0; --d) {
    index[d] = rest % shape.count[d];
    rest /= shape.count[d];
    offset += index[d] * shape.stride[d];
  }
  const int64_t line = shape.count[last];
  int64_t lines = n / line;
  for (int64_t done = 0; lines > 0;) {
    const int64_t taken = last == 0 ? 1 : std::min(shape.count[last - 1] - index[last - 1], lines);
    visit(offset, done, taken);
    done += taken * line;
    lines -= taken;
    if (last == 0) continue;
    offset += taken * shape.stride[last - 1];
    index[last - 1] += taken;
    for (int d = last - 1; d >= 0 && index[d] == shape.count[d]; --d) {
      offset -= shape.count[d] * shape.stride[d];
      index[d] = 0;
      if (d == 0) break;
      offset += shape.stride[d - 1];
      ++index[d - 1];
    }
  }
}

// Calls move(shape with the tile's strides in `dst_...`, byte offset, dense index) on grids that
// make up [first, first + n).
template <typename Move>
void ForEachGrid(const TileShape& shape, int64_t first, int64_t n, Move move) {
  if (n <= 0) return;
  const int64_t bytes = shape.element_bytes;
  if (shape.num_dims == 0) return move(GridShape{1, 0, 0, 1, bytes, bytes}, 0, 0);
  const int last = shape.num_dims - 1;
  const int64_t line = shape.count[last];
  const int64_t step = shape.stride[last];
  const int64_t end = first + n;
  const auto part = [&](int64_t from, int64_t to) {  // of one line
    int64_t rest = from / line;
    int64_t offset = from % line * step;
    for (int d = last - 1; d >= 0; --d) {
      offset += rest % shape.count[d] * shape.stride[d];
      rest /= shape.count[d];
    }
    move(GridShape{1, 0, 0, to - from, step, bytes}, offset, from - first);
  };
  const int64_t begin = std::min((first + line - 1) / line * line, end);  // the first whole line
  const int64_t whole = begin + (end - begin) / line * line;
  const int64_t across = last == 0 ? 0 : shape.stride[last - 1];
  if (first < begin) part(first, begin);
  ForEachStretch(shape, begin, whole - begin, [&](int64_t offset, int64_t at, int64_t lines) {
    move(GridShape{lines, across, line * bytes, line, step, bytes}, offset, begin - first + at);
  });
  if (whole < end) part(whole, end);
}

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
  const GridKernel copy = Kernels().grid[shape.element_bytes];
  char* to = static_cast<char*>(dense);
  ForEachGrid(shape, first, n, [&](const GridShape& g, int64_t offset, int64_t at) {
    copy({g.outer, g.src_outer, g.dst_outer, g.inner, g.src_inner, g.dst_inner},
         to + at * shape.element_bytes, row + offset);
  });
}

void ScatterRow(const TileShape& shape, char* row, int64_t first, int64_t n, const void* dense) {
  const GridKernel copy = Kernels().grid[shape.element_bytes];
  const char* from = static_cast<const char*>(dense);
  ForEachGrid(shape, first, n, [&](const GridShape& g, int64_t offset, int64_t at) {
    copy(g, row + offset, from + at * shape.element_bytes);
  });
}

}  // namespace neuron::emulator
