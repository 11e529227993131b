#include "emulator/hazards.h"

#include <algorithm>
#include <map>
#include <vector>

#include "emulator/byte_runs.h"
#include "emulator/decoder.h"
#include "emulator/step.h"
#include "isa/operands.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kLoopPasses = 3;
constexpr int kRounds = 8;  // of the fixed point; each makes more orders certain

struct Run {
  int64_t begin = 0, end = 0;
};

// Bytes of one operand: of each partition in a range, or of a tensor.
struct Access {
  const isa::AccessPattern* pattern = nullptr;
  int64_t first_partition = 0, last_partition = 0;  // half open; HBM: 0 to 1
  bool writes = false, reads = false;
  std::vector<Run> runs;  // by address
};

struct Event {
  uint32_t instruction = 0;
  isa::Engine engine{};
  std::vector<Access> accesses;
};

// A set of events.
class Set {
 public:
  explicit Set(size_t size = 0) : words_((size + 63) / 64) {}
  bool Has(size_t i) const { return (words_[i / 64] >> (i % 64) & 1u) != 0; }
  void Add(size_t i) { words_[i / 64] |= uint64_t{1} << (i % 64); }
  void Join(const Set& other) {
    for (size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
  }
  bool operator==(const Set&) const = default;

 private:
  std::vector<uint64_t> words_;
};

// The program's instructions in the order of a run, with what they touch.
class Walk {
 public:
  Walk(const isa::Program& program, const int64_t* registers)
      : program_(program), registers_(registers, registers + program.registers.size()) {
    Range(0, static_cast<uint32_t>(program.instructions.size()));
  }
  std::vector<Event> events;

 private:
  uint32_t EndOf(uint32_t begin) const {
    int depth = 0;
    for (uint32_t i = begin;; ++i) {
      const isa::Opcode opcode = program_.instructions[i].opcode;
      if (opcode == isa::Opcode::loop_begin || opcode == isa::Opcode::while_begin) ++depth;
      if (opcode == isa::Opcode::loop_end && --depth == 0) return i;
    }
  }

  void Range(uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last && events.size() < kHazardEvents; ++i) {
      const auto decoded = DecodeControl(program_.instructions[i], i);
      const StepControl control = decoded.ok() ? *decoded : StepControl();
      Note(i);
      switch (control.kind) {
        case StepControl::Kind::kLoopBegin: {
          const uint32_t end = EndOf(i);
          const int64_t limit = control.b.Evaluate(registers_.data());
          int64_t pass = 0;
          for (int64_t at = control.a.Evaluate(registers_.data()); at < limit && pass < kLoopPasses;
               at += control.step, ++pass) {
            registers_[control.reg] = at;
            Range(i + 1, end);
          }
          i = end;
          break;
        }
        case StepControl::Kind::kWhileBegin: {
          const uint32_t end = EndOf(i);
          for (int64_t pass = 0; pass < kLoopPasses; ++pass) Range(i + 1, end);
          i = end;
          break;
        }
        case StepControl::Kind::kRegisterAlu:
          if (const auto value = control.Compute(registers_.data()); value.ok())
            registers_[control.reg] = *value;
          break;
        default:
          break;
      }
    }
  }

  void Note(uint32_t index) {
    const isa::Instruction& instruction = program_.instructions[index];
    const isa::InstructionDef& def = isa::DefOf(instruction.opcode);
    Event event;
    event.instruction = index;
    event.engine = instruction.engine;
    int64_t tail = 0;  // tiles of a variadic tail
    for (size_t o = 0; o < instruction.operands.size(); ++o) {
      const auto* tile = std::get_if<isa::AccessPattern>(&instruction.operands[o]);
      if (tile == nullptr) continue;
      const isa::OperandDef& operand = def.operands[std::min(o, def.operands.size() - 1)];
      Access access;
      access.pattern = tile;
      access.writes = operand.role != isa::Role::kIn;
      access.reads = operand.role != isa::Role::kOut;
      if (instruction.opcode == isa::Opcode::gpsimd_kernel)
        access.writes =
            tail++ < isa::IntegerAt(instruction, isa::gpsimd_kernel_operands::kNumOutputs);
      AddRuns(&access);
      event.accesses.push_back(std::move(access));
    }
    events.push_back(std::move(event));
  }

  void AddRuns(Access* access) {
    const isa::AccessPattern& tile = *access->pattern;
    const bool hbm = tile.memory == isa::Memory::kHbm;
    const int64_t pitch = hbm ? tile.PartitionStepAt(registers_.data()) * ByteSize(tile.dtype) : 0;
    const TileShape shape = ShapeOf(tile, pitch, registers_.data());
    const int64_t base = tile.offset.Evaluate(registers_.data());
    access->first_partition = hbm ? 0 : tile.start_partition;
    access->last_partition = hbm ? 1 : tile.start_partition + shape.rows;
    for (int64_t row = 0; row < (hbm ? shape.rows : std::min<int64_t>(1, shape.rows)); ++row)
      ForEachRun(shape, [&](int64_t offset, int64_t bytes) {
        const int64_t begin = base + row * pitch + offset;
        access->runs.push_back({begin, begin + bytes});
      });
    std::sort(access->runs.begin(), access->runs.end(),
              [](const Run& a, const Run& b) { return a.begin < b.begin; });
  }

