#include "emulator/scoreboard.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "emulator/step.h"
#include "emulator/timeline.h"
#include "isa/timing.h"

namespace neuron::emulator {
namespace {

constexpr size_t kRemembered = 1024;  // durations kept per program

using RegisterSet = std::set<isa::Register>;

void AddTerms(const isa::Affine& affine, RegisterSet* to) {
  for (int i = 0; i < affine.num_terms; ++i) to->insert(affine.terms[i].reg);
}

// Registers that a count, a step, a loop bound or an operand of register_alu reads.
void AddControl(const isa::Operand& operand, bool control_flow, RegisterSet* to) {
  if (const auto* tile = std::get_if<isa::AccessPattern>(&operand)) {
    const auto add = [to](isa::Register reg) {
      if (reg != isa::kNoRegister) to->insert(reg);
    };
    add(tile->partitions.reg);
    add(tile->partition_step_from);
    for (int d = 0; d < tile->num_dims; ++d) {
      add(tile->dims[d].count.reg);
      add(tile->dims[d].step_from);
    }
  }
  if (!control_flow) return;
  if (const auto* affine = std::get_if<isa::Affine>(&operand)) AddTerms(*affine, to);
  if (const auto* reg = std::get_if<isa::RegisterOperand>(&operand)) to->insert(reg->reg);
}

bool IsControlFlow(isa::Opcode opcode) {
  return opcode == isa::Opcode::loop_begin || opcode == isa::Opcode::register_alu;
}

}  // namespace

struct Scoreboard::Node {
  StepControl control;
  bool dynamic = false;  // counts come from registers
  bool meets = false;    // a loop with a meeting in its body
  double busy_ns = 0;    // of a static instruction
  std::vector<Timeline::Access> accesses;
  int64_t hbm_bytes = 0;
};

Scoreboard::Scoreboard(const isa::Program& program) : program_(program) {
  RegisterSet used;
  for (const isa::Instruction& instruction : program.instructions)
    for (const isa::Operand& operand : instruction.operands)
      AddControl(operand, IsControlFlow(instruction.opcode), &used);
  for (const isa::Register reg : used)
    if (reg < program.registers.size() && program.registers[reg].scalar_slot >= 0)
      control_.push_back(reg);
}

Scoreboard::~Scoreboard() = default;

void Scoreboard::Prepare() {
  if (!nodes_.empty() || program_.instructions.empty()) return;
  nodes_.resize(program_.instructions.size());
  std::vector<uint32_t> open;
  for (uint32_t i = 0; i < nodes_.size(); ++i) {
    const isa::Instruction& instruction = program_.instructions[i];
    Node& node = nodes_[i];
    auto control = DecodeControl(instruction, i);
    if (control.ok()) node.control = *control;
    if (node.control.kind == StepControl::Kind::kLoopBegin ||
        node.control.kind == StepControl::Kind::kWhileBegin)
      open.push_back(i);
    if (node.control.kind == StepControl::Kind::kMeeting)
      for (const uint32_t loop : open) nodes_[loop].meets = true;
    if (node.control.kind == StepControl::Kind::kLoopEnd) {
      node.control.match = open.back();
      open.pop_back();
      nodes_[node.control.match].control.match = i;
    }
    const isa::InstructionDef& def = isa::DefOf(instruction.opcode);
    for (size_t o = 0; o < instruction.operands.size(); ++o) {
      const auto* tile = std::get_if<isa::AccessPattern>(&instruction.operands[o]);
      if (tile == nullptr) continue;
      const isa::Role role = def.operands[std::min(o, def.operands.size() - 1)].role;
      node.accesses.push_back({tile, role != isa::Role::kOut, role != isa::Role::kIn});
      node.dynamic = node.dynamic || !tile->is_constant();
      if (tile->memory == isa::Memory::kHbm)
        node.hbm_bytes =
            std::max(node.hbm_bytes, tile->partitions.max * tile->MaxElementsPerPartition() *
                                         ByteSize(tile->dtype));
    }
    node.busy_ns = isa::StaticBusyNs(instruction, program_.target);
  }
}

// Walks the program with its registers and feeds a Timeline.
class Scoreboard::Machine {
 public:
  Machine(const Scoreboard& board, const int64_t* registers,
          std::span<const double> released_ns = {})
      : board_(board),
        released_ns_(released_ns),
        registers_(registers, registers + board.program_.registers.size()),
        timeline_(board.program_) {}

  Timeline& timeline() { return timeline_; }
  const std::vector<double>& arrivals_ns() const { return arrivals_ns_; }
  void RecordEvents(size_t max_events) { timeline_.Record(max_events); }
  double Run() {
    Range(0, static_cast<uint32_t>(board_.nodes_.size()));
    return timeline_.end_ns();
  }

