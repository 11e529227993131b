#include <algorithm>
#include <numeric>
#include <set>

#include "isa/program.h"
#include "isa/psum_bank.h"

namespace neuron::isa {
namespace {

struct Interval {
  int64_t min = 0;
  int64_t max = 0;
};

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : program_(program), defined_(program.registers.size()) {}

  Status Run() {
    NEURON_RETURN_IF_ERROR(CheckRegisters());
    NEURON_RETURN_IF_ERROR(CheckTensors());
    for (size_t i = 0; i < program_.instructions.size(); ++i) {
      const Status status = CheckInstruction(program_.instructions[i]);
      if (!status.ok()) return status.WithPrefix(Where(i));
    }
    if (!loops_.empty())
      return InvalidArgument("program.loops: ", loops_.size(), " loop_begin without a loop_end");
    return OkStatus();
  }

 private:
  struct Loop {
    Register counter;
    std::vector<bool> defined_outside;
  };

  std::string Where(size_t index) const {
    const uint32_t source = program_.instructions[index].source;
    std::string where = StrCat("instruction ", index);
    if (source != 0 && source < program_.sources.size())
      where += StrCat(" (", program_.sources[source], ")");
    return where + ": ";
  }

  Status CheckRegisters() {
    for (size_t i = 0; i < program_.registers.size(); ++i) {
      const RegisterDecl& decl = program_.registers[i];
      if (decl.min > decl.max)
        return InvalidArgument("program.registers: r", i, " has bounds [", decl.min, ", ", decl.max,
                               "]");
      if (decl.scalar_slot < -1)
        return InvalidArgument("program.registers: r", i, " has slot ", decl.scalar_slot);
      defined_[i] = decl.scalar_slot >= 0;
    }
    return OkStatus();
  }

  Status CheckTensors() {
    std::set<std::string_view> names;
    for (const TensorDecl& tensor : program_.tensors) {
      if (tensor.bytes < 0)
        return InvalidArgument("program.tensors: ", tensor.name, " has ", tensor.bytes, " bytes");
      if (!names.insert(tensor.name).second)
        return InvalidArgument("program.tensors: two tensors are named ", tensor.name);
      if (tensor.byte_offset != kNoRegister) {
        NEURON_RETURN_IF_ERROR(CheckRead(tensor.byte_offset));
        if (program_.registers[tensor.byte_offset].scalar_slot < 0)
          return InvalidArgument("program.tensors: the byte offset of ", tensor.name,
                                 " is no scalar of the block");
      }
      if (tensor.kind != TensorKind::kConstant) continue;
      if (tensor.constant >= program_.constants.size() ||
          static_cast<int64_t>(program_.constants[tensor.constant].size()) != tensor.bytes)
        return InvalidArgument("program.tensors: constant ", tensor.name, " has ", tensor.bytes,
                               " bytes, its data has not");
    }
    return OkStatus();
  }

  Status CheckRead(Register reg) const {
    if (reg >= program_.registers.size())
      return InvalidArgument("program.registers: r", reg, " is not declared");
    if (!defined_[reg])
      return InvalidArgument("program.registers: r", reg, " is read before it is written");
    return OkStatus();
  }

  Status CheckWrite(Register reg) {
    if (reg >= program_.registers.size())
      return InvalidArgument("program.registers: r", reg, " is not declared");
    for (const Loop& loop : loops_)
      if (loop.counter == reg)
        return InvalidArgument("program.loops: r", reg, " counts an open loop and is written");
    defined_[reg] = true;
    return OkStatus();
  }

  Status CheckRead(const Affine& affine) const {
    for (int i = 0; i < affine.num_terms; ++i)
      NEURON_RETURN_IF_ERROR(CheckRead(affine.terms[i].reg));
    return OkStatus();
  }

  Status CheckRead(const Count& count) const {
    return count.is_constant() ? OkStatus() : CheckRead(count.reg);
  }

