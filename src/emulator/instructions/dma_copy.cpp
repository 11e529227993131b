#include <algorithm>

#include "emulator/indirect.h"
#include "emulator/row_io.h"
#include "emulator/row_program.h"
#include "emulator/strided_copy.h"

namespace neuron::emulator {
namespace {

struct IndirectCopy : Operation::Payload {
  Indirect indirect;
  bool same_type = true;
  Domain domain = Domain::kFloat;
  const KernelTable* kernels = nullptr;
};

void ConvertRow(const IndirectCopy& copy, const Tile& dst, const Tile& src) {
  alignas(64) uint32_t values[1024];
  for (int64_t first = 0; first < dst.elements(); first += 1024) {
    const int64_t n = std::min<int64_t>(1024, dst.elements() - first);
    const void* row = ReadRow(*copy.kernels, copy.domain, *src.shape, src.data, first, n, values);
    WriteRow(*copy.kernels, copy.domain, *dst.shape, dst.data, first, n, row);
  }
}

Status ExecuteIndirect(const Operation& operation, Execution& execution) {
  const auto& copy = operation.as<IndirectCopy>();
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  TileShape dst_row = *tiles.tile[0].shape;
  TileShape src_row = *tiles.tile[1].shape;
  const int64_t rows = dst_row.rows;
  dst_row.rows = src_row.rows = 1;
  const CopyPlan plan = PlanCopy(dst_row, src_row);
  for (int64_t row = 0; row < rows; ++row) {
    int64_t offset = 0;
    bool skipped = false;
    NEURON_RETURN_IF_ERROR(
        copy.indirect.RowOffset(operation, execution, tiles.tile, row, &offset, &skipped));
    if (skipped) continue;
    Tile dst{tiles.tile[0].row(row), &dst_row};
    Tile src{tiles.tile[1].row(row), &src_row};
    (copy.indirect.hbm_tile == 0 ? dst : src).data += offset;
    if (copy.same_type) {
      RunCopy(plan, *copy.kernels, dst, src);
    } else {
      ConvertRow(copy, dst, src);
    }
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  const DType to = input.in.Tile("dst")->dtype;
  const DType from = input.in.Tile("src")->dtype;
  if (Indirect::Present(input.in)) {
    auto copy = std::make_unique<IndirectCopy>();
    const int dst = input.AddTile(op, "dst");
    const int src = input.AddTile(op, "src");
    copy->indirect = Indirect::Decode(input, op, dst, src);
    copy->same_type = to == from;
    copy->domain = DomainOf(to) != Domain::kFloat && DomainOf(from) != Domain::kFloat
                       ? Domain::kSigned
                       : Domain::kFloat;
    copy->kernels = &input.kernels;
    op->execute = ExecuteIndirect;
    op->payload = std::move(copy);
    return OkStatus();
  }
  if (to == from) return DecodeCopy(input, op);
  RowBuilder rows(input, op, "dst");
  rows.ChooseDomain();
  rows.Store(rows.Load("src"), "dst");
  rows.Finish();
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_dma_copy;
const InstructionSemantics kSemantics_dma_copy{Decode};

}  // namespace neuron::emulator
