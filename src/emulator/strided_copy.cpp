#include "emulator/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "emulator/packed_tile.h"
#include "emulator/parallel.h"
#include "emulator/transpose.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kShortRun = 16;  // elements; shorter dense runs gain from their neighbours

struct Levels {
  int n = 0;
  int64_t count[TileShape::kMaxDims + 1], stride[TileShape::kMaxDims + 1];
};

Levels LevelsOf(const TileShape& shape) {
  Levels levels;
  const auto add = [&](int64_t count, int64_t stride) {
    if (count == 1) return;
    levels.count[levels.n] = count;
    levels.stride[levels.n++] = stride;
  };
  add(shape.rows, shape.row_stride);
  for (int d = 0; d < shape.num_dims; ++d) add(shape.count[d], shape.stride[d]);
  return levels;
}

// Joins both nests from the innermost level out. False if their counts do not divide each other.
bool Join(Levels dst, Levels src, CopyPlan* plan) {
  int n = 0;
  int64_t count[CopyPlan::kMaxLevels], ds[CopyPlan::kMaxLevels], ss[CopyPlan::kMaxLevels];
  int i = dst.n - 1;
  int j = src.n - 1;
  while (i >= 0 || j >= 0) {
    if (i < 0 || j < 0) return false;
    const int64_t step = std::min(dst.count[i], src.count[j]);
    if (dst.count[i] % step != 0 || src.count[j] % step != 0) return false;
    // Neighbours that walk both sides as one become one level.
    if (n > 0 && dst.stride[i] == count[n - 1] * ds[n - 1] &&
        src.stride[j] == count[n - 1] * ss[n - 1]) {
      count[n - 1] *= step;
    } else {
      if (n == CopyPlan::kMaxLevels) return false;
      count[n] = step;
      ds[n] = dst.stride[i];
      ss[n++] = src.stride[j];
    }
    dst.stride[i] *= step;
    src.stride[j] *= step;
    dst.count[i] /= step;
    src.count[j] /= step;
    if (dst.count[i] == 1) --i;
    if (src.count[j] == 1) --j;
  }
  plan->levels = n;
  for (int level = 0; level < n; ++level) {
    plan->count[level] = count[n - 1 - level];
    plan->dst_stride[level] = ds[n - 1 - level];
    plan->src_stride[level] = ss[n - 1 - level];
  }
  return true;
}

void MoveInnermost(CopyPlan* plan, int level) {
  for (int l = level; l + 1 < plan->levels; ++l) {
    std::swap(plan->count[l], plan->count[l + 1]);
    std::swap(plan->dst_stride[l], plan->dst_stride[l + 1]);
    std::swap(plan->src_stride[l], plan->src_stride[l + 1]);
  }
}

// Rows of src that lie `row_stride` apart, `columns` elements each, become columns of dst: column c
// starts at (c / inner) * outer_stride + (c % inner) * inner_stride and is dense. Through a block
// that stays in the first-level cache.
struct Columns {
  int64_t rows, row_stride, columns, inner, outer_stride, inner_stride;
};
void TransposeColumns(const Columns& c, TransposeKernel transpose, int64_t bytes, char* dst,
                      const char* src) {
  constexpr int64_t kBlockRows = 128;
  alignas(64) char block[kShortRun * kBlockRows * 16];
  const int64_t pitch = kBlockRows * bytes;
  for (int64_t first = 0; first < c.columns; first += kShortRun) {
    const int64_t count = std::min(kShortRun, c.columns - first);
    for (int64_t row = 0; row < c.rows; row += kBlockRows) {
      const int64_t rows = std::min(kBlockRows, c.rows - row);
      transpose(block, pitch, src + row * c.row_stride + first * bytes, c.row_stride, rows, count);
      for (int64_t i = 0; i < count; ++i) {
        const int64_t column = first + i;
        std::memcpy(dst + column / c.inner * c.outer_stride + column % c.inner * c.inner_stride +
                        row * bytes,
                    block + i * pitch, rows * bytes);
      }
    }
  }
}

