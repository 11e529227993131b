#include <algorithm>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const auto& [dst, data, indices] = tiles.tile;
  const size_t bytes = static_cast<size_t>(data.shape->element_bytes);
  std::vector<char> from(static_cast<size_t>(data.elements()) * bytes);
  std::vector<char> to(static_cast<size_t>(dst.elements()) * bytes);
  std::vector<uint32_t> buffer;
  for (int64_t row = 0; row < dst.rows(); ++row) {
    const uint32_t* at = ReadWholeRow(Kernels(), Domain::kUnsigned, indices, row, &buffer);
    GatherRow(*data.shape, data.row(row), 0, data.elements(), from.data());
    for (int64_t j = 0; j < dst.elements(); ++j) {
      if (at[j] >= static_cast<uint64_t>(data.elements()))
        return OutOfRange(NameOf(operation), ": index ", at[j], " at row ", row,
                          " is out of bounds [0, ", data.elements(), ")");
      std::copy_n(&from[at[j] * bytes], bytes, &to[j * bytes]);
    }
    ScatterRow(*dst.shape, dst.row(row), 0, dst.elements(), to.data());
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  input.AddTile(op, "dst");
  input.AddTile(op, "data");
  input.AddTile(op, "indices");
  op->execute = Execute;
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_nc_n_gather;
const InstructionSemantics kSemantics_nc_n_gather{Decode};

}  // namespace neuron::emulator
