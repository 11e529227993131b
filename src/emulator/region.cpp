#include "emulator/region.h"

#include <algorithm>

#include "emulator/decoder.h"

namespace neuron::emulator {
namespace {

struct Span {
  int64_t begin = 0, end = 0;
};

// Bytes of a partition that are reached around the first element.
Span RowSpan(const TileShape& shape) {
  Span span{0, shape.element_bytes};
  const int64_t rows = (shape.sub_rows - 1) * shape.sub_stride;
  (rows < 0 ? span.begin : span.end) += rows;
  for (int d = 0; d < shape.num_dims; ++d) {
    const int64_t reach = (shape.count[d] - 1) * shape.stride[d];
    (reach < 0 ? span.begin : span.end) += reach;
  }
  return span;
}

bool SameTerms(const TileRef& a, const TileRef& b) {
  if (a.num_terms != b.num_terms) return false;
  for (int i = 0; i < a.num_terms; ++i)
    if (!(a.terms[i] == b.terms[i])) return false;
  return true;
}

bool SameShape(const TileShape& a, const TileShape& b) {
  if (a.rows != b.rows || a.num_dims != b.num_dims || a.element_bytes != b.element_bytes ||
      (a.rows > 1 && a.row_stride != b.row_stride) || a.sub_rows != b.sub_rows ||
      a.sub_stride != b.sub_stride)
    return false;
  for (int d = 0; d < a.num_dims; ++d)
    if (a.count[d] != b.count[d] || a.stride[d] != b.stride[d]) return false;
  return true;
}

}  // namespace

Region Region::Of(const isa::Program& program, const TileRef& tile) {
  Region region;
  const isa::AccessPattern& pattern = *tile.pattern;
  region.memory = pattern.memory;
  region.first_partition = pattern.start_partition;
  region.last_partition = pattern.start_partition + pattern.partitions.max;
  const Span span = RowSpan(tile.shape);
  region.begin = pattern.offset.base + span.begin;
  region.end = pattern.offset.base + span.end;
  for (int i = 0; i < tile.num_terms; ++i) {
    const isa::RegisterDecl& decl = program.registers[tile.terms[i].reg];
    constexpr int64_t kFar = int64_t{1} << 40;  // beyond any partition
    const int64_t low = std::clamp(decl.min, -kFar, kFar) * tile.terms[i].coefficient;
    const int64_t high = std::clamp(decl.max, -kFar, kFar) * tile.terms[i].coefficient;
    region.begin += std::min(low, high);
    region.end += std::max(low, high);
  }
  return region;
}

Region PatternRegion(const isa::Program& program, const TileRef& tile) {
  TileRef rows = tile;
  rows.shape = ShapeOf(*tile.pattern, 0, nullptr);
  return Region::Of(program, rows);
}

bool SameWalk(const TileRef& a, const TileRef& b) {
  return a.hbm == b.hbm && !a.dynamic && !b.dynamic && SameTerms(a, b) &&
         SameShape(a.shape, b.shape) &&
         (a.hbm ? a.tensor == b.tensor && a.offset == b.offset : a.base == b.base);
}

bool Disjoint(const isa::Program& program, const TileRef& a, const TileRef& b) {
  if (a.hbm != b.hbm) return true;
  if (a.hbm) {
    if (a.tensor != b.tensor) return true;
    return SameTerms(a, b) &&
           (a.offset + a.high <= b.offset + b.low || b.offset + b.high <= a.offset + a.low);
  }
  Region ra = Region::Of(program, a);
  Region rb = Region::Of(program, b);
  if (SameTerms(a, b)) {  // the registers move both alike
    const Span sa = RowSpan(a.shape);
    const Span sb = RowSpan(b.shape);
    ra.begin = a.pattern->offset.base + sa.begin;
    ra.end = a.pattern->offset.base + sa.end;
    rb.begin = b.pattern->offset.base + sb.begin;
    rb.end = b.pattern->offset.base + sb.end;
  }
  return !ra.Overlaps(rb);
}

}  // namespace neuron::emulator
