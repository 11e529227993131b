#include <cstring>

#include "emulator/decoder.h"

namespace neuron::emulator {
namespace {

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<1> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  uint32_t seed = 0;
  std::memcpy(&seed, tiles.tile[0].row(0), sizeof seed);
  execution.core->random(isa::Engine::kVector).Seed(seed);
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  input.AddTile(op, "src_seeds");
  op->execute = Execute;
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_set_rng_seed;
const InstructionSemantics kSemantics_set_rng_seed{Decode};

}  // namespace neuron::emulator
