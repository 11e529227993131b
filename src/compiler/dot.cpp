#include "compiler/dot.h"

#include <algorithm>

#include "compiler/dot_panel.h"
#include "compiler/loop_body.h"
#include "compiler/tiling.h"
#include "compiler/wide_dot.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kRows = isa::kPartitions;  // of the array
constexpr int64_t kMostTilesUnrolled = 16;

class DotEmitter {
 public:
  DotEmitter(EmitContext& ctx, const Kernel& kernel, LoopBody& body, const DotProblem& p)
      : ctx_(ctx),
        kernel_(kernel),
        body_(body),
        p_(p),
        stationaries_(ctx),
        sums_(ctx),
        values_(ctx) {}

  Status Run() {
    counted_k_ = ctx_.IsRunTime(p_.k.back());
    for (size_t d = 0; d + 1 < p_.k.size(); ++d)
      if (ctx_.IsRunTime(p_.k[d]) || (counted_k_ && p_.k[d] != 1))
        return Unimplemented("compiler: a contraction over several dimensions, one of a run-time ",
                             "extent");
    if (!counted_k_) tiles_ = TilesOfK(p_.k);
    const int64_t slots = static_cast<int64_t>(tiles_.size());
    const int64_t most_columns = isa::RowOf(ctx_.options.target).max_moving_free;
    block_columns_ = std::min<int64_t>({ctx_.AtBound(p_.columns()), most_columns, 512});
    block_rows_ = std::min(ctx_.AtBound(p_.rows()), kRows);
    // The moving panel: as many column blocks as fit beside the stationary one and the epilogue,
    // all of k. Stationary tiles are loaded once for each panel: the wider, the better the DMA
    // keeps up.
    const int64_t capacity = ctx_.sbuf.capacity();
    const int64_t room =
        std::clamp(capacity - 4 * body_.members().PeakBytesPerElement() * block_columns_,
                   capacity / 2, capacity / 4 * 3);
    const int64_t per_block = slots * block_columns_ * ByteSize(p_.moving.view.dtype);
    const int64_t rows_bytes = 2 * slots * block_rows_ * ByteSize(p_.stationary.view.dtype);
    resident_ = per_block + rows_bytes <= room && !counted_k_;
    const int64_t blocks = (p_.columns() + block_columns_ - 1) / block_columns_;
    panel_blocks_ = resident_ && !ctx_.IsRunTime(p_.columns())
                        ? std::clamp<int64_t>((room - rows_bytes) / std::max<int64_t>(per_block, 1),
                                              1, std::min<int64_t>(blocks, 8))
                        : 1;

    const TileSpec largest = SpecOf(block_rows_, block_columns_);
    std::vector<bool> looped(p_.domain.size());
    for (size_t d = 0; d < looped.size(); ++d) looped[d] = p_.domain[d] > 1;
    looped[static_cast<size_t>(p_.row)] = p_.rows() > block_rows_;
    looped[static_cast<size_t>(p_.column)] = p_.columns() > block_columns_;
    NEURON_RETURN_IF_ERROR(body_.Begin(largest, looped));
    start_.assign(p_.domain.size(), Affine(0));
    NEURON_RETURN_IF_ERROR(Outer(0));
    for (TakingTurns* tiles : {&stationaries_, &sums_, &values_}) tiles->Clear();
    body_.End();
    return OkStatus();
  }

 private:
  TileSpec SpecOf(Count rows, Count columns) const {
    TileSpec spec;
    spec.start.assign(p_.domain.size(), Affine(0));
    spec.partition = {p_.row, 1, rows};
    spec.free = {{p_.column, 1, columns}};
    return spec;
  }

  // Dimensions that are neither rows nor columns, one index at a time.
  Status Outer(size_t d) {
    if (d == p_.domain.size()) return Columns();
    if (static_cast<int>(d) == p_.row || static_cast<int>(d) == p_.column) return Outer(d + 1);
    if (p_.domain[d] == 1) return Outer(d + 1);
    // An address has four registers: two are for rows and columns.
    const bool unroll = outer_loops_ == 2;
    if (!unroll) ++outer_loops_;
    const Status status = ForEachCounted(ctx_, p_.domain[d], 1, unroll, [&](Affine start, Count) {
      start_[d] = start;
      return Outer(d + 1);
    });
    if (!unroll) --outer_loops_;
    return status;
  }

