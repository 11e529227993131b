#include "emulator/shadow.h"

#include <algorithm>

#include "emulator/byte_runs.h"
#include "isa/operands.h"

namespace neuron::emulator {
namespace {

const isa::Instruction& InstructionOf(const isa::Program& program, const Operation& operation) {
  return program.instructions[operation.index];
}

const isa::OperandDef& DefOf(const Operation& operation, const TileRef& ref) {
  const auto& defs = isa::DefOf(operation.opcode).operands;
  return defs[std::min<size_t>(ref.operand, defs.size() - 1)];
}

bool IsMatmul(isa::Opcode opcode) {
  return opcode == isa::Opcode::nc_matmul || opcode == isa::Opcode::nc_matmul_mx;
}

bool Accumulates(const isa::Instruction& instruction) {
  static_assert(isa::nc_matmul_operands::kAccumulate == 3);
  const size_t at = instruction.opcode == isa::Opcode::nc_matmul
                        ? size_t{isa::nc_matmul_operands::kAccumulate}
                        : size_t{isa::nc_matmul_mx_operands::kAccumulate};
  return IsMatmul(instruction.opcode) && isa::IntegerAt(instruction, at) != 0;
}

// The HBM side of an indirect DMA: where it lies is known by its indices only.
bool IsIndirect(const isa::Instruction& instruction, const TileRef& ref) {
  size_t index = SIZE_MAX;
  if (instruction.opcode == isa::Opcode::dma_copy) index = isa::dma_copy_operands::kIndex;
  if (instruction.opcode == isa::Opcode::dma_compute) index = isa::dma_compute_operands::kIndex;
  if (instruction.opcode == isa::Opcode::dma_transpose) index = isa::dma_transpose_operands::kIndex;
  if (index == SIZE_MAX || !ref.hbm) return false;
  return !std::holds_alternative<std::monostate>(isa::OperandAt(instruction, index));
}

}  // namespace

Shadow::Shadow(const isa::Program& program, const Core& core)
    : program_(program),
      sbuf_(static_cast<size_t>(core.sbuf().pitch() * isa::kPartitions)),
      psum_(static_cast<size_t>(core.psum().pitch() * isa::kPartitions)),
      tensors_(program.tensors.size()) {}

void Shadow::Begin(const BoundTensor* bound) {
  std::fill(sbuf_.begin(), sbuf_.end(), kNothing);
  std::fill(psum_.begin(), psum_.end(), kNothing);
  for (size_t t = 0; t < tensors_.size(); ++t) {
    const isa::TensorKind kind = program_.tensors[t].kind;
    if (kind == isa::TensorKind::kScratch || kind == isa::TensorKind::kOutput)
      tensors_[t].assign(static_cast<size_t>(bound[t].bytes), kNothing);
  }
}

const uint8_t* Shadow::RowOf(const TileRef& ref, const Tile& tile, const Execution& execution,
                             int64_t row) const {
  const char* at = tile.row(row);
  if (ref.hbm) return tensors_[ref.tensor].data() + (at - execution.tensors[ref.tensor].data);
  const bool sbuf = ref.pattern->memory == isa::Memory::kSbuf;
  const OnChipMemory& memory = sbuf ? execution.core->sbuf() : execution.core->psum();
  return (sbuf ? sbuf_ : psum_).data() + (at - memory.partition(0));
}

Status Shadow::Before(const Operation& operation, const Execution& execution) const {
  const isa::Instruction& instruction = InstructionOf(program_, operation);
  const bool accumulates = Accumulates(instruction);
  for (const TileRef& ref : operation.tiles) {
    const isa::OperandDef& def = DefOf(operation, ref);
    const bool reads =
        def.role == isa::Role::kIn || !ref.written || (accumulates && def.role == isa::Role::kOut);
    if (!reads || IsIndirect(instruction, ref)) continue;
    if (ref.hbm && tensors_[ref.tensor].empty()) continue;
    const bool matmul = accumulates && ref.written;
    const uint8_t least = matmul && program_.target == isa::Target::kTrn2 ? kByMatmul : kWritten;
    Tile tile;
    TileShape storage;
    NEURON_RETURN_IF_ERROR(execution.Resolve(operation, ref, &storage, &tile));
    for (int64_t row = 0; row < tile.rows(); ++row) {
      const uint8_t* shadow = RowOf(ref, tile, execution, row);
      int64_t bad = -1;
      ForEachRun(*tile.shape, [&](int64_t offset, int64_t bytes) {
        if (bad >= 0) return;
        const uint8_t* first = shadow + offset;
        const uint8_t* found =
            std::find_if(first, first + bytes, [least](uint8_t state) { return state < least; });
        if (found != first + bytes) bad = found - shadow;
      });
      if (bad < 0) continue;
      const std::string& source = program_.sources[instruction.source];
      std::string where;
      if (ref.hbm) {
        where = StrCat("byte ", tile.row(row) + bad - execution.tensors[ref.tensor].data, " of ",
                       program_.tensors[ref.tensor].name);
      } else {
        const bool sbuf = ref.pattern->memory == isa::Memory::kSbuf;
        const OnChipMemory& memory = sbuf ? execution.core->sbuf() : execution.core->psum();
        const int64_t at = tile.row(row) + bad - memory.partition(0);
        where = StrCat("byte ", at % memory.pitch(), " of partition ", at / memory.pitch(), " of ",
                       sbuf ? "sbuf" : "psum");
      }
      return InvalidArgument(
          matmul && shadow[bad] == kWritten ? "psum.accumulate: " : "uninitialised.read: ",
          NameOf(operation), source.empty() ? "" : StrCat(" (", source, ")"), ": ", def.name,
          matmul ? " accumulates onto " : " takes ", where, ", which no ",
          matmul ? "matmul" : "instruction", " of this program has written");
    }
  }
  return OkStatus();
}

void Shadow::After(const Operation& operation, const Execution& execution) {
  const isa::Instruction& instruction = InstructionOf(program_, operation);
  const uint8_t state = IsMatmul(operation.opcode) ? kByMatmul : kWritten;
  for (const TileRef& ref : operation.tiles) {
    if (!ref.written) continue;
    if (ref.hbm && tensors_[ref.tensor].empty()) continue;
    if (IsIndirect(instruction, ref)) {
      std::fill(tensors_[ref.tensor].begin(), tensors_[ref.tensor].end(), kWritten);
      continue;
    }
    Tile tile;
    TileShape storage;
    if (!execution.Resolve(operation, ref, &storage, &tile).ok()) continue;
    for (int64_t row = 0; row < tile.rows(); ++row) {
      auto* shadow = const_cast<uint8_t*>(RowOf(ref, tile, execution, row));
      ForEachRun(*tile.shape, [&](int64_t offset, int64_t bytes) {
        std::fill_n(shadow + offset, bytes, state);
      });
    }
  }
}

}  // namespace neuron::emulator
