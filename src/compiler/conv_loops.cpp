#include "compiler/conv_loops.h"

#include <algorithm>

namespace neuron::compiler {

ConvTile LargestTile(const ConvProblem& p, int64_t outputs, int64_t most) {
  ConvTile tile;
  tile.outputs = std::min(p.outputs, outputs);
  tile.place.assign(p.rank(), Affine(0));
  tile.places.assign(p.rank(), 1);
  int64_t room = most;
  for (size_t d = p.rank(); d-- > 0;) {
    tile.places[d] = std::clamp<int64_t>(p.places[d], 1, std::max<int64_t>(room, 1));
    room /= tile.places[d];
    if (tile.places[d] < p.places[d]) {
      room = 0;  // outer dimensions one at a time
      for (size_t outer = 0; outer < d; ++outer) tile.places[outer] = 1;
      break;
    }
  }
  tile.batch = std::clamp<int64_t>(room, 1, p.batch);
  return tile;
}

TileSpec SpecOf(const ConvProblem& p, size_t result_rank, const ConvTile& tile) {
  TileSpec spec;
  spec.start.assign(result_rank, Affine(0));
  spec.start[static_cast<size_t>(p.o_dim)] = tile.o_in_result;
  spec.start[static_cast<size_t>(p.n_dim)] = tile.n;
  spec.partition = {p.o_dim, 1, Count(tile.outputs)};
  if (!tile.batch_inside) spec.free.push_back({p.n_dim, 1, Count(tile.batch)});
  for (size_t d = 0; d < p.rank(); ++d) {
    spec.start[static_cast<size_t>(p.place_dims[d])] = tile.place[d];
    spec.free.push_back({p.place_dims[d], 1, Count(tile.places[d])});
  }
  if (tile.batch_inside) spec.free.push_back({p.n_dim, 1, Count(tile.batch)});
  return spec;
}

std::vector<bool> LoopedDims(const ConvProblem& p, size_t result_rank, const ConvTile& largest) {
  std::vector<bool> looped(result_rank, false);
  looped[static_cast<size_t>(p.o_dim)] = p.groups > 1 || p.outputs > largest.outputs;
  looped[static_cast<size_t>(p.n_dim)] = p.batch > largest.batch;
  for (size_t d = 0; d < p.rank(); ++d)
    looped[static_cast<size_t>(p.place_dims[d])] = p.places[d] > largest.places[d];
  return looped;
}

}  // namespace neuron::compiler
