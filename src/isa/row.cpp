#include "isa/row.h"

#include <cmath>

#include "isa/overlap.h"

namespace neuron::isa {
namespace {

const AccessPattern* TileIf(const Instruction& instruction, size_t operand) {
  return std::get_if<AccessPattern>(&OperandAt(instruction, operand));
}

bool InnerContiguous(const AccessPattern& tile) {
  return tile.num_dims == 0 || tile.dims[tile.num_dims - 1].step == 1;
}

bool Is16BitFloat(const AccessPattern& tile) {
  return tile.dtype == DType::kF16 || tile.dtype == DType::kBF16;
}

std::string_view NameOf(const Instruction& instruction, size_t operand) {
  return DefOf(instruction.opcode).operands[operand].name;
}

}  // namespace

int64_t ElementsOf(const Instruction& instruction, size_t operand) {
  return TileAt(instruction, operand).MaxElementsPerPartition();
}

int64_t PartitionsOf(const Instruction& instruction, size_t operand) {
  return TileAt(instruction, operand).partitions.max;
}

namespace {

// The tiles among `operands` have the same number of what `extent` counts.
template <typename Extent>
Status CheckSame(const Instruction& instruction, std::string_view label,
                 std::initializer_list<size_t> operands, std::string_view counted,
                 const Extent& extent) {
  const AccessPattern* first = nullptr;
  size_t first_index = 0;
  for (const size_t operand : operands) {
    const AccessPattern* tile = TileIf(instruction, operand);
    if (tile == nullptr) continue;
    if (first == nullptr) {
      first = tile;
      first_index = operand;
    } else if (extent(*tile) != extent(*first)) {
      return InvalidArgument(label, ": ", NameOf(instruction, operand), " has ", extent(*tile), " ",
                             counted, ", ", NameOf(instruction, first_index), " has ",
                             extent(*first));
    }
  }
  return OkStatus();
}

}  // namespace

Status CheckSamePartitions(const Instruction& instruction, std::string_view label,
                           std::initializer_list<size_t> operands) {
  return CheckSame(instruction, label, operands, "partitions",
                   [](const AccessPattern& tile) { return tile.partitions.max; });
}

Status CheckSameShape(const Instruction& instruction, std::string_view label,
                      std::initializer_list<size_t> operands) {
  NEURON_RETURN_IF_ERROR(CheckSamePartitions(instruction, label, operands));
  return CheckSame(instruction, label, operands, "elements per partition",
                   [](const AccessPattern& tile) { return tile.MaxElementsPerPartition(); });
}

Status CheckPerPartitionScalar(const Instruction& instruction, std::string_view label,
                               size_t operand, size_t like) {
  const AccessPattern* tile = TileIf(instruction, operand);
  if (tile == nullptr) return OkStatus();
  if (tile->MaxElementsPerPartition() != 1)
    return InvalidArgument(label, ": ", NameOf(instruction, operand), " has ",
                           tile->MaxElementsPerPartition(),
                           " elements per partition; a tile operand holds one scalar for each");
  return CheckSamePartitions(instruction, label, {like, operand});
}

Status CheckNotBothPsum(const Instruction& instruction, std::string_view label, size_t a,
                        size_t b) {
  const AccessPattern* first = TileIf(instruction, a);
  const AccessPattern* second = TileIf(instruction, b);
  if (first != nullptr && second != nullptr && first->memory == Memory::kPsum &&
      second->memory == Memory::kPsum)
    return InvalidArgument(label, ": ", NameOf(instruction, a), " and ", NameOf(instruction, b),
                           " are both in PSUM; copy one to SBUF first");
  return OkStatus();
}

Status CheckAlu(const Instruction& instruction, std::string_view label,
                std::initializer_list<size_t> operands) {
  const AluRow* first = nullptr;
  for (const size_t operand : operands) {
    const auto* op = std::get_if<AluOp>(&OperandAt(instruction, operand));
    if (op == nullptr) continue;
    const AluRow& row = RowOf(*op);
    if (first != nullptr && first->bitvec != row.bitvec && first->op != AluOp::kBypass &&
        row.op != AluOp::kBypass)
      return InvalidArgument(label, ": ", first->name, " and ", row.name,
                             " mix a bitvec and an arithmetic operator");
    if (row.op == AluOp::kAverage)
      return InvalidArgument(label, ": average is legal in tensor_partition_reduce only");
    if (row.bitvec) {
      if (instruction.engine == Engine::kScalar)
        return InvalidArgument(label, ": bitvec operator ", row.name,
                               " runs on vector, not on scalar");
      if (!IsIntegerArithmetic(instruction))
        return InvalidArgument(label, ": bitvec operator ", row.name, " needs integer tiles");
    }
    if (first == nullptr || first->op == AluOp::kBypass) first = &row;
  }
  return OkStatus();
}

Status CheckReductionOp(const Instruction& instruction, std::string_view label, size_t operand) {
  const auto* op = std::get_if<AluOp>(&OperandAt(instruction, operand));
  if (op == nullptr) return OkStatus();
  const AluRow& row = RowOf(*op);
  if (!row.reduction) return InvalidArgument(label, ": ", row.name, " is no reduction operator");
  return OkStatus();
}

Status CheckRange(std::string_view label, std::string_view what, int64_t value, int64_t least,
                  int64_t most) {
  if (value >= least && value <= most) return OkStatus();
  return InvalidArgument(label, ": ", what, " is ", value, ", allowed are ", least, " to ", most);
}

Status CheckReduction(const Instruction& instruction, const ReductionRule& rule) {
  const int64_t command = IntegerAt(instruction, rule.command, rule.command_otherwise);
  if (command < 0 || command > 4 || (rule.commands & (1u << command)) == 0)
    return InvalidArgument(rule.label, ".reduce_cmd: ", command, " is no command of ", rule.label);
  if (rule.op != SIZE_MAX) {
    const auto* op = std::get_if<AluOp>(&OperandAt(instruction, rule.op));
    if (op != nullptr && std::find(rule.ops.begin(), rule.ops.end(), *op) == rule.ops.end()) {
      std::string legal;
      for (const AluOp allowed : rule.ops)
        legal += StrCat(legal.empty() ? "" : ", ", RowOf(allowed).name);
      return InvalidArgument(rule.label, ".reduce_op: ", RowOf(*op).name, ", allowed are ", legal);
    }
  }
  if (rule.init != SIZE_MAX) {
    const bool loads = command == static_cast<int64_t>(ReduceCmd::kLoadReduce);
    const bool given = !std::holds_alternative<std::monostate>(OperandAt(instruction, rule.init));
    if (loads != given)
      return InvalidArgument(rule.label, ".reduce_init: ", NameOf(instruction, rule.init), " is ",
                             given ? "given" : "missing", "; it goes with load_reduce alone");
  }
  return OkStatus();
}

Status CheckElements(const Instruction& instruction, std::string_view label, size_t operand,
                     int64_t elements) {
  if (ElementsOf(instruction, operand) == elements) return OkStatus();
  return InvalidArgument(label, ": ", NameOf(instruction, operand), " has ",
                         ElementsOf(instruction, operand), " elements per partition, expected ",
                         elements);
}

Status CheckSameDType(const Instruction& instruction, std::string_view label, size_t a, size_t b) {
  const DType first = TileAt(instruction, a).dtype;
  const DType second = TileAt(instruction, b).dtype;
  if (first == second) return OkStatus();
  return InvalidArgument(label, ": ", NameOf(instruction, a), " is ", DTypeName(first), ", ",
                         NameOf(instruction, b), " ", DTypeName(second),
                         "; they need one dtype, since bits are moved");
}

Status CheckPartitionGrain(const Instruction& instruction, std::string_view label, size_t operand,
                           int64_t grain) {
  if (PartitionsOf(instruction, operand) % grain == 0) return OkStatus();
  return InvalidArgument(label, ": ", NameOf(instruction, operand), " has ",
                         PartitionsOf(instruction, operand), " partitions, expected a multiple of ",
                         grain);
}

Status CheckTransposedDType(std::string_view label, const AccessPattern& dst,
                            const AccessPattern& data) {
  if (dst.dtype == data.dtype && ByteSize(dst.dtype) >= 2) return OkStatus();
  if (Contains(kFloat8, data.dtype) && ByteSize(dst.dtype) == 2) return OkStatus();
  return InvalidArgument(label, ": dst is ", DTypeName(dst.dtype), ", the data ",
                         DTypeName(data.dtype),
                         "; the Tensor engine transposes 2 and 4 byte elements to their own "
                         "dtype, and fp8 to a 16-bit dtype");
}

Status CheckNotInPlace(const Instruction& instruction, std::string_view label, size_t dst,
                       size_t src) {
  const AccessPattern* to = TileIf(instruction, dst);
  const AccessPattern* from = TileIf(instruction, src);
  if (to == nullptr || from == nullptr) return OkStatus();
  const Overlap overlap = OverlapOf(*to, *from);
  if (overlap == Overlap::kNone || overlap == Overlap::kUnknown) return OkStatus();
  return InvalidArgument(label, ": ", NameOf(instruction, dst), " is written while ",
                         NameOf(instruction, src), " is still read; write to another tile");
}

Status CheckArrayTile(const Instruction& instruction, std::string_view label, size_t position,
                      size_t size, size_t stationary, int64_t m, bool columns) {
  const auto* at = std::get_if<std::vector<int64_t>>(&OperandAt(instruction, position));
  const auto* sizes = std::get_if<std::vector<int64_t>>(&OperandAt(instruction, size));
  if (at == nullptr && sizes == nullptr) return OkStatus();
  if (at == nullptr || sizes == nullptr || at->size() != 2 || sizes->size() != 2)
    return InvalidArgument(label, ": ", NameOf(instruction, position), " and ",
                           NameOf(instruction, size), " go together, each (row, column)");
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const int64_t extent = (*sizes)[i];
    const int64_t start = (*at)[i];
    const bool known = extent == 128 || ((i == 0 || columns) && (extent == 32 || extent == 64));
    if (!known || start < 0 || start % extent != 0 || start + extent > kPartitions)
      return InvalidArgument(label, ": a ", i == 0 ? "row" : "column", " tile of ", extent, " at ",
                             start, "; sizes are ", i == 0 || columns ? "32, 64, 128" : "128",
                             ", positions multiples of the size");
  }
  const AccessPattern& tile = TileAt(instruction, stationary);
  const int64_t first = tile.start_partition;
  const int64_t end = first + tile.partitions.max;
  if (first < (*at)[0] || end > (*at)[0] + (*sizes)[0])
    return InvalidArgument(label, ": ", NameOf(instruction, stationary), " lies in partitions ",
                           first, " to ", end, ", the tile's rows are ", (*at)[0], " to ",
                           (*at)[0] + (*sizes)[0], "; place the operands there");
  if (m > (*sizes)[1])
    return InvalidArgument(label, ": M is ", m, ", the tile has ", (*sizes)[1], " columns");
  return OkStatus();
}