  const isa::Program& program_;
  std::vector<int64_t> registers_;
};

// A byte that both reach; -1 if there is none.
int64_t SharedByte(const Access& a, const Access& b) {
  if (a.pattern->memory != b.pattern->memory) return -1;
  if (a.pattern->memory == isa::Memory::kHbm && a.pattern->tensor != b.pattern->tensor) return -1;
  if (a.first_partition >= b.last_partition || b.first_partition >= a.last_partition) return -1;
  for (size_t i = 0, j = 0; i < a.runs.size() && j < b.runs.size();) {
    const int64_t begin = std::max(a.runs[i].begin, b.runs[j].begin);
    if (begin < std::min(a.runs[i].end, b.runs[j].end)) return begin;
    a.runs[i].end < b.runs[j].end ? ++i : ++j;
  }
  return -1;
}

// before[i]: the events that have certainly ended when event i begins.
std::vector<Set> Order(const isa::Program& program, const std::vector<Event>& events) {
  std::vector<Set> before(events.size(), Set(events.size()));
  struct Update {
    size_t event;
    int64_t value;
  };
  std::map<uint16_t, std::vector<Update>> up, down;
  for (size_t i = 0; i < events.size(); ++i)
    for (const isa::SemaphoreUse& use : program.instructions[events[i].instruction].updates)
      (use.value > 0 ? up : down)[use.semaphore].push_back({i, use.value});
  const auto join_waits = [&](size_t i, Set* set) {
    for (const isa::SemaphoreUse& wait : program.instructions[events[i].instruction].waits) {
      int64_t need = wait.value;
      for (const Update& taken : down[wait.semaphore])
        if (before[i].Has(taken.event)) need -= taken.value;
      for (const Update& given : up[wait.semaphore]) {
        // What could be counted without it and what follows from it.
        int64_t others = 0;
        for (const Update& other : up[wait.semaphore])
          if (other.event != given.event && !before[other.event].Has(given.event) &&
              other.event != i && !before[other.event].Has(i))
            others += other.value;
        if (others >= need) continue;
        set->Join(before[given.event]);
        set->Add(given.event);
      }
    }
  };
  for (int round = 0; round < kRounds; ++round) {
    bool changed = false;
    size_t last[isa::kNumEngines];
    std::fill(std::begin(last), std::end(last), SIZE_MAX);
    for (size_t i = 0; i < events.size(); ++i) {
      Set set = before[i];
      size_t& previous = last[static_cast<int>(events[i].engine)];
      if (events[i].engine != isa::Engine::kDma && previous != SIZE_MAX) {
        set.Join(before[previous]);
        set.Add(previous);
      }
      previous = i;
      join_waits(i, &set);
      changed = changed || !(set == before[i]);
      before[i] = std::move(set);
    }
    if (!changed) break;
  }
  return before;
}

std::string Name(const isa::Program& program, const Event& event) {
  const isa::Instruction& instruction = program.instructions[event.instruction];
  const std::string& source = program.sources[instruction.source];
  return StrCat(isa::DefOf(instruction.opcode).mnemonic, " (instruction ", event.instruction,
                " on ", isa::EngineName(event.engine), source.empty() ? "" : StrCat(", ", source),
                ")");
}

std::string Place(const isa::Program& program, const Access& access, int64_t byte) {
  if (access.pattern->memory == isa::Memory::kHbm)
    return StrCat("byte ", byte, " of ", program.tensors[access.pattern->tensor].name);
  return StrCat("byte ", byte, " of partitions of ",
                access.pattern->memory == isa::Memory::kSbuf ? "sbuf" : "psum");
}

}  // namespace

bool HasSemaphores(const isa::Program& program) {
  return std::any_of(program.instructions.begin(), program.instructions.end(),
                     [](const isa::Instruction& instruction) {
                       return !instruction.waits.empty() || !instruction.updates.empty();
                     });
}

Status CheckHazards(const isa::Program& program, const int64_t* registers) {
  const std::vector<Event> events = Walk(program, registers).events;
  const std::vector<Set> before = Order(program, events);
  for (size_t j = 0; j < events.size(); ++j)
    for (size_t i = 0; i < j; ++i) {
      const Event& earlier = events[i];
      const Event& later = events[j];
      if (before[j].Has(i)) continue;
      for (const Access& a : earlier.accesses)
        for (const Access& b : later.accesses) {
          if (!a.writes && !b.writes) continue;
          const int64_t byte = SharedByte(a, b);
          if (byte < 0) continue;
          return FailedPrecondition("hazard.semaphore: ", Name(program, later),
                                    b.writes ? " writes " : " reads ", Place(program, b, byte),
                                    ", which ", Name(program, earlier),
                                    a.writes ? " writes" : " reads",
                                    before[i].Has(j) ? "; semaphores make it run first"
                                                     : "; no semaphore orders the two");
        }
    }
  return OkStatus();
}

}  // namespace neuron::emulator
