#include "emulator/decoder.h"

#include <algorithm>

namespace neuron::emulator {

#define NEURON_ROW(mnemonic) extern const InstructionSemantics kSemantics_##mnemonic;
#include "emulator_instructions_rows.inc"
#undef NEURON_ROW

const InstructionSemantics* SemanticsOf(isa::Opcode opcode) {
  switch (opcode) {
#define NEURON_ROW(mnemonic)  \
  case isa::Opcode::mnemonic: \
    return &kSemantics_##mnemonic;
#include "emulator_instructions_rows.inc"
#undef NEURON_ROW
    default:
      return nullptr;
  }
}

TileShape ShapeOf(const isa::AccessPattern& pattern, int64_t row_pitch, const int64_t* registers) {
  const auto count = [&](const isa::Count& c) -> int64_t {
    return registers == nullptr ? c.max : c.Evaluate(registers);
  };
  TileShape shape;
  shape.dtype = pattern.dtype;
  shape.element_bytes = static_cast<int32_t>(ByteSize(pattern.dtype));
  shape.rows = count(pattern.partitions);
  shape.row_stride = row_pitch;
  shape.num_dims = pattern.num_dims;
  for (int d = 0; d < pattern.num_dims; ++d) {
    shape.count[d] = count(pattern.dims[d].count);
    shape.stride[d] = pattern.dims[d].StepAt(registers) * shape.element_bytes;
  }
  shape.Normalise();
  return shape;
}

int64_t RowPitch(const Core& core, const isa::AccessPattern& pattern) {
  switch (pattern.memory) {
    case isa::Memory::kSbuf:
      return core.sbuf().pitch();
    case isa::Memory::kPsum:
      return core.psum().pitch();
    case isa::Memory::kHbm:
      break;
  }
  return pattern.partition_step * ByteSize(pattern.dtype);
}

int DecodeInput::AddTile(Operation* op, std::string_view name) const {
  return AddTile(op, in.Find(name));
}

int DecodeInput::AddTile(Operation* op, int operand) const {
  const auto& operands = in.instruction().operands;
  if (operand < 0 || operand >= static_cast<int>(operands.size())) return -1;
  const auto* pattern = std::get_if<isa::AccessPattern>(&operands[operand]);
  if (pattern == nullptr) return -1;
  TileRef ref;
  ref.operand = static_cast<uint16_t>(operand);
  ref.pattern = pattern;
  ref.hbm = pattern->memory == isa::Memory::kHbm;
  ref.tensor = pattern->tensor;
  const auto& defs = in.def().operands;
  ref.written = defs[std::min<size_t>(operand, defs.size() - 1)].role != isa::Role::kIn;
  ref.shape = ShapeOf(*pattern, RowPitch(core, *pattern), nullptr);
  ref.dynamic = !pattern->is_constant();
  ref.num_terms = pattern->offset.num_terms;
  std::copy_n(pattern->offset.terms.begin(), ref.num_terms, ref.terms);
  if (ref.hbm) {
    ref.offset = pattern->offset.base;
    const TileShape& shape = ref.shape;
    int64_t reach = (shape.rows - 1) * shape.row_stride;
    ref.low = std::min<int64_t>(0, reach);
    ref.high = std::max<int64_t>(0, reach) + shape.element_bytes;
    for (int d = 0; d < shape.num_dims; ++d) {
      reach = (shape.count[d] - 1) * shape.stride[d];
      (reach < 0 ? ref.low : ref.high) += reach;
    }
  } else {
    const OnChipMemory& memory = pattern->memory == isa::Memory::kSbuf ? core.sbuf() : core.psum();
    ref.base = memory.partition(pattern->start_partition) + pattern->offset.base;
  }
  op->tiles.push_back(ref);
  return static_cast<int>(op->tiles.size()) - 1;
}

std::string NameOf(const Operation& operation) {
  return StrCat(isa::DefOf(operation.opcode).mnemonic, " (instruction ", operation.index, ")");
}

namespace {

Status OutOfTensor(const Operation& operation, const TileRef& ref, const BoundTensor& tensor,
                   int64_t begin, int64_t end) {
  const auto& defs = isa::DefOf(operation.opcode).operands;
  const auto& def = defs[std::min<size_t>(ref.operand, defs.size() - 1)];
  return OutOfRange(NameOf(operation), ": operand ", def.name, " reaches bytes [", begin, ", ", end,
                    ") of HBM tensor %", ref.tensor, ", which has ", tensor.bytes, " bytes bound; ",
                    isa::ToString(*ref.pattern));
}

// Counts are bounded where they are declared; a bound that the pattern exceeds would reach beyond
// what was verified.
Status CheckCounts(const Operation& operation, const TileRef& ref, const int64_t* registers) {
  const auto check = [&](const isa::Count& count) -> Status {
    const int64_t value = count.Evaluate(registers);
    if (value >= 0 && value <= count.max) return OkStatus();
    return OutOfRange(NameOf(operation), ": a count is ", value, ", its maximum is ", count.max,
                      "; ", isa::ToString(*ref.pattern));
  };
  NEURON_RETURN_IF_ERROR(check(ref.pattern->partitions));
  for (int d = 0; d < ref.pattern->num_dims; ++d)
    NEURON_RETURN_IF_ERROR(check(ref.pattern->dims[d].count));
  return OkStatus();
}

}  // namespace

Status Execution::Resolve(const Operation& operation, const TileRef& ref, TileShape* storage,
                          Tile* tile) const {
  int64_t offset = ref.offset;
  for (int i = 0; i < ref.num_terms; ++i)
    offset += ref.terms[i].coefficient * registers[ref.terms[i].reg];
  tile->shape = &ref.shape;
  int64_t low = ref.low;
  int64_t high = ref.high;
  if (ref.dynamic) [[unlikely]] {
    *storage = ShapeOf(*ref.pattern,
                       ref.pattern->memory == isa::Memory::kHbm
                           ? ref.pattern->PartitionStepAt(registers) * ref.shape.element_bytes
                           : RowPitch(*core, *ref.pattern),
                       registers);
    tile->shape = storage;
    NEURON_RETURN_IF_ERROR(CheckCounts(operation, ref, registers));
    if (storage->rows <= 0 || storage->elements == 0) {
      storage->rows = 0;
      low = high = 0;
    } else if (ref.hbm) {
      int64_t reach = (storage->rows - 1) * storage->row_stride;
      low = std::min<int64_t>(0, reach);
      high = std::max<int64_t>(0, reach) + storage->element_bytes;
      for (int d = 0; d < storage->num_dims; ++d) {
        reach = (storage->count[d] - 1) * storage->stride[d];
        (reach < 0 ? low : high) += reach;
      }
    }
    if (ref.flat && storage->rows != 0) *storage = storage->Flattened();
  }
  if (!ref.hbm) {
    tile->data = ref.base + offset + own_shift[static_cast<int>(ref.own)];
    return OkStatus();
  }
  const BoundTensor& tensor = tensors[ref.tensor];
  offset += tensor.offset;
  if (offset + low < 0 || offset + high > tensor.bytes) [[unlikely]] {
    if (high > low) return OutOfTensor(operation, ref, tensor, offset + low, offset + high);
  }
  tile->data = tensor.data + offset;
  return OkStatus();
}

}  // namespace neuron::emulator
