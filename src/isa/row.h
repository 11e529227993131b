// What a row of the instruction table (instructions/<mnemonic>.cpp) is written with: constructors
// of operand declarations, dtype masks, shared rules and cost terms. For those files only.
#pragma once

#include <algorithm>
#include <initializer_list>

#include "isa/instruction.h"
#include "isa/operands.h"

namespace neuron::isa {

// Every row, declared here so that its definition has external linkage.
#define NEURON_ROW(mnemonic) extern const InstructionDef kDef_##mnemonic;
#include "isa_instructions_rows.inc"
#undef NEURON_ROW

inline constexpr uint8_t kSbuf = static_cast<uint8_t>(Memory::kSbuf);
inline constexpr uint8_t kPsum = static_cast<uint8_t>(Memory::kPsum);
inline constexpr uint8_t kHbm = static_cast<uint8_t>(Memory::kHbm);
inline constexpr uint8_t kOnChip = kSbuf | kPsum;

inline constexpr DTypeMask kAnyDType = 0;
inline constexpr DTypeMask kF32Only = Mask({DType::kF32});
inline constexpr DTypeMask kFloat8 = Mask({DType::kF8E5M2, DType::kF8E4M3FN, DType::kF8E4M3});
inline constexpr DTypeMask kFloats =
    kFloat8 | Mask({DType::kF16, DType::kBF16, DType::kF32, DType::kTF32});
inline constexpr DTypeMask kIntegers = Mask(
    {DType::kPred, DType::kS8, DType::kS16, DType::kS32, DType::kU8, DType::kU16, DType::kU32});
// What Vector, Scalar and GpSimd compute on.
inline constexpr DTypeMask kNumbers = kFloats | kIntegers;

constexpr OperandDef Tile(std::string_view name, Role role, uint8_t memories, DTypeMask dtypes,
                          std::string_view doc) {
  return {name, OperandKind::kTile, role, memories, dtypes, false, doc};
}
constexpr OperandDef Out(std::string_view name, uint8_t memories, DTypeMask dtypes,
                         std::string_view doc) {
  return Tile(name, Role::kOut, memories, dtypes, doc);
}
constexpr OperandDef In(std::string_view name, uint8_t memories, DTypeMask dtypes,
                        std::string_view doc) {
  return Tile(name, Role::kIn, memories, dtypes, doc);
}
// An operand that is no tile (immediates, operators, registers ...).
constexpr OperandDef Value(std::string_view name, OperandKind kind, std::string_view doc) {
  return {name, kind, Role::kIn, 0, 0, false, doc};
}
// double, RegisterOperand, or a tile with one value per partition.
constexpr OperandDef Scalar(std::string_view name, std::string_view doc,
                            DTypeMask dtypes = kNumbers) {
  return {name, OperandKind::kScalarOrTile, Role::kIn, kOnChip, dtypes, false, doc};
}
constexpr OperandDef Optional(OperandDef def) {
  def.optional = true;
  return def;
}

// --- Shared rules. `label` is the start of the message: "tensor_tensor.shape".

// Tiles among `operands` (others are skipped) have the same partition count.
Status CheckSamePartitions(const Instruction& instruction, std::string_view label,
                           std::initializer_list<size_t> operands);
// ... and the same number of elements per partition.
Status CheckSameShape(const Instruction& instruction, std::string_view label,
                      std::initializer_list<size_t> operands);
// A scalar operand that is a tile has as many partitions as `like` and one element in each.
Status CheckPerPartitionScalar(const Instruction& instruction, std::string_view label,
                               size_t operand, size_t like);
// The tiles at a and b are not both in PSUM: Vector reads it through one port.
Status CheckNotBothPsum(const Instruction& instruction, std::string_view label, size_t a, size_t b);
// Operators at `operands` (absent ones skipped) are all bitvec or all arithmetic; bitvec ones need
// integer tiles and the Vector engine.
Status CheckAlu(const Instruction& instruction, std::string_view label,
                std::initializer_list<size_t> operands);
Status CheckReductionOp(const Instruction& instruction, std::string_view label, size_t operand);
Status CheckRange(std::string_view label, std::string_view what, int64_t value, int64_t least,
                  int64_t most);

// iota's pattern operand: pairs (step, count), at most four, whose counts multiply to dst's
// elements.
Status CheckPattern(const Instruction& instruction, std::string_view label, size_t pattern,
                    size_t dst);
// The operands from `index` on are absent, or index, index_side, index_step, index_bound and
// oob_mode of an indirect DMA whose HBM tile is `indirect`.
Status CheckIndex(const Instruction& instruction, std::string_view label, size_t index,
                  const AccessPattern& indirect);

// Elements per partition / partitions of the tile at `operand`, at maximal counts.
int64_t ElementsOf(const Instruction& instruction, size_t operand);
int64_t PartitionsOf(const Instruction& instruction, size_t operand);

// --- Cost terms, in cycles of the executing engine.

// Least time from an instruction to the next on any compute engine (documented: MIN_II ~ 64).
inline constexpr double kMinIssueCycles = 64;

// `work` cycles plus the engine's fixed part: Vector 144, GpSimd 150, Scalar at least 64.
double EngineCycles(const CostInput& input, double work);
// Cycles of N elements for instructions with one streamed input (tensor_copy, tensor_scalar, ...):
// N, or N/2 and N/4 in Vector's performance modes.
double OneInputCycles(const CostInput& input, size_t dst, size_t src);
// ... with two streamed inputs: 2N, or N in performance modes and where one input is in PSUM.
double TwoInputCycles(const CostInput& input, size_t dst, size_t a, size_t b);
// Nanoseconds of moving operand `rows` row by row as descriptors of the row's bytes.
double DmaNs(const CostInput& input, size_t operand, double rate);

}  // namespace neuron::isa
