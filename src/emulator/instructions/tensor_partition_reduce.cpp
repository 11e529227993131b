#include <algorithm>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kChunk = 1024;

struct Reduce : Operation::Payload {
  const KernelTable* kernels = nullptr;
  Domain domain = Domain::kFloat;
  BinaryKernel combine = nullptr;
  bool average = false;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& reduce = operation.as<Reduce>();
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& data = tiles.tile[1];
  alignas(64) uint32_t sum[kChunk];
  alignas(64) uint32_t next[kChunk];
  for (int64_t first = 0; first < dst.elements(); first += kChunk) {
    const int64_t n = std::min(kChunk, dst.elements() - first);
    for (int64_t row = 0; row < data.rows(); ++row) {
      const void* values =
          ReadRow(*reduce.kernels, reduce.domain, *data.shape, data.row(row), first, n, next);
      if (row == 0) {
        std::copy_n(static_cast<const uint32_t*>(values), n, sum);
      } else {
        reduce.combine(sum, sum, values, n);
      }
    }
    if (reduce.average) {
      const float rows = static_cast<float>(data.rows());
      reduce.kernels->binary[0][static_cast<int>(isa::AluOp::kDivide)]
                            [static_cast<int>(OperandForm::kRowValue)](sum, sum, &rows, n);
    }
    WriteRow(*reduce.kernels, reduce.domain, *dst.shape, dst.row(0), first, n, sum);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto reduce = std::make_unique<Reduce>();
  const isa::AluOp alu = input.in.Alu("op");
  reduce->kernels = &input.kernels;
  reduce->average = alu == isa::AluOp::kAverage;
  const bool integers = isa::IsIntegerArithmetic(input.in.instruction()) && !reduce->average;
  if (integers || isa::RowOf(alu).bitvec)
    reduce->domain =
        input.in.Tile("data")->dtype == DType::kU32 ? Domain::kUnsigned : Domain::kSigned;
  reduce->combine = input.kernels.binary[static_cast<int>(reduce->domain)][static_cast<int>(
      reduce->average ? isa::AluOp::kAdd : alu)][static_cast<int>(OperandForm::kRowRow)];
  if (reduce->combine == nullptr)
    return Unimplemented(NameOf(*op), ": operator ", isa::RowOf(alu).name);
  input.AddTile(op, "dst");
  input.AddTile(op, "data");
  op->execute = Execute;
  op->payload = std::move(reduce);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_partition_reduce;
const InstructionSemantics kSemantics_tensor_partition_reduce{Decode};

}  // namespace neuron::emulator