// Calls body(dst offset, src offset) for every index of the first `levels` levels.
template <typename Body>
void ForEach(const CopyPlan& plan, int levels, Body body) {
  int64_t index[CopyPlan::kMaxLevels] = {};
  int64_t d = 0;
  int64_t s = 0;
  while (true) {
    body(d, s);
    int level = levels - 1;
    for (; level >= 0; --level) {
      d += plan.dst_stride[level];
      s += plan.src_stride[level];
      if (++index[level] < plan.count[level]) break;
      d -= plan.count[level] * plan.dst_stride[level];
      s -= plan.count[level] * plan.src_stride[level];
      index[level] = 0;
    }
    if (level < 0) return;
  }
}

}  // namespace

CopyPlan PlanCopy(const TileShape& dst, const TileShape& src) {
  CopyPlan plan;
  plan.element_bytes = dst.element_bytes;
  if (dst.rows * dst.elements == 0) return plan;
  if (!Join(LevelsOf(dst), LevelsOf(src), &plan)) {
    plan.kind = CopyPlan::Kind::kGather;
    return plan;
  }
  const int64_t bytes = plan.element_bytes;
  if (plan.levels == 0) {  // one element
    plan.levels = 1;
    plan.count[0] = 1;
    plan.dst_stride[0] = plan.src_stride[0] = bytes;
  }
  int dense_dst = -1;
  int dense_src = -1;
  int longest = 0;
  for (int level = 0; level < plan.levels; ++level) {
    if (plan.dst_stride[level] == bytes) dense_dst = level;
    if (plan.src_stride[level] == bytes) dense_src = level;
    if (plan.count[level] >= plan.count[longest]) longest = level;
  }
  if (dense_dst >= 0 && dense_dst == dense_src) {
    plan.kind = CopyPlan::Kind::kRows;
    MoveInnermost(&plan, dense_dst);
  } else if (dense_dst >= 0 && dense_src >= 0) {
    plan.kind = CopyPlan::Kind::kTranspose;
    int wide = -1;  // goes on where the short dense level of src ends
    if (plan.count[dense_src] < kShortRun)
      for (int level = 0; level < plan.levels; ++level)
        if (level != dense_dst && level != dense_src &&
            plan.src_stride[level] == plan.count[dense_src] * bytes)
          wide = level;
    if (wide >= 0) {
      plan.kind = CopyPlan::Kind::kTransposeColumns;
      MoveInnermost(&plan, wide);
      dense_dst -= dense_dst > wide ? 1 : 0;
      dense_src -= dense_src > wide ? 1 : 0;
    }
    MoveInnermost(&plan, dense_dst);
    MoveInnermost(&plan, dense_src > dense_dst ? dense_src - 1 : dense_src);
  } else {
    plan.kind = CopyPlan::Kind::kStrided;
    // A side that is dense is walked as it lies, however short the runs; else the longest level.
    MoveInnermost(&plan, dense_dst >= 0 ? dense_dst : dense_src >= 0 ? dense_src : longest);
  }
  return plan;
}

