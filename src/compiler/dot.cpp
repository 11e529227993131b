#include "compiler/dot.h"

#include <algorithm>

#include "compiler/dot_problem.h"
#include "compiler/loop_body.h"
#include "compiler/tiling.h"
#include "compiler/wide_dot.h"

namespace neuron::compiler {
namespace {

constexpr int64_t kRows = isa::kPartitions;  // of the array, and the contraction of one matmul
constexpr int64_t kMostTilesUnrolled = 16;

// A slice of at most 128 indices of the contraction, by constants only.
struct KTile {
  Dims outer;     // index per contraction dimension but the last
  int64_t begin;  // in the last one
  int64_t count;
};

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
    ListKTiles();
    const int64_t slots = static_cast<int64_t>(tiles_.size());
    const int64_t most_columns = isa::RowOf(ctx_.options.target).max_moving_free;
    block_columns_ = std::min<int64_t>({p_.columns(), most_columns, 512});
    block_rows_ = std::min(p_.rows(), kRows);
    // The moving panel: as many column blocks as fit beside the stationary one, all of k.
    const int64_t room = ctx_.sbuf.capacity() / 2;
    const int64_t per_block = slots * block_columns_ * ByteSize(p_.moving.view.dtype);
    const int64_t rows_bytes = 2 * slots * block_rows_ * ByteSize(p_.stationary.view.dtype);
    resident_ = per_block + rows_bytes <= room;
    const int64_t blocks = (p_.columns() + block_columns_ - 1) / block_columns_;
    panel_blocks_ = resident_
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
  void ListKTiles() {
    const int64_t inner = p_.k.back();
    Dims outer(p_.k.size() - 1, 0);
    const int64_t combinations = Product(p_.k) / std::max<int64_t>(inner, 1);
    for (int64_t c = 0; c < combinations; ++c) {
      for (int64_t begin = 0; begin < inner; begin += kRows)
        tiles_.push_back({outer, begin, std::min(kRows, inner - begin)});
      for (size_t d = outer.size(); d-- > 0;) {
        if (++outer[d] < p_.k[d]) break;
        outer[d] = 0;
      }
    }
  }

  TileSpec SpecOf(int64_t rows, int64_t columns) const {
    TileSpec spec;
    spec.start.assign(p_.domain.size(), Affine(0));
    spec.partition = {p_.row, 1, Count(rows)};
    spec.free = {{p_.column, 1, Count(columns)}};
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
    const Status status = ForEachTile(ctx_, p_.domain[d], 1, unroll, [&](Affine start, int64_t) {
      start_[d] = start;
      return Outer(d + 1);
    });
    if (!unroll) --outer_loops_;
    return status;
  }

  Status Columns() {
    const int64_t panel = panel_blocks_ * block_columns_;
    return ForEachTile(ctx_, p_.columns(), panel, false, [&](Affine start, int64_t columns) {
      start_[static_cast<size_t>(p_.column)] = start;
      if (!resident_) return Rows(columns, nullptr);
      NEURON_ASSIGN_OR_RETURN(const Tile moving, AllocatePanel(p_.moving, columns, NumTiles()));
      NEURON_RETURN_IF_ERROR(LoadPanel(p_.moving, p_.column, columns, 0, tiles_.size(), moving));
      NEURON_RETURN_IF_ERROR(Rows(columns, &moving));
      ctx_.Free(moving);
      return OkStatus();
    });
  }