Status CheckMxScale(const Instruction& instruction, std::string_view label, size_t scale,
                    size_t data) {
  const int64_t rows = PartitionsOf(instruction, data);
  // Rows after the last group's need not be part of the tile.
  const int64_t least = rows - 28;
  NEURON_RETURN_IF_ERROR(
      CheckRange(label, "the number of scale rows", PartitionsOf(instruction, scale), least, rows));
  return CheckElements(instruction, label, scale, ElementsOf(instruction, data));
}

Status CheckPattern(const Instruction& instruction, std::string_view label, size_t pattern,
                    size_t dst) {
  const auto& numbers = std::get<std::vector<int64_t>>(instruction.operands[pattern]);
  if (numbers.empty() || numbers.size() % 2 != 0 || numbers.size() > 8)
    return InvalidArgument(label, ": ", numbers.size(),
                           " numbers, expected one to four pairs (step, count)");
  int64_t elements = 1;
  for (size_t i = 1; i < numbers.size(); i += 2) {
    if (numbers[i] < 1 || numbers[i] > 0xffff)
      return InvalidArgument(label, ": a count is ", numbers[i], ", allowed are 1 to 65535");
    elements *= numbers[i];
  }
  if (elements != ElementsOf(instruction, dst))
    return InvalidArgument(label, ": counts multiply to ", elements, ", dst has ",
                           ElementsOf(instruction, dst), " elements per partition");
  return OkStatus();
}