void RunCopy(const CopyPlan& plan, const KernelTable& kernels, const Tile& dst, const Tile& src) {
  const int64_t bytes = plan.element_bytes;
  const int last = plan.levels - 1;
  switch (plan.kind) {
    case CopyPlan::Kind::kNone:
      return;
    case CopyPlan::Kind::kRows:
    case CopyPlan::Kind::kStrided: {
      const int across = std::max(0, last - 1);
      GridShape grid{1, 0, 0, plan.count[last], plan.dst_stride[last], plan.src_stride[last]};
      if (across < last) {
        grid.outer = plan.count[across];
        grid.dst_outer = plan.dst_stride[across];
        grid.src_outer = plan.src_stride[across];
      }
      const GridKernel copy = kernels.grid[bytes];
      ForEach(plan, across, [&](int64_t d, int64_t s) { copy(grid, dst.data + d, src.data + s); });
      return;
    }
    case CopyPlan::Kind::kTranspose: {
      // Level last-1 is dense in dst (the source's rows), level last is dense in src.
      const TransposeKernel transpose = kernels.transpose[bytes];
      ForEach(plan, last - 1, [&](int64_t d, int64_t s) {
        transpose(dst.data + d, plan.dst_stride[last], src.data + s, plan.src_stride[last - 1],
                  plan.count[last - 1], plan.count[last]);
      });
      return;
    }
    case CopyPlan::Kind::kTransposeColumns: {
      const Columns columns{
          plan.count[last - 1], plan.src_stride[last - 1], plan.count[last - 2] * plan.count[last],
          plan.count[last],     plan.dst_stride[last - 2], plan.dst_stride[last]};
      ForEach(plan, last - 2, [&](int64_t d, int64_t s) {
        TransposeColumns(columns, kernels.transpose[bytes], bytes, dst.data + d, src.data + s);
      });
      return;
    }
    case CopyPlan::Kind::kGather: {
      const TileShape to = dst.shape->Flattened();
      const TileShape from = src.shape->Flattened();
      alignas(64) char buffer[16384];
      const int64_t chunk = static_cast<int64_t>(sizeof buffer) / bytes;
      for (int64_t first = 0; first < to.elements; first += chunk) {
        const int64_t n = std::min(chunk, to.elements - first);
        GatherRow(from, src.data, first, n, buffer);
        ScatterRow(to, dst.data, first, n, buffer);
      }
      return;
    }
  }
}

// RunCopy, with the outermost level shared between host threads.
void RunShared(const CopyPlan& plan, const Tile& dst, const Tile& src) {
  if (plan.kind == CopyPlan::Kind::kNone || plan.kind == CopyPlan::Kind::kGather)
    return RunCopy(plan, Kernels(), dst, src);
  constexpr int64_t kGrain = 16;  // rows of a transposed block
  const double ns_per_byte = plan.kind == CopyPlan::Kind::kRows ? 0.05 : 0.15;
  const double bytes = static_cast<double>(dst.rows() * dst.elements() * plan.element_bytes);
  ParallelFor(plan.count[0], kGrain, bytes * ns_per_byte, [&](int64_t first, int64_t last) {
    CopyPlan part = plan;
    part.count[0] = last - first;
    RunCopy(part, Kernels(), {dst.data + first * plan.dst_stride[0], dst.shape},
            {src.data + first * plan.src_stride[0], src.shape});
  });
}

namespace {

Status ExecuteCopy(const Operation& operation, Execution& execution) {
  const auto& copy = operation.as<Movement>();
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& src = tiles.tile[1];
  if (copy.packing != nullptr) {
    FillPacked(operation, *copy.packing, src.data, dst.data, execution);
  } else if (copy.dynamic) {
    RunShared(PlanCopy(*dst.shape, *src.shape), dst, src);
  } else {
    RunShared(copy.plan, dst, src);
  }
  return OkStatus();
}

}  // namespace

const Movement* MovementOf(const Operation& operation) {
  if (!IsCopy(operation) && !IsTranspose(operation)) return nullptr;
  return &operation.as<Movement>();
}

void SetPacking(Operation* operation, TilePacking packing) {
  operation->as<Movement>().packing = std::make_shared<const TilePacking>(std::move(packing));
}

bool IsCopy(const Operation& operation) { return operation.execute == ExecuteCopy; }

Status DecodeCopy(const DecodeInput& input, Operation* op) {
  auto copy = std::make_unique<Movement>();
  const TileRef& dst = op->tiles[input.AddTile(op, "dst")];
  const bool dst_dynamic = dst.dynamic;
  const TileShape shape = dst.shape;
  const TileRef& src = op->tiles[input.AddTile(op, "src")];
  copy->dynamic = dst_dynamic || src.dynamic;
  copy->plan = PlanCopy(shape, src.shape);
  op->execute = ExecuteCopy;
  op->payload = std::move(copy);
  return OkStatus();
}

}  // namespace neuron::emulator
