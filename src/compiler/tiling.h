// Loops over one dimension in tiles, for the emitters of heroes, and tiles that take turns.
#pragma once

#include <algorithm>
#include <optional>

#include "compiler/emitter.h"

namespace neuron::compiler {

// Calls body(start, count) so that the tiles [start, start + count) cover [0, extent): a register
// loop over whole tiles, then the rest by itself. With `unroll`, every tile has a constant start.
template <typename Body>
Status ForEachTile(EmitContext& ctx, int64_t extent, int64_t tile, bool unroll, const Body& body) {
  const int64_t whole = extent / tile;
  if (whole > 1 && !unroll) {
    const Register r = ctx.b.LoopBegin(Affine(0), Affine(whole * tile), tile, (whole - 1) * tile);
    NEURON_RETURN_IF_ERROR(body(Affine::Of(r), tile));
    ctx.b.LoopEnd();
  } else {
    for (int64_t i = 0; i < whole; ++i) NEURON_RETURN_IF_ERROR(body(Affine(i * tile), tile));
  }
  if (extent % tile != 0) return body(Affine(whole * tile), extent % tile);
  return OkStatus();
}

// As ForEachTile, for an extent that may be a run-time one: body(start, Count), the rest being what
// a register says.
template <typename Body>
Status ForEachCounted(EmitContext& ctx, int64_t extent, int64_t tile, bool unroll,
                      const Body& body) {
  if (!ctx.IsRunTime(extent))
    return ForEachTile(ctx, extent, tile, unroll,
                       [&](Affine start, int64_t n) { return body(start, Count(n)); });
  const Affine whole = ctx.EndOfWhole(extent, tile);
  const int64_t most = ctx.AtBound(extent);
  if (most >= tile) {
    const Register r = ctx.b.LoopBegin(Affine(0), whole, tile, most / tile * tile - tile);
    NEURON_RETURN_IF_ERROR(body(Affine::Of(r), Count(tile)));
    ctx.b.LoopEnd();
  }
  if (tile == 1) return OkStatus();
  const int64_t rest = std::min(most, tile - 1);
  const Register left = ctx.Computed("sub", ctx.ValueOf(extent), whole, rest);
  return ctx.IfAny(left, [&] { return body(whole, Count(rest, left)); });
}

// As ForEachTile, with two tiles per round of the loop, so that buffers which take turns have other
// addresses in the second one.
template <typename Body>
Status ForEachTileInTurns(EmitContext& ctx, int64_t extent, int64_t tile, const Body& body) {
  if (extent / tile < 4) return ForEachTile(ctx, extent, tile, false, body);
  const int64_t paired = extent / (2 * tile) * 2 * tile;
  NEURON_RETURN_IF_ERROR(
      ForEachTile(ctx, paired, 2 * tile, false, [&](Affine start, int64_t) -> Status {
        NEURON_RETURN_IF_ERROR(body(start, tile));
        return body(start + Affine(tile), tile);
      }));
  for (int64_t done = paired; done < extent; done += tile)
    NEURON_RETURN_IF_ERROR(body(Affine(done), std::min(tile, extent - done)));
  return OkStatus();
}

// The last tile of a kind, kept until the next one is there: neighbours in the program then use
// two addresses in turns, and the DMA of one overlaps the work on the other.
class TakingTurns {
 public:
  explicit TakingTurns(EmitContext& ctx) : ctx_(&ctx) {}
  void Done(const Tile& tile) {
    Clear();
    last_ = tile;
  }
  void Clear() {
    if (last_) ctx_->Free(*last_);
    last_.reset();
  }

 private:
  EmitContext* ctx_;
  std::optional<Tile> last_;
};

}  // namespace neuron::compiler