  // On chip an address is laid out when the program is made.
  Status CheckStep(const AccessPattern& tile, Register from) const {
    if (from == kNoRegister) return OkStatus();
    NEURON_RETURN_IF_ERROR(CheckRead(from));
    if (tile.memory != Memory::kHbm)
      return InvalidArgument("takes a step from r", from, "; only HBM is walked so");
    constexpr int64_t kMost = int64_t{1} << 40;
    const RegisterDecl& decl = program_.registers[from];
    if (decl.min < 0 || decl.max > kMost)
      return InvalidArgument("takes a step from r", from, " in [", decl.min, ", ", decl.max,
                             "]; declare bounds within [0, 2^40]");
    return OkStatus();
  }

  // Of an offset, from the declared bounds of its registers.
  StatusOr<Interval> Range(const Affine& affine) const {
    constexpr int64_t kMost = int64_t{1} << 48;
    Interval range{affine.base, affine.base};
    for (int i = 0; i < affine.num_terms; ++i) {
      const RegisterDecl& decl = program_.registers[affine.terms[i].reg];
      int64_t low = 0;
      int64_t high = 0;
      if (__builtin_mul_overflow(affine.terms[i].coefficient, decl.min, &low) ||
          __builtin_mul_overflow(affine.terms[i].coefficient, decl.max, &high) || low < -kMost ||
          low > kMost || high < -kMost || high > kMost)
        return InvalidArgument("depends on r", affine.terms[i].reg, " in [", decl.min, ", ",
                               decl.max, "]; declare closer bounds");
      range.min += std::min(low, high);
      range.max += std::max(low, high);
    }
    return range;
  }

  Status CheckTile(const AccessPattern& tile) const {
    NEURON_RETURN_IF_ERROR(CheckRead(tile.offset));
    NEURON_RETURN_IF_ERROR(CheckRead(tile.partitions));
    NEURON_RETURN_IF_ERROR(CheckStep(tile, tile.partition_step_from));
    for (int i = 0; i < tile.num_dims; ++i) {
      NEURON_RETURN_IF_ERROR(CheckRead(tile.dims[i].count));
      NEURON_RETURN_IF_ERROR(CheckStep(tile, tile.dims[i].step_from));
    }
    int64_t most = 0;
    std::string what;
    const TargetRow& limits = RowOf(program_.target);
    if (tile.memory == Memory::kHbm) {
      if (tile.tensor >= program_.tensors.size())
        return InvalidArgument("names tensor %", tile.tensor, ", the program has ",
                               program_.tensors.size());
      most = program_.tensors[tile.tensor].bytes;
      what = program_.tensors[tile.tensor].name;
    } else {
      const bool sbuf = tile.memory == Memory::kSbuf;
      most = sbuf ? limits.sbuf_bytes_per_partition : limits.psum_bytes_per_partition;
      what = StrCat("a partition of ", limits.name, sbuf ? "'s sbuf" : "'s psum");
    }
    NEURON_ASSIGN_OR_RETURN(const Interval offset, Range(tile.offset));
    const ByteRange shape = Footprint(tile, nullptr);  // at offset.base
    const int64_t begin = offset.min + (shape.begin - tile.offset.base);
    int64_t end = offset.max + (shape.end - tile.offset.base);
    // In HBM a counter and a tail count bound each other, which intervals cannot see: what remains
    // is checked when it runs.
    if (tile.memory == Memory::kHbm && !tile.is_constant()) end = std::min(end, most);
    if (begin < 0 || end > most)
      return OutOfRange("covers bytes ", begin, " to ", end, " of ", what, ", which has ", most);
    return OkStatus();
  }

