#include <algorithm>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

struct Nonzero : Operation::Payload {
  int64_t offset = 0, padding = -1;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& nonzero = operation.as<Nonzero>();
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& src = tiles.tile[1];
  std::vector<uint32_t> buffer, found(static_cast<size_t>(dst.elements()));
  const bool floating = DomainOf(src.shape->dtype) == Domain::kFloat;
  for (int64_t row = 0; row < src.rows(); row += 16) {
    const uint32_t* x = ReadWholeRow(Kernels(), DomainOf(src.shape->dtype), src, row, &buffer);
    std::fill(found.begin(), found.end(), static_cast<uint32_t>(nonzero.padding));
    uint32_t count = 0;
    for (int64_t i = 0; i < src.elements(); ++i) {
      const uint32_t bits = floating ? x[i] << 1 : x[i];  // -0 is zero
      if (bits != 0) found[count++] = static_cast<uint32_t>(i + nonzero.offset);
    }
    found.back() = count;
    WriteWholeRow(Kernels(), Domain::kSigned, dst, row, found.data());
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto nonzero = std::make_unique<Nonzero>();
  nonzero->offset = input.in.Integer("index_offset");
  nonzero->padding = input.in.Integer("padding_val", -1);
  input.AddTile(op, "dst");
  input.AddTile(op, "src");
  op->execute = Execute;
  op->payload = std::move(nonzero);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_nonzero_with_count;
const InstructionSemantics kSemantics_nonzero_with_count{Decode};

}  // namespace neuron::emulator
