#include "emulator/unrolled.h"

#include <algorithm>
#include <optional>

#include "emulator/program.h"

namespace neuron::emulator {
namespace {

// Compares the copies operand by operand, half a step of the counter apart.
class Copies {
 public:
  Copies(isa::Register counter, int64_t half) : counter_(counter), half_(half) {}

  bool Match(const isa::Instruction& a, const isa::Instruction& b) {
    if (a.opcode != b.opcode || a.engine != b.engine || a.operands.size() != b.operands.size() ||
        !a.waits.empty() || !b.waits.empty() || !a.updates.empty() || !b.updates.empty())
      return false;
    for (size_t i = 0; i < a.operands.size(); ++i)
      if (!Match(a.operands[i], b.operands[i])) return false;
    return true;
  }

  bool HasTurns() const { return !sbuf_.turns.empty() || !psum_.turns.empty(); }
  bool Overlap() const { return sbuf_.Overlap() || psum_.Overlap(); }

 private:
  bool Match(const isa::Operand& a, const isa::Operand& b) {
    const auto* tile = std::get_if<isa::AccessPattern>(&a);
    const auto* other = std::get_if<isa::AccessPattern>(&b);
    if (tile != nullptr && other != nullptr)
      return tile->memory == isa::Memory::kHbm ? Follows(*tile, *other) : TakesTurns(*tile, *other);
    const auto* value = std::get_if<isa::Affine>(&a);
    const auto* next = std::get_if<isa::Affine>(&b);
    if (value != nullptr && next != nullptr) return Follows(*value, *next);
    return a == b;
  }

  bool Follows(isa::Affine a, const isa::Affine& b) const {
    for (int i = 0; i < a.num_terms; ++i)
      if (a.terms[i].reg == counter_) a.base += a.terms[i].coefficient * half_;
    return a == b;
  }
  bool Follows(isa::AccessPattern a, const isa::AccessPattern& b) const {
    if (!Follows(a.offset, b.offset)) return false;
    a.offset = b.offset;
    return a == b;
  }

  // One of the memories on chip.
  struct Tiles {
    std::optional<int64_t> turn;                             // how far apart the copies' tiles are
    std::vector<std::pair<int64_t, int64_t>> turns, shared;  // bytes of a partition

    bool Overlap() const {
      for (const auto& [begin, end] : turns)
        for (const auto& [other, other_end] : shared)
          if (begin < other_end && other < end) return true;
      return false;
    }
  };

  // Tiles of the copies are as far apart as every other pair in that memory, or the same one.
  bool TakesTurns(isa::AccessPattern a, const isa::AccessPattern& b) {
    if (!a.offset.is_constant() || !b.offset.is_constant()) return false;
    const int64_t turn = b.offset.base - a.offset.base;
    const isa::ByteRange range = isa::Footprint(a, nullptr);
    a.offset = b.offset;
    if (!(a == b)) return false;
    Tiles& tiles = a.memory == isa::Memory::kSbuf ? sbuf_ : psum_;
    if (turn == 0) {
      tiles.shared.push_back({range.begin, range.end});
      return true;
    }
    if (tiles.turn.value_or(turn) != turn) return false;
    tiles.turn = turn;
    tiles.turns.push_back({range.begin, range.end});
    tiles.turns.push_back({range.begin + turn, range.end + turn});
    return true;
  }

  const isa::Register counter_;
  const int64_t half_;
  Tiles sbuf_, psum_;
};

}  // namespace

uint32_t SecondCopy(const isa::Program& program, const std::vector<Step>& steps, uint32_t begin) {
  const StepControl& loop = steps[begin].control;
  const uint32_t count = loop.match - begin - 1;
  if (count == 0 || count % 2 != 0 || loop.step % 2 != 0) return 0;
  const uint32_t first = begin + 1;
  const uint32_t second = first + count / 2;
  for (uint32_t i = first; i < loop.match; ++i)
    if (steps[i].control.kind != StepControl::Kind::kOperation || steps[i].dynamic) return 0;
  Copies copies(loop.reg, loop.step / 2);
  for (uint32_t i = 0; i < count / 2; ++i)
    if (!copies.Match(program.instructions[first + i], program.instructions[second + i])) return 0;
  return copies.HasTurns() && !copies.Overlap() ? second : 0;
}

}  // namespace neuron::emulator
