#include <cstring>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

struct Source : Operation::Payload {
  isa::Affine value;
};

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<1> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const int64_t value = operation.as<Source>().value.Evaluate(execution.registers);
  if (dst.shape->element_bytes == 8) {
    std::memcpy(dst.row(0), &value, 8);
    return OkStatus();
  }
  const auto word = static_cast<uint32_t>(value);
  WriteWholeRow(Kernels(), DomainOf(dst.shape->dtype), dst, 0, &word);
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto source = std::make_unique<Source>();
  source->value = std::get<isa::Affine>(input.in["src"]);
  input.AddTile(op, "dst");
  op->execute = Execute;
  op->payload = std::move(source);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_register_store;
const InstructionSemantics kSemantics_register_store{Decode};

}  // namespace neuron::emulator