Status CheckIndex(const Instruction& instruction, std::string_view label, size_t index,
                  const AccessPattern& indirect) {
  const AccessPattern* tile = TileIf(instruction, index);
  if (tile == nullptr) {
    for (size_t i = index + 1; i < index + 5; ++i)
      if (!std::holds_alternative<std::monostate>(OperandAt(instruction, i)))
        return InvalidArgument(label, ": ", NameOf(instruction, i), " is given without index");
    return OkStatus();
  }
  if (indirect.memory != Memory::kHbm)
    return InvalidArgument(label, ": the indirect side must be in HBM");
  if (tile->partitions.max != indirect.partitions.max || tile->MaxElementsPerPartition() != 1)
    return InvalidArgument(label, ": index is [", tile->partitions.max, ", ",
                           tile->MaxElementsPerPartition(), "], expected [",
                           indirect.partitions.max, ", 1], one per row");
  for (const size_t i : {index + 2, index + 3})
    if (std::holds_alternative<std::monostate>(OperandAt(instruction, i)))
      return InvalidArgument(label, ": ", NameOf(instruction, i), " is missing");
  return CheckRange(label, "oob_mode", IntegerAt(instruction, index + 4), 0, 1);
}

Status CheckDescriptors(const Instruction& instruction, std::string_view mnemonic, Target target,
                        size_t index, size_t priority, size_t dge_mode) {
  if (!std::holds_alternative<std::monostate>(OperandAt(instruction, priority))) {
    const std::string label = StrCat(mnemonic, ".priority");
    if (target == Target::kTrn2)
      return InvalidArgument(label, ": classes of priority exist from trn3 on; leave it out");
    NEURON_RETURN_IF_ERROR(CheckRange(label, "priority", IntegerAt(instruction, priority), 0, 3));
  }
  const std::string label = StrCat(mnemonic, ".dge_mode");
  const int64_t mode = IntegerAt(instruction, dge_mode);
  NEURON_RETURN_IF_ERROR(CheckRange(label, "dge_mode", mode, 0, 3));
  const bool indirect = TileIf(instruction, index) != nullptr;
  const bool software = mode == static_cast<int64_t>(DgeMode::kUnknown) ||
                        mode == static_cast<int64_t>(DgeMode::kSwdge);
  if (indirect && !software)
    return InvalidArgument(label, ": indices are followed by swdge (or unknown) alone, got ", mode);
  const DType dst = TileAt(instruction, 0).dtype;
  const DType src = TileAt(instruction, 1).dtype;
  if (mode == static_cast<int64_t>(DgeMode::kHwdge) && dst != src)
    return InvalidArgument(label, ": hwdge moves bits, dst is ", DTypeName(dst), ", src ",
                           DTypeName(src), "; use another mode to convert");
  return OkStatus();
}

