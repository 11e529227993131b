#include <algorithm>

#include "isa/instruction.h"
#include "isa/overlap.h"
#include "isa/psum_bank.h"

namespace neuron::isa {
namespace {

std::string_view KindName(OperandKind kind) {
  switch (kind) {
    case OperandKind::kTile:
      return "a tile";
    case OperandKind::kNumber:
      return "a number";
    case OperandKind::kInteger:
      return "an integer";
    case OperandKind::kScalarOrTile:
      return "a number, a register or a tile";
    case OperandKind::kAffine:
      return "a register expression";
    case OperandKind::kRegister:
      return "a register";
    case OperandKind::kAlu:
      return "an ALU operator";
    case OperandKind::kActivation:
      return "an activation function";
    case OperandKind::kFlag:
      return "0 or 1";
    case OperandKind::kText:
      return "text";
    case OperandKind::kIntegers:
      return "a list of integers";
    case OperandKind::kTiles:
      return "a tile, a number or a register";
  }
  return "?";
}

bool Matches(OperandKind kind, const Operand& operand) {
  const auto is = [&]<typename... T>() { return (std::holds_alternative<T>(operand) || ...); };
  switch (kind) {
    case OperandKind::kTile:
      return is.operator()<AccessPattern>();
    case OperandKind::kNumber:
      return is.operator()<double>();
    case OperandKind::kInteger:
      return is.operator()<int64_t>();
    case OperandKind::kScalarOrTile:
      return is.operator()<double, RegisterOperand, AccessPattern>();
    case OperandKind::kAffine:
      return is.operator()<Affine>();
    case OperandKind::kRegister:
      return is.operator()<RegisterOperand>();
    case OperandKind::kAlu:
      return is.operator()<AluOp>();
    case OperandKind::kActivation:
      return is.operator()<ActivationFunction>();
    case OperandKind::kFlag: {
      const auto* flag = std::get_if<int64_t>(&operand);
      return flag != nullptr && (*flag == 0 || *flag == 1);
    }
    case OperandKind::kText:
      return is.operator()<std::string>();
    case OperandKind::kIntegers:
      return is.operator()<std::vector<int64_t>>();
    case OperandKind::kTiles:
      return is.operator()<AccessPattern, int64_t, double, RegisterOperand, Affine>();
  }
  return false;
}

std::string_view MemoryName(Memory memory) {
  switch (memory) {
    case Memory::kSbuf:
      return "sbuf";
    case Memory::kPsum:
      return "psum";
    case Memory::kHbm:
      return "hbm";
  }
  return "?";
}

std::string MemoryNames(uint8_t mask) {
  std::string names;
  for (const Memory memory : {Memory::kSbuf, Memory::kPsum, Memory::kHbm})
    if ((mask & static_cast<uint8_t>(memory)) != 0)
      names += StrCat(names.empty() ? "" : " or ", MemoryName(memory));
  return names;
}

// Tensor reads SBUF and writes PSUM; GpSimd and the DMA engines never reach PSUM.
Status CheckPort(const AccessPattern& tile, Engine engine, Role role) {
  if (engine == Engine::kTensor && tile.memory != Memory::kHbm) {
    const Memory need = role == Role::kIn ? Memory::kSbuf : Memory::kPsum;
    if (tile.memory != need)
      return InvalidArgument("is in ", MemoryName(tile.memory), ", the Tensor engine ",
                             role == Role::kIn ? "reads sbuf" : "writes psum", " only");
  }
  if ((engine == Engine::kGpSimd || engine == Engine::kDma) && tile.memory == Memory::kPsum)
    return InvalidArgument("is in psum, which ", EngineName(engine), " cannot reach");
  return OkStatus();
}

// DMA and sequencers address SBUF as memory; engines read it through ports of 32 partitions.
Status CheckPartitions(const AccessPattern& tile, const OperandDef& def, Engine engine) {
  const int64_t count = tile.partitions.max;
  const int start = tile.start_partition;
  if (count < 1 || count > kPartitions)
    return InvalidArgument("has ", count, " partitions, allowed are 1 to ", kPartitions);
  if (start + count > kPartitions)
    return InvalidArgument("covers partitions ", start, " to ", start + count, ", memory has ",
                           kPartitions);
  if (engine == Engine::kDma || engine == Engine::kSync) return OkStatus();
  if (def.scale_rows) {
    if (start % 32 <= 12 && start % 4 == 0) return OkStatus();
    return InvalidArgument("starts at partition ", start,
                           "; scales start at 0, 4, 8 or 12 of a quadrant");
  }
  const int grain = count > 64 ? 128 : count > 32 ? 64 : 32;
  if (start % grain != 0)
    return InvalidArgument("starts at partition ", start, "; ", count,
                           " partitions may start at multiples of ", grain);
  return OkStatus();
}

// Keeps products of counts and steps far from 64-bit overflow, whatever a container holds.
Status CheckMagnitudes(const AccessPattern& tile) {
  constexpr int64_t kMost = int64_t{1} << 48;
  int64_t elements = std::max(tile.partitions.max, 1);
  int64_t reach = 0;
  const auto add = [&reach](int64_t step, int64_t count) {
    int64_t distance = 0;
    return step > -kMost && step < kMost && !__builtin_mul_overflow(step, count, &distance) &&
           !__builtin_add_overflow(reach, distance < 0 ? -distance : distance, &reach) &&
           reach <= kMost;
  };
  bool ok = tile.offset.base > -kMost && tile.offset.base < kMost &&
            add(tile.partition_step, tile.partitions.max);
  for (int i = 0; ok && i < tile.num_dims; ++i)
    ok = add(tile.dims[i].step, tile.dims[i].count.max) &&
         !__builtin_mul_overflow(elements, int64_t{tile.dims[i].count.max}, &elements) &&
         elements <= kMost;
  for (int i = 0; ok && i < tile.offset.num_terms; ++i)
    ok = tile.offset.terms[i].coefficient > -kMost && tile.offset.terms[i].coefficient < kMost;
  if (ok) return OkStatus();
  return InvalidArgument("reaches beyond 2^48 elements or bytes");
}

Status CheckTile(const AccessPattern& tile, const OperandDef& def, const Instruction& instruction,
                 const InstructionDef& row, Target target) {
  if ((def.memories & static_cast<uint8_t>(tile.memory)) == 0)
    return InvalidArgument("is in ", MemoryName(tile.memory), ", expected ",
                           MemoryNames(def.memories));
  const int64_t size = ByteSize(tile.dtype);
  if (size == 0) return InvalidArgument("has no element type");
  if (def.dtypes != 0 && !Contains(def.dtypes, tile.dtype))
    return InvalidArgument("is ", DTypeName(tile.dtype), ", which ", row.mnemonic,
                           " does not take there");
  NEURON_RETURN_IF_ERROR(CheckPort(tile, instruction.engine, def.role));
  if (tile.num_dims > AccessPattern::kMaxDims || tile.num_dims > row.max_free_dims)
    return InvalidArgument("has ", static_cast<int>(tile.num_dims), " free dimensions, ",
                           row.mnemonic, " takes at most ", static_cast<int>(row.max_free_dims));
  NEURON_RETURN_IF_ERROR(CheckMagnitudes(tile));
  if (tile.offset.is_constant() && tile.offset.base % size != 0)
    return InvalidArgument("begins at byte ", tile.offset.base, ", which is no multiple of ",
                           DTypeName(tile.dtype), "'s ", size);
  const bool on_chip = tile.memory != Memory::kHbm;
  for (int i = 0; i < tile.num_dims; ++i) {
    const Dim& dim = tile.dims[i];
    if (dim.count.max < 1) return InvalidArgument("has a free dimension of count ", dim.count.max);
    // Documented: 16-bit fields, counts unsigned, steps signed.
    if (on_chip && (dim.count.max > kMaxCountOnChip || dim.step < -0x8000 || dim.step > 0x7fff))
      return InvalidArgument("has a free dimension (", dim.step, ", ", dim.count.max,
                             "); on chip counts go to 65535, steps from -32768 to 32767");
  }
  if (!on_chip) {
    if (tile.partitions.max < 1) return InvalidArgument("has ", tile.partitions.max, " rows");
    return OkStatus();
  }
  NEURON_RETURN_IF_ERROR(CheckPartitions(tile, def, instruction.engine));
  if (tile.offset.is_constant()) {
    const TargetRow& limits = RowOf(target);
    const int64_t most = tile.memory == Memory::kSbuf ? limits.sbuf_bytes_per_partition
                                                      : limits.psum_bytes_per_partition;
    const ByteRange bytes = Footprint(tile, nullptr);
    if (bytes.begin < 0 || bytes.end > most)
      return OutOfRange("covers bytes ", bytes.begin, " to ", bytes.end, " of a partition, ",
                        limits.name, "'s ", MemoryName(tile.memory), " has ", most);
  }
  return OkStatus();
}

// A destination lies apart from the sources, or is one of them element for element (which a row
// may forbid: CheckNotInPlace). A scalar per partition is read before its row is written.
Status CheckOverlap(const Instruction& instruction, const InstructionDef& row) {
  const auto def = [&row](size_t i) -> const OperandDef& {
    return row.operands[std::min(i, row.operands.size() - 1)];
  };
  bool indirect = false;
  for (size_t i = 0; i < instruction.operands.size(); ++i)
    indirect = indirect || (def(i).name == "index" && def(i).optional &&
                            std::holds_alternative<AccessPattern>(instruction.operands[i]));
  for (size_t out = 0; out < instruction.operands.size(); ++out) {
    const auto* dst = std::get_if<AccessPattern>(&instruction.operands[out]);
    if (dst == nullptr || def(out).role == Role::kIn) continue;
    if (def(out).kind == OperandKind::kTiles) continue;  // a kernel states its own
    for (size_t in = 0; in < instruction.operands.size(); ++in) {
      const auto* src = std::get_if<AccessPattern>(&instruction.operands[in]);
      const bool earlier_output = def(in).role != Role::kIn && in >= out;
      if (src == nullptr || earlier_output) continue;
      if (def(in).kind == OperandKind::kScalarOrTile && src->MaxElementsPerPartition() == 1)
        continue;
      if (dst->memory == Memory::kHbm && indirect) continue;  // its indices say where it lies
      if (OverlapOf(*dst, *src) != Overlap::kPartial) continue;
      return InvalidArgument(row.mnemonic, ".overlap: ", def(out).name, " ", ToString(*dst),
                             " overlaps ", def(in).name, " ", ToString(*src),
                             "; they may share no byte, or be the same elements in one order");
    }
  }
  return OkStatus();
}

// trn2: one instruction writes within one bank. Run-time offsets: verifier.cpp.
Status CheckBank(const Instruction& instruction, const InstructionDef& row, Target target) {
  if (!WritesWithinBank(instruction.engine, target)) return OkStatus();
  for (size_t i = 0; i < row.operands.size(); ++i) {
    const auto* tile = std::get_if<AccessPattern>(&OperandAt(instruction, i));
    if (tile == nullptr || row.operands[i].role == Role::kIn || !tile->offset.is_constant())
      continue;
    const ByteRange bytes = Footprint(*tile, nullptr);
    const int64_t bank = RowOf(target).psum_bank_bytes;
    if (bytes.begin / bank != (bytes.end - 1) / bank)
      return InvalidArgument(row.mnemonic, ".bank: ", row.operands[i].name, " covers bytes ",
                             bytes.begin, " to ", bytes.end,
                             " of a partition, more than one PSUM bank of ", bank);
  }
  return OkStatus();
}

Status CheckOperand(const Operand& operand, const OperandDef& def, const Instruction& instruction,
                    const InstructionDef& row, Target target) {
  if (std::holds_alternative<std::monostate>(operand)) {
    if (def.optional) return OkStatus();
    return InvalidArgument("is missing, expected ", KindName(def.kind));
  }
  if (!Matches(def.kind, operand))
    return InvalidArgument("is of the wrong kind, expected ", KindName(def.kind));
  if (const auto* tile = std::get_if<AccessPattern>(&operand))
    return CheckTile(*tile, def, instruction, row, target);
  return OkStatus();
}

}  // namespace

Status VerifyInstruction(const Instruction& instruction, Target target) {
  if (static_cast<size_t>(instruction.opcode) >= InstructionTable().size())
    return InvalidArgument("opcode ", static_cast<int>(instruction.opcode),
                           " is not in the instruction table");
  const InstructionDef& row = DefOf(instruction.opcode);
  if (target < row.since)
    return InvalidArgument(row.mnemonic, ".target: exists from ", RowOf(row.since).name,
                           " on, the program is made for ", RowOf(target).name);
  if (static_cast<int>(instruction.engine) >= kNumEngines ||
      (row.engines & Bit(instruction.engine)) == 0)
    return InvalidArgument(row.mnemonic, ": cannot run on engine ", EngineName(instruction.engine));
  const bool variadic = !row.operands.empty() && row.operands.back().kind == OperandKind::kTiles;
  if (!variadic && instruction.operands.size() > row.operands.size())
    return InvalidArgument(row.mnemonic, ": ", instruction.operands.size(),
                           " operands, it takes at most ", row.operands.size());
  const size_t count = std::max(instruction.operands.size(), row.operands.size());
  for (size_t i = 0; i < count; ++i) {
    const OperandDef& def = row.operands[std::min(i, row.operands.size() - 1)];
    const Status status = CheckOperand(OperandAt(instruction, i), def, instruction, row, target);
    if (!status.ok()) return status.WithPrefix(StrCat(row.mnemonic, ": ", def.name, " "));
  }
  if (row.check != nullptr) NEURON_RETURN_IF_ERROR(row.check(instruction, target));
  NEURON_RETURN_IF_ERROR(CheckOverlap(instruction, row));
  return CheckBank(instruction, row, target);
}

}  // namespace neuron::isa
