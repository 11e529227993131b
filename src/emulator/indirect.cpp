#include "emulator/indirect.h"

#include <cstring>

#include "isa/operands.h"

namespace neuron::emulator {

Indirect Indirect::Decode(const DecodeInput& input, Operation* op, int dst, int src) {
  Indirect indirect;
  indirect.index_tile = input.AddTile(op, "index");
  indirect.index_is_unsigned = input.in.Tile("index")->dtype == DType::kU32;
  indirect.hbm_tile = input.in.Flag("index_side") ? dst : src;
  TileRef& hbm = op->tiles[indirect.hbm_tile];
  indirect.step_bytes = input.in.Integer("index_step", 1) * hbm.shape.element_bytes;
  if (const auto* bound = std::get_if<isa::Affine>(&input.in["index_bound"]))
    indirect.bound = *bound;
  indirect.skip = input.in.Integer("oob_mode") == static_cast<int64_t>(isa::OobMode::kSkip);
  return indirect;
}

Status Indirect::RowOffset(const Operation& operation, const Execution& execution,
                           const Tile* tiles, int64_t row, int64_t* offset, bool* skipped) const {
  int32_t word = 0;
  std::memcpy(&word, tiles[index_tile].row(row), 4);
  const int64_t index = index_is_unsigned ? static_cast<int64_t>(static_cast<uint32_t>(word))
                                          : static_cast<int64_t>(word);
  const int64_t limit = bound.Evaluate(execution.registers);
  *skipped = false;
  if (index < 0 || index >= limit) {
    *skipped = true;
    if (skip) return OkStatus();
    return OutOfRange(NameOf(operation), ": index ", index, " at row ", row,
                      " is out of bounds [0, ", limit, ")");
  }
  *offset = index * step_bytes;
  // The pattern itself was checked without indices.
  const TileRef& ref = operation.tiles[hbm_tile];
  const BoundTensor& tensor = execution.tensors[ref.tensor];
  const int64_t begin = tiles[hbm_tile].data - tensor.data + *offset;
  if (begin + ref.low < 0 || begin + ref.high > tensor.bytes)
    return OutOfRange(NameOf(operation), ": index ", index, " at row ", row, " reaches byte ",
                      begin + ref.high, " of HBM tensor %", ref.tensor, ", which has ",
                      tensor.bytes, " bytes bound");
  return OkStatus();
}

}  // namespace neuron::emulator
