#include <bit>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

struct Scan : Operation::Payload {
  const KernelTable* kernels = nullptr;
  Domain domain = Domain::kFloat;
  BinaryKernel op0 = nullptr, op1 = nullptr;
  bool reverse0 = false, reverse1 = false;
  double initial = 0;
  isa::Register initial_register = isa::kNoRegister;
  int initial_tile = -1;
};

uint32_t InitialBits(const Scan& scan, const Tile* tiles, int64_t row, const int64_t* registers) {
  if (scan.initial_tile >= 0) {
    uint32_t value = 0;
    const Tile& tile = tiles[scan.initial_tile];
    const void* read =
        ReadRow(*scan.kernels, scan.domain, *tile.shape, tile.row(row), 0, 1, &value);
    return *static_cast<const uint32_t*>(read);
  }
  if (scan.initial_register != isa::kNoRegister)
    return static_cast<uint32_t>(registers[scan.initial_register]);
  return scan.domain == Domain::kFloat ? std::bit_cast<uint32_t>(static_cast<float>(scan.initial))
                                       : static_cast<uint32_t>(static_cast<int64_t>(scan.initial));
}

// r[i] = (data0[i] op0 r[i-1]) op1 data1[i]
Status Execute(const Operation& operation, Execution& execution) {
  const auto& scan = operation.as<Scan>();
  ResolvedTiles<4> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  std::vector<uint32_t> a(kRowIoMax), b(kRowIoMax), out(kRowIoMax);
  for (int64_t row = 0; row < dst.rows(); ++row) {
    uint32_t r = InitialBits(scan, tiles.tile, row, execution.registers);
    for (int64_t first = 0; first < dst.elements(); first += kRowIoMax) {
      const int64_t n = std::min(kRowIoMax, dst.elements() - first);
      const auto* x =
          static_cast<const uint32_t*>(ReadRow(*scan.kernels, scan.domain, *tiles.tile[1].shape,
                                               tiles.tile[1].row(row), first, n, a.data()));
      const auto* y =
          static_cast<const uint32_t*>(ReadRow(*scan.kernels, scan.domain, *tiles.tile[2].shape,
                                               tiles.tile[2].row(row), first, n, b.data()));
      for (int64_t i = 0; i < n; ++i) {
        scan.reverse0 ? scan.op0(&r, &r, x + i, 1) : scan.op0(&r, x + i, &r, 1);
        scan.reverse1 ? scan.op1(&r, y + i, &r, 1) : scan.op1(&r, &r, y + i, 1);
        out[i] = r;
      }
      WriteRow(*scan.kernels, scan.domain, *dst.shape, dst.row(row), first, n, out.data());
    }
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto scan = std::make_unique<Scan>();
  scan->kernels = &input.kernels;
  if (isa::IsIntegerArithmetic(input.in.instruction())) scan->domain = Domain::kSigned;
  const auto kernel = [&](isa::AluOp alu) {
    return input.kernels.binary[static_cast<int>(scan->domain)][static_cast<int>(alu)]
                               [static_cast<int>(OperandForm::kRowRow)];
  };
  scan->op0 = kernel(input.in.Alu("op0"));
  scan->op1 = kernel(input.in.Alu("op1"));
  if (scan->op0 == nullptr || scan->op1 == nullptr)
    return Unimplemented(NameOf(*op), ": operator on this element type");
  scan->reverse0 = input.in.Flag("reverse0");
  scan->reverse1 = input.in.Flag("reverse1");
  input.AddTile(op, "dst");
  input.AddTile(op, "data0");
  input.AddTile(op, "data1");
  scan->initial_tile = input.AddTile(op, "initial");
  scan->initial = input.in.Number("initial");
  if (const auto* reg = std::get_if<isa::RegisterOperand>(&input.in["initial"]))
    scan->initial_register = reg->reg;
  op->execute = Execute;
  op->payload = std::move(scan);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_tensor_tensor_scan;
const InstructionSemantics kSemantics_tensor_tensor_scan{Decode};

}  // namespace neuron::emulator
