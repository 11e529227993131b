// Loops over one dimension in tiles, for the emitters of heroes.
#pragma once

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

}  // namespace neuron::compiler
