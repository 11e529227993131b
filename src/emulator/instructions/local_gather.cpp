#include <algorithm>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kCorePartitions = 16;

struct Gather : Operation::Payload {
  const KernelTable* kernels = nullptr;
  int64_t each = 1, valid = 0;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& gather = operation.as<Gather>();
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const auto& [dst, src, index] = tiles.tile;
  const size_t bytes = static_cast<size_t>(src.shape->element_bytes);
  std::vector<char> from(static_cast<size_t>(src.elements()) * bytes);
  std::vector<char> to(static_cast<size_t>(dst.elements()) * bytes);
  std::vector<uint32_t> buffer, indices(static_cast<size_t>(gather.valid));
  for (int64_t group = 0; group < src.rows(); group += kCorePartitions) {
    for (int64_t r = 0; r < kCorePartitions; ++r) {
      const uint32_t* row =
          ReadWholeRow(*gather.kernels, Domain::kUnsigned, index, group + r, &buffer);
      for (int64_t j = r; j < gather.valid; j += kCorePartitions)
        indices[j] = row[j / kCorePartitions];
    }
    for (const uint32_t at : indices)
      if (at + gather.each > src.elements())
        return OutOfRange(NameOf(operation), ": index ", at, " of the core at row ", group,
                          " takes ", gather.each, " elements, rows of src_buffer have ",
                          src.elements());
    for (int64_t r = group; r < group + kCorePartitions; ++r) {
      GatherRow(*src.shape, src.row(r), 0, src.elements(), from.data());
      for (int64_t j = 0; j < gather.valid; ++j)
        std::copy_n(&from[indices[j] * bytes], gather.each * bytes, &to[j * gather.each * bytes]);
      ScatterRow(*dst.shape, dst.row(r), 0, dst.elements(), to.data());
    }
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto gather = std::make_unique<Gather>();
  gather->kernels = &input.kernels;
  gather->each = input.in.Integer("num_elem_per_idx", 1);
  gather->valid = input.in.Integer(
      "num_valid_indices", kCorePartitions * input.in.Tile("index")->MaxElementsPerPartition());
  input.AddTile(op, "dst");
  input.AddTile(op, "src_buffer");
  input.AddTile(op, "index");
  op->execute = Execute;
  op->payload = std::move(gather);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_local_gather;
const InstructionSemantics kSemantics_local_gather{Decode};

}  // namespace neuron::emulator
