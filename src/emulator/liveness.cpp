#include "emulator/liveness.h"

#include <algorithm>
#include <unordered_map>

#include "emulator/program.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kPageBytes = 4096;

bool Reads(const Operation& op, const TileRef& tile) {
  const isa::InstructionDef& def = isa::DefOf(op.opcode);
  const size_t operand =
      tile.operand < def.operands.size() ? tile.operand : def.operands.size() - 1;
  // An accumulating matmul reads its destination.
  return def.operands[operand].role != isa::Role::kOut || op.opcode == isa::Opcode::nc_matmul;
}

// The tiles that a straight line of code has written so far, each once.
class Written {
 public:
  bool Contains(const TileRef& tile) const {
    const auto at = by_base_.find(tile.base);
    return at != by_base_.end() &&
           std::any_of(at->second.begin(), at->second.end(),
                       [&](const TileRef* earlier) { return SameWalk(*earlier, tile); });
  }
  void Add(const TileRef& tile) {
    if (!tile.dynamic && !Contains(tile)) by_base_[tile.base].push_back(&tile);
  }

 private:
  std::unordered_map<const char*, std::vector<const TileRef*>> by_base_;
};

}  // namespace

template <typename Pages, typename Visit>
bool Liveness::AnyPage(Pages& pages, const Region& region, Visit visit) {
  const auto count = static_cast<int64_t>(pages.size());
  const int64_t first = std::clamp<int64_t>(region.begin / kPageBytes, 0, count - 1);
  const int64_t last = std::clamp<int64_t>((region.end - 1) / kPageBytes, first, count - 1);
  for (int64_t p = first; p <= last; ++p)
    if (visit(pages[static_cast<size_t>(p)])) return true;
  return false;
}

Liveness::Liveness(const isa::Program& program, const std::vector<Step>& steps)
    : program_(program), line_end_(steps.size()) {
  const isa::TargetRow& target = isa::RowOf(program.target);
  sbuf_.resize(static_cast<size_t>(target.sbuf_bytes_per_partition / kPageBytes + 1));
  psum_.resize(static_cast<size_t>(target.psum_bytes_per_partition / kPageBytes + 1));
  const auto add = [&](const TileRef& tile, uint32_t instruction, bool exposed) {
    const Region region = Region::Of(program, tile);
    AnyPage(region.memory == isa::Memory::kSbuf ? sbuf_ : psum_, region, [&](Page& page) {
      page.all.push_back({region, instruction});
      if (exposed &&
          std::find(page.exposed.begin(), page.exposed.end(), region) == page.exposed.end())
        page.exposed.push_back(region);
      return false;
    });
  };
  const auto count = static_cast<uint32_t>(steps.size());
  for (uint32_t begin = 0; begin < count;) {
    uint32_t end = begin;
    while (end < count && (steps[end].control.kind == StepControl::Kind::kOperation)) ++end;
    const uint32_t next = end == begin ? begin + 1 : end;
    Written written;
    for (uint32_t i = begin; i < next; ++i) {
      line_end_[i] = next;
      const Operation& op = steps[i].operation;
      for (const TileRef& tile : op.tiles)
        if (!tile.hbm && Reads(op, tile)) add(tile, i, !written.Contains(tile));
      for (const TileRef& tile : op.tiles)
        if (!tile.hbm && tile.written) written.Add(tile);
    }
    begin = next;
  }
}

bool Liveness::ReadElsewhere(const TileRef& tile, uint32_t first, uint32_t last) const {
  const Region region = Region::Of(program_, tile);
  return AnyPage(
      region.memory == isa::Memory::kSbuf ? sbuf_ : psum_, region, [&](const Page& page) {
        for (const Region& exposed : page.exposed)
          if (exposed.Overlaps(region)) return true;
        auto read = std::lower_bound(
            page.all.begin(), page.all.end(), last,
            [](const Read& r, uint32_t instruction) { return r.instruction < instruction; });
        for (; read != page.all.end() && read->instruction < line_end_[first]; ++read)
          if (read->region.Overlaps(region)) return true;
        return false;
      });
}

}  // namespace neuron::emulator
