#include <algorithm>

#include "compiler/conv_mappings.h"

namespace neuron::compiler {
namespace {

// Contraction rows are ordered (i, tap...); a piece is the run of the last tap dimension, which one
// DMA puts on as many partitions.
struct Piece {
  int64_t input = 0;
  Dims tap;  // the last one is 0
  int slot = 0, row = 0;
};

class Im2colEmitter {
 public:
  Im2colEmitter(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p, LoopBody& body)
      : ctx_(ctx),
        kernel_(kernel),
        p_(p),
        body_(body),
        run_(p.taps.back()),
        images_(ctx),
        sums_(ctx),
        values_(ctx) {
    const int per_slot = static_cast<int>(isa::kPartitions / run_);
    Dims tap(p.rank(), 0);
    int index = 0;
    for (int64_t i = 0; i < p.inputs; ++i)
      for (int64_t t = 0; t < p.num_taps() / run_; ++t, ++index) {
        pieces_.push_back({.input = i,
                           .tap = tap,
                           .slot = index / per_slot,
                           .row = static_cast<int>(index % per_slot * run_)});
        for (size_t d = p.rank() - 1; d-- > 0;) {
          if (++tap[d] < p.taps[d]) break;
          tap[d] = 0;
        }
      }
    slots_ = pieces_.back().slot + 1;
    for (const Piece& piece : pieces_) {
      rows_.resize(static_cast<size_t>(piece.slot) + 1);
      rows_.back() = piece.row + run_;
    }
  }

  Status Run() {
    const int64_t columns = std::min<int64_t>(isa::RowOf(ctx_.options.target).max_moving_free, 512);
    const ConvTile largest = LargestTile(p_, isa::kPartitions, columns);
    const size_t rank = kernel_.domain.size();
    NEURON_RETURN_IF_ERROR(body_.Begin(SpecOf(p_, rank, largest), LoopedDims(p_, rank, largest)));
    NEURON_RETURN_IF_ERROR(ConvLoops(ctx_, p_, largest)
                               .Run([&](const ConvTile& tile) { return LoadWeights(tile); },
                                    [&](const ConvTile& tile) { return Pixels(tile); },
                                    [&] { ctx_.Free(weights_); }));
    for (TakingTurns* tiles : {&images_, &sums_, &values_}) tiles->Clear();
    body_.End();
    return OkStatus();
  }

 private:
  static AccessPattern Rows(const Tile& tile, int64_t slot, int row, int64_t rows) {
    AccessPattern p = tile.pattern;
    p.start_partition = static_cast<uint8_t>(row);
    p.partitions = Count(rows);
    p.offset = p.offset + Affine(slot * p.dims[0].step * ByteSize(p.dtype));
    for (int d = 1; d < p.num_dims; ++d)
      p.dims[static_cast<size_t>(d - 1)] = p.dims[static_cast<size_t>(d)];
    --p.num_dims;
    return p;
  }

  // [rows][slots][o]
  Status LoadWeights(const ConvTile& tile) {
    NEURON_ASSIGN_OR_RETURN(weights_, ctx_.AllocateTile(p_.weight.dtype, Count(rows_[0]),
                                                        {Count(slots_), Count(tile.outputs)}));
    for (const Piece& piece : pieces_) {
      std::vector<Affine> at(piece.tap.begin(), piece.tap.end());
      ctx_.DmaCopy(Rows(weights_, piece.slot, piece.row, run_),
                   AccessPattern::Hbm(p_.weight.dtype, p_.weight.tensor,
                                      ConvAddress(p_.weight, tile.group, tile.o, piece.input, at),
                                      Count(run_), p_.weight.spatial.back(),
                                      {{p_.weight.outer, Count(tile.outputs)}}));
    }
    return OkStatus();
  }

  Status Pixels(const ConvTile& tile) {
    // [rows][slots][pixels], pixels filled as (n, places...).
    NEURON_ASSIGN_OR_RETURN(
        const Tile image,
        ctx_.AllocateTile(p_.image.dtype, Count(rows_[0]), {Count(slots_), Count(tile.pixels())}));
    for (const Piece& piece : pieces_) {
      std::vector<Affine> at;
      for (size_t d = 0; d < p_.rank(); ++d)
        at.push_back(tile.place[d] * p_.stride[d] + Affine(piece.tap[d] * p_.dilation[d]));
      AccessPattern from = AccessPattern::Hbm(
          p_.image.dtype, p_.image.tensor,
          ConvAddress(p_.image, tile.group, tile.n, piece.input, at), Count(run_),
          p_.image.spatial.back() * p_.dilation.back(), {{p_.image.outer, Count(tile.batch)}});
      for (size_t d = 0; d < p_.rank(); ++d)
        from.dims[static_cast<size_t>(from.num_dims++)] = {p_.image.spatial[d] * p_.stride[d],
                                                           Count(tile.places[d])};
      ctx_.DmaCopy(Rows(image, piece.slot, piece.row, run_), from);
    }
    NEURON_ASSIGN_OR_RETURN(const Tile sum,
                            ctx_.AllocatePsum(DType::kF32, Count(tile.outputs), FreeCounts(tile)));
    for (int64_t slot = 0; slot < slots_; ++slot) {
      const int64_t rows = rows_[static_cast<size_t>(slot)];
      ctx_.Matmul(sum.pattern, Rows(weights_, slot, 0, rows), Rows(image, slot, 0, rows), slot > 0);
    }
    images_.Done(image);
    NEURON_RETURN_IF_ERROR(EvacuateConv(ctx_, kernel_, body_, p_, tile, sum, values_));
    sums_.Done(sum);
    return OkStatus();
  }

  EmitContext& ctx_;
  const Kernel& kernel_;
  const ConvProblem& p_;
  LoopBody& body_;
  const int64_t run_;
  std::vector<Piece> pieces_;
  int64_t slots_ = 1;
  Dims rows_;  // contraction rows per slot
  Tile weights_;
  TakingTurns images_, sums_, values_;
};

}  // namespace

Status EmitConvIm2col(EmitContext& ctx, const Kernel& kernel, const ConvProblem& p) {
  NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, kernel));
  return Im2colEmitter(ctx, kernel, p, body).Run();
}

}  // namespace neuron::compiler
