#include "emulator/packing.h"

#include <algorithm>
#include <cstring>

#include "emulator/parallel.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kWord = 4;

// Pairs whose source is dense along K: words are moved as they are, a last row has no partner.
void PackPairs(const Packing& p, int64_t width, const char* from, char* to) {
  p.kernels->transpose[kWord](to, width * kWord, from, p.column_stride, width, p.k / 2);
  if (p.k % 2 == 0) return;
  char* last = to + p.k / 2 * width * kWord;
  for (int64_t i = 0; i < width; ++i) {
    uint16_t bits = 0;
    std::memcpy(&bits, from + i * p.column_stride + (p.k - 1) * p.k_stride, sizeof bits);
    const uint32_t word = bits;
    std::memcpy(last + i * kWord, &word, kWord);
  }
}

}  // namespace

DotOperand Packing::At(const char* data, int64_t column) const {
  return {.data = data + OffsetOf(column),
          .block = OffsetOf(block),
          .step = block * kWord,
          .whole = (columns - column) / block,
          .last_step = columns % block * kWord};
}

std::optional<Packing> PackingOf(const CopyPlan& plan, const TileShape& tile) {
  if (plan.kind == CopyPlan::Kind::kNone || plan.kind == CopyPlan::Kind::kGather) return {};
  const int64_t bytes = plan.element_bytes;
  // A level of one element is none.
  Packing packing{.k = tile.rows, .columns = tile.elements};
  packing.k_stride = packing.column_stride = bytes;
  int64_t found = 1;
  for (int level = 0; level < plan.levels; ++level) {
    const int64_t count = plan.count[level];
    if (count == 1) continue;
    found *= count;
    if (plan.dst_stride[level] == tile.row_stride && count == tile.rows) {
      packing.k_stride = plan.src_stride[level];
    } else if (plan.dst_stride[level] == bytes && count == tile.elements) {
      packing.column_stride = plan.src_stride[level];
    } else {
      return {};
    }
  }
  if (found != tile.rows * tile.elements) return {};
  if (packing.k_stride != bytes && packing.column_stride != bytes) return {};
  return packing;
}

void Pack(const Packing& p, int64_t first, int64_t last, const char* source, char* packed) {
  for (int64_t column = first; column < last; column += p.block) {
    const int64_t width = std::min(p.block, p.columns - column);
    const int64_t pitch = width * kWord;
    const char* from = source + column * p.column_stride;
    char* to = packed + p.OffsetOf(column);
    const bool rows = p.column_stride == (p.pairs ? 2 : kWord);
    if (p.pairs && rows) {
      p.kernels->pair_rows(to, pitch, from, p.k_stride, p.k, width);
    } else if (p.pairs) {
      PackPairs(p, width, from, to);
    } else if (rows) {
      p.kernels->grid[kWord]({p.k, pitch, p.k_stride, width, kWord, kWord}, to, from);
    } else {
      p.kernels->transpose[kWord](to, pitch, from, p.column_stride, width, p.k);
    }
  }
}

void Pack(const Packing& packing, const char* source, char* packed) {
  const auto bytes = static_cast<double>(packing.k * packing.columns * (packing.pairs ? 2 : kWord));
  ParallelFor(packing.columns, packing.block, bytes * 0.1,
              [&](int64_t first, int64_t last) { Pack(packing, first, last, source, packed); });
}

}  // namespace neuron::emulator
