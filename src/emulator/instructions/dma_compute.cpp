#include <algorithm>

#include "emulator/indirect.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kChunk = 1024;
constexpr int kMaxTiles = 19;

struct Compute : Operation::Payload {
  bool indirect_side = false;
  Indirect indirect;
  int first_source = 1;  // position of the first source among the tiles
  Domain domain = Domain::kFloat;
  const KernelTable* kernels = nullptr;
};

// to = sum of from[0..n), in order.
void AddRow(const Compute& compute, const Tile& dst, char* to, const Tile* tiles, char* const* from,
            int sources) {
  const BinaryKernel add =
      compute.kernels->binary[static_cast<int>(compute.domain)][static_cast<int>(isa::AluOp::kAdd)]
                             [static_cast<int>(OperandForm::kRowRow)];
  alignas(64) uint32_t sum[kChunk];
  alignas(64) uint32_t next[kChunk];
  for (int64_t first = 0; first < dst.elements(); first += kChunk) {
    const int64_t n = std::min(kChunk, dst.elements() - first);
    const void* total = sum;
    for (int i = 0; i < sources; ++i) {
      const void* row = ReadRow(*compute.kernels, compute.domain, *tiles[i].shape, from[i], first,
                                n, i == 0 ? sum : next);
      if (i == 0) {
        total = row;
        continue;
      }
      add(sum, total, row, n);
      total = sum;
    }
    WriteRow(*compute.kernels, compute.domain, *dst.shape, to, first, n, total);
  }
}

Status Execute(const Operation& operation, Execution& execution) {
  const auto& compute = operation.as<Compute>();
  ResolvedTiles<kMaxTiles> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  for (int64_t row = 0; row < dst.rows(); ++row) {
    if (!compute.indirect_side) {
      char* from[kMaxTiles];
      const int sources = static_cast<int>(operation.tiles.size()) - compute.first_source;
      for (int i = 0; i < sources; ++i) from[i] = tiles.tile[compute.first_source + i].row(row);
      AddRow(compute, dst, dst.row(row), &tiles.tile[compute.first_source], from, sources);
      continue;
    }
    int64_t offset = 0;
    bool skipped = false;
    NEURON_RETURN_IF_ERROR(
        compute.indirect.RowOffset(operation, execution, tiles.tile, row, &offset, &skipped));
    if (skipped) continue;
    char* to = dst.row(row) + (compute.indirect.hbm_tile == 0 ? offset : 0);
    char* src = tiles.tile[1].row(row) + (compute.indirect.hbm_tile == 1 ? offset : 0);
    char* from[2] = {to, src};
    AddRow(compute, dst, to, tiles.tile, from, 2);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto compute = std::make_unique<Compute>();
  compute->kernels = &input.kernels;
  if (isa::IsIntegerArithmetic(input.in.instruction())) compute->domain = Domain::kSigned;
  input.AddTile(op, "dst");
  const int sources = input.in.Find("srcs");
  const int count = static_cast<int>(input.in.instruction().operands.size());
  for (int i = sources; i < count; ++i) input.AddTile(op, i);
  compute->indirect_side = Indirect::Present(input.in);
  if (compute->indirect_side) compute->indirect = Indirect::Decode(input, op, 0, 1);
  op->execute = Execute;
  op->payload = std::move(compute);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_dma_compute;
const InstructionSemantics kSemantics_dma_compute{Decode};

}  // namespace neuron::emulator