  Status Columns() {
    const int64_t panel = panel_blocks_ * block_columns_;
    return ForEachCounted(ctx_, p_.columns(), panel, false, [&](Affine start, Count columns) {
      start_[static_cast<size_t>(p_.column)] = start;
      if (!resident_) return Rows(columns, nullptr);
      NEURON_ASSIGN_OR_RETURN(const Tile moving,
                              Panel(p_.moving, p_.column, columns, 0, tiles_.size()));
      NEURON_RETURN_IF_ERROR(Rows(columns, &moving));
      ctx_.Free(moving);
      return OkStatus();
    });
  }

  Status Rows(Count columns, const Tile* moving) {
    const auto block = [&](Affine start, Count rows) -> Status {
      start_[static_cast<size_t>(p_.row)] = start;
      if (counted_k_) return CountedBlock(rows, columns);
      if (moving == nullptr) return StreamedBlock(rows, columns);
      NEURON_ASSIGN_OR_RETURN(const Tile stationary,
                              Panel(p_.stationary, p_.row, rows, 0, tiles_.size()));
      const Affine first = start_[static_cast<size_t>(p_.column)];
      for (int64_t done = 0; done < columns.max; done += block_columns_) {
        const Count count = columns.is_constant()
                                ? Count(std::min<int64_t>(block_columns_, columns.max - done))
                                : columns;  // of a single block
        NEURON_ASSIGN_OR_RETURN(const Tile sum, ctx_.AllocatePsum(DType::kF32, rows, {count}));
        Multiply(sum, stationary, *moving, done, 0, tiles_.size(), false);
        start_[static_cast<size_t>(p_.column)] = first + Affine(done);
        NEURON_RETURN_IF_ERROR(Evacuate(sum, rows, count));
        sums_.Done(sum);
      }
      start_[static_cast<size_t>(p_.column)] = first;
      stationaries_.Done(stationary);
      return OkStatus();
    };
    if (ctx_.IsRunTime(p_.rows())) return ForEachCounted(ctx_, p_.rows(), kRows, false, block);
    return ForEachTileInTurns(ctx_, p_.rows(), kRows, [&](Affine start, int64_t rows) {
      return block(start, Count(rows));
    });
  }

  // A contraction over a run-time extent: tile by tile, in the order of a static one. The first
  // tile, which is all there is of a short one, sets the sum.
  Status CountedBlock(Count rows, Count columns) {
    const int64_t k = p_.k.back(), most = ctx_.AtBound(k);
    NEURON_ASSIGN_OR_RETURN(const Tile sum, ctx_.AllocatePsum(DType::kF32, rows, {columns}));
    const int64_t first = std::min(most, kRows);
    const Register in_first = ctx_.Computed("min", ctx_.ValueOf(k), Affine(first), first);
    NEURON_RETURN_IF_ERROR(
        CountedTile(sum, {{}, Affine(0), Count(first, in_first)}, rows, columns, false));
    const Affine whole = ctx_.EndOfWhole(k, kRows);
    if (most >= 2 * kRows) {
      const Register at =
          ctx_.b.LoopBegin(Affine(kRows), whole, kRows, most / kRows * kRows - kRows);
      NEURON_RETURN_IF_ERROR(
          CountedTile(sum, {{}, Affine::Of(at), Count(kRows)}, rows, columns, true));
      ctx_.b.LoopEnd();
    }
    if (most > kRows) {
      // What is left behind whole tiles, unless the first one had it.
      const Register done = ctx_.Computed("max", whole, Affine::Of(in_first), most);
      const Register left =
          ctx_.Computed("sub", ctx_.ValueOf(k), Affine::Of(done), std::min(most, kRows - 1));
      NEURON_RETURN_IF_ERROR(ctx_.IfAny(left, [&] {
        return CountedTile(sum, {{}, whole, Count(std::min(most, kRows - 1), left)}, rows, columns,
                           true);
      }));
    }
    NEURON_RETURN_IF_ERROR(Evacuate(sum, rows, columns));
    sums_.Done(sum);
    return OkStatus();
  }

