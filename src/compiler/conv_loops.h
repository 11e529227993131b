// The loops that all convolution mappings share: groups, output features, and tiles of pixels.
#pragma once

#include "compiler/conv_problem.h"
#include "compiler/loop_body.h"
#include "compiler/tiling.h"

namespace neuron::compiler {

// One output tile: features [o, o + outputs) of a group on partitions, pixels along the free axes.
struct ConvTile {
  Affine group, o, n;
  Affine o_in_result;  // group * outputs + o
  int64_t outputs = 1, batch = 1;
  std::vector<Affine> place;
  Dims places;
  // Order of the free axes: (n, places...) or (places..., n).
  bool batch_inside = false;
  int64_t pixels() const { return batch * Product(places); }
};

// Extents of the largest tile: inner pixels first, at most `most` together.
ConvTile LargestTile(const ConvProblem& p, int64_t outputs, int64_t most);

// The tile in the result's domain, for the LoopBody.
TileSpec SpecOf(const ConvProblem& p, size_t result_rank, const ConvTile& tile);
std::vector<bool> LoopedDims(const ConvProblem& p, size_t result_rank, const ConvTile& largest);

class ConvLoops {
 public:
  ConvLoops(EmitContext& ctx, const ConvProblem& p, ConvTile largest)
      : ctx_(ctx), p_(p), largest_(std::move(largest)), tile_(largest_) {
    for (size_t d = 0; d < p.rank() && turning_ < 0; ++d)
      if (p.places[d] > largest_.places[d]) turning_ = static_cast<int>(d);
  }

  // weights(tile) before the pixels of each block of features, pixels(tile) for each tile,
  // done() after the block.
  template <typename Weights, typename Pixels, typename Done>
  Status Run(const Weights& weights, const Pixels& pixels, const Done& done) {
    return Loop(p_.groups, 1, [&](Affine group, int64_t) {
      tile_.group = group;
      return Loop(p_.outputs, largest_.outputs, [&](Affine o, int64_t outputs) -> Status {
        tile_.o = o;
        tile_.o_in_result = group * p_.outputs + o;
        tile_.outputs = outputs;
        NEURON_RETURN_IF_ERROR(weights(tile_));
        NEURON_RETURN_IF_ERROR(Loop(
            p_.batch, largest_.batch,
            [&](Affine n, int64_t batch) {
              tile_.n = n;
              tile_.batch = batch;
              return Places(0, pixels);
            },
            turning_ < 0));
        done();
        return OkStatus();
      });
    });
  }

 private:
  template <typename Pixels>
  Status Places(size_t d, const Pixels& pixels) {
    if (d == p_.rank()) return pixels(tile_);
    return Loop(
        p_.places[d], largest_.places[d],
        [&](Affine place, int64_t places) {
          tile_.place[d] = place;
          tile_.places[d] = places;
          return Places(d + 1, pixels);
        },
        static_cast<int>(d) == turning_);
  }
  // An address has four registers; further loops are unrolled.
  template <typename Body>
  Status Loop(int64_t extent, int64_t step, const Body& body, bool in_turns = false) {
    const bool loops = extent / step > 1 && registers_ < isa::Affine::kMaxTerms;
    registers_ += loops;
    const Status status = loops && in_turns ? ForEachTileInTurns(ctx_, extent, step, body)
                                            : ForEachTile(ctx_, extent, step, !loops, body);
    registers_ -= loops;
    return status;
  }

  EmitContext& ctx_;
  const ConvProblem& p_;
  const ConvTile largest_;
  ConvTile tile_;
  int registers_ = 0;
  int turning_ = -1;  // the place dimension whose tiles take turns; -1: the batch's
};

}  // namespace neuron::compiler