 private:
  void Range(uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; ++i) {
      const Node& node = board_.nodes_[i];
      switch (node.control.kind) {
        case StepControl::Kind::kLoopBegin:
          Loop(i, node);
          i = node.control.match;
          break;
        case StepControl::Kind::kWhileBegin:  // how often is not known here: once
        case StepControl::Kind::kLoopEnd:
          break;
        case StepControl::Kind::kRegisterAlu: {
          const auto value = node.control.Compute(registers_.data());
          if (value.ok()) registers_[node.control.reg] = *value;
          break;
        }
        case StepControl::Kind::kRegisterLoad: {
          // What the load would give is not known here: the largest value allowed, if there is one.
          const int64_t most = board_.program_.registers[node.control.reg].max;
          registers_[node.control.reg] = most == INT64_MAX ? 0 : most;
          [[fallthrough]];
        }
        case StepControl::Kind::kMeeting:
        case StepControl::Kind::kOperation:
          Instruction(i, node);
          break;
      }
    }
  }

  void Loop(uint32_t at, const Node& node) {
    const int64_t begin = node.control.a.Evaluate(registers_.data());
    const int64_t end = node.control.b.Evaluate(registers_.data());
    const int64_t step = std::max<int64_t>(1, node.control.step);
    // Two iterations at a time, since buffers alternate.
    double pair_ns[3] = {-1, -2, -3};
    double mark = timeline_.end_ns();
    int64_t done = 0;
    for (int64_t i = begin; i < end; i += step) {
      registers_[node.control.reg] = i;
      Range(at + 1, node.control.match);
      if (++done % 2 != 0 || timeline_.recording() || node.meets) continue;
      pair_ns[2] = pair_ns[1];
      pair_ns[1] = pair_ns[0];
      pair_ns[0] = timeline_.end_ns() - mark;
      mark = timeline_.end_ns();
      const double tolerance = 1e-3 * pair_ns[0];
      if (std::fabs(pair_ns[0] - pair_ns[1]) > tolerance ||
          std::fabs(pair_ns[0] - pair_ns[2]) > tolerance)
        continue;
      // Steady. The last iteration is walked again, since it may be shorter.
      const int64_t left = (end - 1 - i) / step;
      const int64_t pairs = (left - 1) / 2;
      if (pairs <= 0) continue;
      timeline_.Shift(static_cast<double>(pairs) * pair_ns[0]);
      mark = timeline_.end_ns();
      i += 2 * pairs * step;
      pair_ns[0] = -1;
    }
  }

  void Instruction(uint32_t at, const Node& node) {
    const isa::Instruction& instruction = board_.program_.instructions[at];
    double busy = node.busy_ns;
    int64_t bytes = node.hbm_bytes;
    if (node.dynamic) {
      elements_.clear();
      partitions_.clear();
      bytes = 0;
      for (const isa::Operand& operand : instruction.operands) {
        const auto* tile = std::get_if<isa::AccessPattern>(&operand);
        int64_t count = tile != nullptr ? 1 : 0;
        for (int d = 0; tile != nullptr && d < tile->num_dims; ++d)
          count *= tile->dims[d].count.Evaluate(registers_.data());
        const int64_t rows = tile != nullptr ? tile->partitions.Evaluate(registers_.data()) : 0;
        elements_.push_back(count);
        partitions_.push_back(rows);
        if (tile == nullptr) continue;
        if (count <= 0 || rows <= 0) return;
        if (tile->memory == isa::Memory::kHbm)
          bytes = std::max(bytes, rows * count * ByteSize(tile->dtype));
      }
      busy = isa::BusyNs({instruction, board_.program_.target, elements_, partitions_});
    }
    if (node.control.kind == StepControl::Kind::kMeeting) {
      const size_t k = arrivals_ns_.size();
      const double released = k < released_ns_.size() ? released_ns_[k] : 0;
      arrivals_ns_.push_back(timeline_.Issue(at, instruction.engine, busy, bytes, node.accesses,
                                             registers_.data(), released));
      return;
    }
    timeline_.Issue(at, instruction.engine, busy, bytes, node.accesses, registers_.data());
  }

  const Scoreboard& board_;
  const std::span<const double> released_ns_;
  std::vector<double> arrivals_ns_;
  std::vector<int64_t> registers_;
  std::vector<int64_t> elements_, partitions_;
  Timeline timeline_;
};

int64_t Scoreboard::DurationPs(const int64_t* registers) {
  if (control_.empty() && static_ps_ >= 0) return static_ps_;
  std::vector<int64_t> key;
  for (const isa::Register reg : control_) key.push_back(registers[reg]);
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Prepare();
  const auto ps = static_cast<int64_t>(Machine(*this, registers).Run() * 1000);
  if (known_.size() >= kRemembered) known_.clear();
  known_[key] = ps;
  if (control_.empty()) static_ps_ = ps;
  return ps;
}

Scoreboard::Meetings Scoreboard::Walk(const int64_t* registers,
                                      std::span<const double> released_ns) {
  Prepare();
  Machine machine(*this, registers, released_ns);
  Meetings meetings;
  meetings.end_ns = machine.Run();
  meetings.arrivals_ns = machine.arrivals_ns();
  return meetings;
}

std::string Scoreboard::TraceJson(const int64_t* registers, size_t max_events,
                                  std::span<const double> released_ns, int core) {
  Prepare();
  Machine machine(*this, registers, released_ns);
  machine.RecordEvents(max_events);
  machine.Run();
  return machine.timeline().EventsJson(core);
}

}  // namespace neuron::emulator