  Status CountedTile(const Tile& sum, KTile tile, Count rows, Count columns, bool accumulate) {
    tile.outer.assign(p_.k.size() - 1, 0);
    tiles_ = {tile};
    NEURON_ASSIGN_OR_RETURN(const Tile moving, Panel(p_.moving, p_.column, columns, 0, 1));
    NEURON_ASSIGN_OR_RETURN(const Tile stationary, Panel(p_.stationary, p_.row, rows, 0, 1));
    Multiply(sum, stationary, moving, 0, 0, 1, accumulate);
    ctx_.Free(moving);
    ctx_.Free(stationary);
    return OkStatus();
  }

  // A contraction too long for SBUF: both panels pass through in pieces, the sum stays in PSUM.
  Status StreamedBlock(Count rows, Count columns) {
    NEURON_ASSIGN_OR_RETURN(const Tile sum, ctx_.AllocatePsum(DType::kF32, rows, {columns}));
    const size_t piece = static_cast<size_t>(kMostTilesUnrolled);
    for (size_t first = 0; first < tiles_.size(); first += piece) {
      const size_t last = std::min(tiles_.size(), first + piece);
      NEURON_ASSIGN_OR_RETURN(const Tile moving, Panel(p_.moving, p_.column, columns, first, last));
      NEURON_ASSIGN_OR_RETURN(const Tile stationary,
                              Panel(p_.stationary, p_.row, rows, first, last));
      Multiply(sum, stationary, moving, 0, first, last, first > 0);
      ctx_.Free(moving);
      ctx_.Free(stationary);
    }
    NEURON_RETURN_IF_ERROR(Evacuate(sum, rows, columns));
    sums_.Done(sum);
    return OkStatus();
  }

  StatusOr<Tile> Panel(const DotOperand& operand, int dim, Count length, size_t first,
                       size_t last) {
    NEURON_ASSIGN_OR_RETURN(
        const Tile panel,
        AllocatePanel(ctx_, operand.view.dtype, ctx_.AtBound(p_.k.back()), last - first, length));
    NEURON_RETURN_IF_ERROR(LoadPanel(ctx_, operand, start_, dim, length,
                                     std::span(tiles_).subspan(first, last - first), panel));
    return panel;
  }

  void Multiply(const Tile& sum, const Tile& stationary, const Tile& moving, int64_t column,
                size_t first, size_t last, bool accumulate) {
    const Count rows = sum.pattern.partitions;
    const Count columns = sum.pattern.dims[0].count;
    for (size_t t = first; t < last; ++t) {
      const int64_t slot = static_cast<int64_t>(t - first);
      const Count k = tiles_[t].count;
      ctx_.Matmul(sum.pattern, PanelSlot(stationary, slot, k, 0, rows),
                  PanelSlot(moving, slot, k, column, columns), accumulate || t > first);
    }
  }

  Status Evacuate(const Tile& sum, Count rows, Count columns) {
    TileSpec spec = SpecOf(rows, columns);
    spec.start = start_;
    NEURON_ASSIGN_OR_RETURN(const Tile value,
                            ctx_.AllocateTile(kernel_.hero->shape().dtype, rows, {columns}));
    if (tiles_.empty())
      ctx_.Memset(value.pattern, 0);
    else
      ctx_.TensorCopy(value.pattern, sum.pattern);
    NEURON_RETURN_IF_ERROR(body_.Emit(spec, {{kernel_.hero, value}}));
    values_.Done(value);
    return OkStatus();
  }

  EmitContext& ctx_;
  const Kernel& kernel_;
  LoopBody& body_;
  const DotProblem& p_;
  std::vector<KTile> tiles_;
  std::vector<Affine> start_;
  int64_t block_rows_ = 0, block_columns_ = 0, panel_blocks_ = 1;
  bool resident_ = true;
  bool counted_k_ = false;  // the contraction's extent is a run-time one
  int outer_loops_ = 0;
  TakingTurns stationaries_, sums_, values_;
};

}  // namespace

Status EmitDot(EmitContext& ctx, const Kernel& kernel) {
  if (kernel.hero->shape().num_elements() == 0) return OkStatus();
  if (!IsTensorEngineDot(*kernel.hero)) return EmitWideDot(ctx, kernel);
  NEURON_ASSIGN_OR_RETURN(const DotProblem problem, MakeDotProblem(ctx, kernel));
  Kernel shaped = kernel;
  shaped.domain = problem.domain;
  shaped.reduced.assign(problem.domain.size(), false);
  NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, shaped));
  return DotEmitter(ctx, kernel, body, problem).Run();
}

}  // namespace neuron::compiler