  // Where a run-time offset may lie: in one bank throughout, or at places that repeat in each bank,
  // or else each value of its register is tried.
  Status CheckBank(const AccessPattern& tile) const {
    const int64_t bank = RowOf(program_.target).psum_bank_bytes;
    const ByteRange shape = Footprint(tile, nullptr);
    const int64_t length = shape.end - shape.begin;
    NEURON_ASSIGN_OR_RETURN(const Interval offset, Range(tile.offset));
    const int64_t first = offset.min + (shape.begin - tile.offset.base);
    const int64_t last = offset.max + (shape.end - tile.offset.base) - 1;
    if (first / bank == last / bank) return OkStatus();
    int64_t grain = bank;
    for (int i = 0; i < tile.offset.num_terms; ++i)
      grain = std::gcd(grain, tile.offset.terms[i].coefficient);
    if (shape.begin % grain + length <= grain) return OkStatus();
    constexpr int64_t kMostTried = 4096;
    const RegisterDecl& decl = program_.registers[tile.offset.terms[0].reg];
    bool within = tile.offset.num_terms == 1 && decl.max - decl.min < kMostTried;
    for (int64_t value = decl.min; within && value <= decl.max; ++value) {
      const int64_t begin = shape.begin + value * tile.offset.terms[0].coefficient;
      within = begin / bank == (begin + length - 1) / bank;
    }
    if (within) return OkStatus();
    return InvalidArgument("covers ", length, " bytes at ", ToString(tile.offset),
                           ", not always within one PSUM bank of ", bank,
                           "; let each value of the register name a place inside a bank");
  }

  Status CheckOperand(const Operand& operand, const OperandDef& def) {
    if (const auto* tile = std::get_if<AccessPattern>(&operand)) return CheckTile(*tile);
    if (const auto* affine = std::get_if<Affine>(&operand)) return CheckRead(*affine);
    if (const auto* reg = std::get_if<RegisterOperand>(&operand))
      if (def.role == Role::kIn) return CheckRead(reg->reg);
    return OkStatus();
  }

  Status CheckInstruction(const Instruction& instruction) {
    NEURON_RETURN_IF_ERROR(VerifyInstruction(instruction, program_.target));
    if (instruction.source != 0 && instruction.source >= program_.sources.size())
      return InvalidArgument("program.sources: source ", instruction.source, " of ",
                             program_.sources.size());
    const InstructionDef& row = DefOf(instruction.opcode);
    for (size_t i = 0; i < instruction.operands.size(); ++i) {
      const OperandDef& def = row.operands[std::min(i, row.operands.size() - 1)];
      const Status status = CheckOperand(instruction.operands[i], def);
      if (!status.ok()) return status.WithPrefix(StrCat(row.mnemonic, ": ", def.name, " "));
      const auto* tile = std::get_if<AccessPattern>(&instruction.operands[i]);
      if (tile == nullptr || def.role == Role::kIn || tile->offset.is_constant() ||
          !WritesWithinBank(instruction.engine, program_.target))
        continue;
      const Status in_bank = CheckBank(*tile);
      if (!in_bank.ok()) return in_bank.WithPrefix(StrCat(row.mnemonic, ".bank: ", def.name, " "));
    }
    if (instruction.opcode == Opcode::loop_end) {
      if (loops_.empty()) return InvalidArgument("program.loops: loop_end without loop_begin");
      defined_ = std::move(loops_.back().defined_outside);
      loops_.pop_back();
      return OkStatus();
    }
    std::vector<bool> outside;
    const bool begins =
        instruction.opcode == Opcode::loop_begin || instruction.opcode == Opcode::while_begin;
    if (begins) outside = defined_;
    for (size_t i = 0; i < row.operands.size(); ++i)
      if (row.operands[i].kind == OperandKind::kRegister)
        NEURON_RETURN_IF_ERROR(CheckWrite(std::get<RegisterOperand>(instruction.operands[i]).reg));
    if (begins) {
      const auto* counter = std::get_if<RegisterOperand>(&instruction.operands[0]);
      loops_.push_back({counter != nullptr ? counter->reg : kNoRegister, std::move(outside)});
    }
    return OkStatus();
  }

  const Program& program_;
  std::vector<bool> defined_;
  std::vector<Loop> loops_;
};

}  // namespace

int64_t Program::scalar_slots() const {
  int64_t slots = 0;
  for (const RegisterDecl& decl : registers)
    slots = std::max<int64_t>(slots, int64_t{decl.scalar_slot} + 1);
  return slots;
}

Status Verify(const Program& program) { return Verifier(program).Run(); }

}  // namespace neuron::isa