  Status Rows(int64_t columns, const Tile* moving) {
    return ForEachTileInTurns(ctx_, p_.rows(), kRows, [&](Affine start, int64_t rows) {
      start_[static_cast<size_t>(p_.row)] = start;
      if (moving == nullptr) return StreamedBlock(rows, columns);
      NEURON_ASSIGN_OR_RETURN(const Tile stationary,
                              AllocatePanel(p_.stationary, rows, NumTiles()));
      NEURON_RETURN_IF_ERROR(LoadPanel(p_.stationary, p_.row, rows, 0, tiles_.size(), stationary));
      const Affine first = start_[static_cast<size_t>(p_.column)];
      for (int64_t done = 0; done < columns; done += block_columns_) {
        const int64_t count = std::min(block_columns_, columns - done);
        NEURON_ASSIGN_OR_RETURN(const Tile sum,
                                ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(count)}));
        Multiply(sum, stationary, *moving, done, 0, tiles_.size(), false);
        start_[static_cast<size_t>(p_.column)] = first + Affine(done);
        NEURON_RETURN_IF_ERROR(Evacuate(sum, rows, count));
        sums_.Done(sum);
      }
      start_[static_cast<size_t>(p_.column)] = first;
      stationaries_.Done(stationary);
      return OkStatus();
    });
  }

  // A contraction too long for SBUF: both panels pass through in pieces, the sum stays in PSUM.
  Status StreamedBlock(int64_t rows, int64_t columns) {
    NEURON_ASSIGN_OR_RETURN(const Tile sum,
                            ctx_.AllocatePsum(DType::kF32, Count(rows), {Count(columns)}));
    const size_t piece = static_cast<size_t>(kMostTilesUnrolled);
    for (size_t first = 0; first < tiles_.size(); first += piece) {
      const size_t last = std::min(tiles_.size(), first + piece);
      const int64_t count = static_cast<int64_t>(last - first);
      NEURON_ASSIGN_OR_RETURN(const Tile moving, AllocatePanel(p_.moving, columns, count));
      NEURON_ASSIGN_OR_RETURN(const Tile stationary, AllocatePanel(p_.stationary, rows, count));
      NEURON_RETURN_IF_ERROR(LoadPanel(p_.moving, p_.column, columns, first, last, moving));
      NEURON_RETURN_IF_ERROR(LoadPanel(p_.stationary, p_.row, rows, first, last, stationary));
      Multiply(sum, stationary, moving, 0, first, last, first > 0);
      ctx_.Free(moving);
      ctx_.Free(stationary);
    }
    NEURON_RETURN_IF_ERROR(Evacuate(sum, rows, columns));
    sums_.Done(sum);
    return OkStatus();
  }

  int64_t NumTiles() const { return static_cast<int64_t>(tiles_.size()); }

  // [128][slots][length]
  StatusOr<Tile> AllocatePanel(const DotOperand& operand, int64_t length, int64_t slots) {
    const int64_t partitions = std::clamp<int64_t>(p_.k.back(), 1, kRows);
    return ctx_.AllocateTile(operand.view.dtype, Count(partitions),
                             {Count(std::max<int64_t>(slots, 1)), Count(length)});
  }

  // One slot of a panel.
  static AccessPattern Slot(const Tile& panel, int64_t slot, int64_t k, int64_t begin,
                            int64_t count) {
    AccessPattern p = panel.pattern;
    const int64_t bytes = ByteSize(p.dtype);
    p.partitions = Count(k);
    p.offset = p.offset + Affine((slot * p.dims[0].step + begin) * bytes);
    p.dims[0] = {1, Count(count)};
    p.num_dims = 1;
    return p;
  }

  // Address of the operand's elements at the current place, contraction index `tile`.
  Affine Address(const DotOperand& operand, const KTile& tile) const {
    const View& view = operand.view;
    int64_t at = view.offset + tile.begin * operand.k.back();
    for (size_t d = 0; d < tile.outer.size(); ++d) at += tile.outer[d] * operand.k[d];
    const int64_t bytes = ByteSize(view.dtype);
    Affine offset(ctx_.BufferOf(view.base).byte_offset + at * bytes);
    for (size_t d = 0; d < start_.size(); ++d)
      if (operand.domain[d] != 0) offset = offset + start_[d] * (operand.domain[d] * bytes);
    return offset;
  }

  Status LoadPanel(const DotOperand& operand, int dim, int64_t length, size_t first, size_t last,
                   const Tile& panel) {
    const int64_t step = operand.domain[static_cast<size_t>(dim)];
    const int64_t k_step = operand.k.back();
    const uint16_t tensor = ctx_.BufferOf(operand.view.base).tensor;
    const DType dtype = operand.view.dtype;
    // Rows of k that lie side by side in HBM come in through the transposing DMA.
    const bool transposes = k_step == 1 && step != 1 && ByteSize(dtype) >= 2 && length > 1;
    for (size_t t = first; t < last;) {
      const KTile& tile = tiles_[t];
      const int64_t slot = static_cast<int64_t>(t - first);
      if (transposes) {
        ctx_.DmaTranspose(Slot(panel, slot, tile.count, 0, length),
                          AccessPattern::Hbm(dtype, tensor, Address(operand, tile), Count(length),
                                             step, {{1, Count(tile.count)}}));
        ++t;
        continue;
      }
      // Whole tiles that follow each other are one transfer.
      size_t end = t + 1;
      while (end < last && tile.count == kRows && tiles_[end].count == kRows &&
             tiles_[end].outer == tile.outer)
        ++end;
      const int64_t slots = static_cast<int64_t>(end - t);
      AccessPattern to = Slot(panel, slot, tile.count, 0, length);
      to.num_dims = 2;
      to.dims[0] = {panel.pattern.dims[0].step, Count(slots)};
      to.dims[1] = {1, Count(length)};
      ctx_.DmaCopy(
          to, AccessPattern::Hbm(dtype, tensor, Address(operand, tile), Count(tile.count), k_step,
                                 {{k_step * kRows, Count(slots)}, {step, Count(length)}}));
      t = end;
    }
    return OkStatus();
  }

  void Multiply(const Tile& sum, const Tile& stationary, const Tile& moving, int64_t column,
                size_t first, size_t last, bool accumulate) {
    const int64_t rows = sum.pattern.partitions.max;
    const int64_t columns = sum.pattern.dims[0].count.max;
    for (size_t t = first; t < last; ++t) {
      const int64_t slot = static_cast<int64_t>(t - first);
      const int64_t k = tiles_[t].count;
      ctx_.Matmul(sum.pattern, Slot(stationary, slot, k, 0, rows),
                  Slot(moving, slot, k, column, columns), accumulate || t > first);
    }
  }

  Status Evacuate(const Tile& sum, int64_t rows, int64_t columns) {
    TileSpec spec = SpecOf(rows, columns);
    spec.start = start_;
    NEURON_ASSIGN_OR_RETURN(const Tile value, ctx_.AllocateTile(kernel_.hero->shape().dtype,
                                                                Count(rows), {Count(columns)}));
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