double EngineCycles(const CostInput& input, double work) {
  const TargetRow& row = RowOf(input.target);
  switch (input.instruction.engine) {
    case Engine::kVector:
      return row.vector_fixed_cycles + work;
    case Engine::kGpSimd:
      return row.gpsimd_fixed_cycles + work;
    default:
      return std::max(kMinIssueCycles, work);
  }
}

double OneInputCycles(const CostInput& input, size_t dst, size_t src) {
  const double n = static_cast<double>(input.elements[dst]);
  const AccessPattern& out = TileAt(input.instruction, dst);
  const AccessPattern& in = TileAt(input.instruction, src);
  const bool both_sbuf = out.memory == Memory::kSbuf && in.memory == Memory::kSbuf;
  const bool narrow = Is16BitFloat(out) && Is16BitFloat(in);
  const bool contiguous = InnerContiguous(out) && InnerContiguous(in);
  double rate = 1;
  if (input.instruction.engine == Engine::kVector) {
    // Documented for 16-bit floats (Trainium2 architecture guide); fp32 SBUF to SBUF measured.
    if (both_sbuf && narrow) rate = contiguous ? 4 : 2;
    if (both_sbuf && !narrow && contiguous) rate = 2;
    if (!both_sbuf && narrow && contiguous) rate = 2;
  } else if (input.instruction.engine == Engine::kScalar && input.target == Target::kTrn3 &&
             narrow) {
    rate = 2;  // documented: Trainium3 architecture guide
  }
  // GpSimd's documented formulas have no least time beside their fixed part.
  if (input.instruction.engine == Engine::kGpSimd) return n / rate;
  return std::max(kMinIssueCycles, n / rate);
}

double TwoInputCycles(const CostInput& input, size_t dst, size_t a, size_t b) {
  const double n = static_cast<double>(input.elements[dst]);
  const AccessPattern& out = TileAt(input.instruction, dst);
  const AccessPattern& first = TileAt(input.instruction, a);
  const AccessPattern& second = TileAt(input.instruction, b);
  if (first.memory == Memory::kPsum || second.memory == Memory::kPsum) return n;
  if (ByteSize(out.dtype) == 2 && ByteSize(first.dtype) == 2 && ByteSize(second.dtype) == 2)
    return n;  // documented: 2x if both inputs are in SBUF and all three are 16 bit
  return 2 * n;
}

double DmaNs(const CostInput& input, size_t operand, double rate) {
  const TargetRow& row = RowOf(input.target);
  const AccessPattern& tile = TileAt(input.instruction, operand);
  // A descriptor moves one contiguous run; what lies between two runs costs another one.
  int64_t run = 1;
  for (int i = tile.num_dims - 1; i >= 0; --i) {
    const int64_t count = tile.dims[i].count.max;
    if (count != 1 && tile.dims[i].step != run) break;
    run *= count;
  }
  const int64_t elements = std::max<int64_t>(1, input.elements[operand]);
  run = std::min(run, elements);
  const int64_t runs =
      std::max<int64_t>(1, input.partitions[operand]) * ((elements + run - 1) / run);
  const double bytes = static_cast<double>(run * ByteSize(tile.dtype));
  const double per_run =
      row.dma_descriptor_ns + bytes * 1e9 / (row.dma_bytes_per_second_per_engine * rate);
  // Runs are dealt out to the engines; of fewer runs than engines, long ones are cut at 512 bytes.
  const double engines = static_cast<double>(row.dma_engines_per_core);
  double waves = std::ceil(static_cast<double>(runs) / engines);
  if (static_cast<double>(runs) < engines) {
    const double pieces = static_cast<double>(runs) * std::max(1.0, bytes / 512);
    waves = static_cast<double>(runs) / std::min(engines, pieces);
  }
  const double busy = per_run * waves;
  return std::max(row.dma_issue_ns, busy);
}

}  // namespace neuron::isa
