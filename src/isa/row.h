// What a row of the instruction table (instructions/<mnemonic>.cpp) is written with: constructors
// of operand declarations, dtype masks, shared rules and cost terms. For those files only.
#pragma once

#include <algorithm>
#include <cstdint>
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
inline constexpr DTypeMask kScales = Mask({DType::kU8, DType::kF8E8M0FNU});  // of MX groups
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
// Written in part only: what is not written keeps its value.
constexpr OperandDef InOut(std::string_view name, uint8_t memories, DTypeMask dtypes,
                           std::string_view doc) {
  return Tile(name, Role::kInOut, memories, dtypes, doc);
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
constexpr OperandDef ScaleRows(OperandDef def) {
  def.scale_rows = true;
  return def;
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

// What reduces into an engine's accumulators: the command is one of `commands` (a bit each, NKI's
// numbers), load_reduce comes with `init` and others without, the operator is one of `ops`.
struct ReductionRule {
  std::string_view label;  // "exponential"
  size_t command = 0;
  int64_t command_otherwise = 0;  // if absent
  uint8_t commands = 0;
  size_t op = SIZE_MAX;
  std::initializer_list<AluOp> ops = {};
  size_t init = SIZE_MAX;
};
Status CheckReduction(const Instruction& instruction, const ReductionRule& rule);
constexpr uint8_t Bit(ReduceCmd command) {
  return static_cast<uint8_t>(1u << static_cast<int>(command));
}
// The operand's tile has exactly `elements` per partition.
Status CheckElements(const Instruction& instruction, std::string_view label, size_t operand,
                     int64_t elements);
// The tiles at a and b have one dtype: bits are moved.
Status CheckSameDType(const Instruction& instruction, std::string_view label, size_t a, size_t b);
// The partition count of the tile at `operand` is a multiple of `grain`.
Status CheckPartitionGrain(const Instruction& instruction, std::string_view label, size_t operand,
                           int64_t grain);

// A transpose through the Tensor engine from `data` to `dst`: one dtype of 2 or 4 bytes, or fp8 to
// any 16-bit dtype.
Status CheckTransposedDType(std::string_view label, const AccessPattern& dst,
                            const AccessPattern& data);
// The instruction reads `src` after it has begun to write `dst`: they share no byte.
Status CheckNotInPlace(const Instruction& instruction, std::string_view label, size_t dst,
                       size_t src);
// The (row, column) lists at `position` and `size` are absent or name a tile of the 128 x 128 array
// in which `stationary` lies: as a place in the array, and by its partitions and free size `m`.
Status CheckArrayTile(const Instruction& instruction, std::string_view label, size_t position,
                      size_t size, size_t stationary, int64_t m, bool columns);

// The MX scales at `scale` fit the packed data at `data`: a byte per 8 rows and element. Of 32 rows
// they lie in 4 rows, of more in the first 4 of every 32.
Status CheckMxScale(const Instruction& instruction, std::string_view label, size_t scale,
                    size_t data);

// iota's pattern operand: pairs (step, count), at most four, whose counts multiply to dst's
// elements.
Status CheckPattern(const Instruction& instruction, std::string_view label, size_t pattern,
                    size_t dst);
// The operands from `index` on are absent, or index, index_side, index_step, index_bound and
// oob_mode of an indirect DMA whose HBM tile is `indirect`.
Status CheckIndex(const Instruction& instruction, std::string_view label, size_t index,
                  const AccessPattern& indirect);

// Who makes a transfer's descriptors and how urgent it is: dge_mode 0 to 3, where indices need
// software (swdge) and hwdge moves bits alone; priority 0 to 3, from trn3 on.
Status CheckDescriptors(const Instruction& instruction, std::string_view mnemonic, Target target,
                        size_t index, size_t priority, size_t dge_mode);

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
