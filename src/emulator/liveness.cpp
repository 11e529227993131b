#include "emulator/liveness.h"

#include <algorithm>
#include <unordered_map>

#include "emulator/program.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kGranule = 64;
constexpr int64_t kQuadrant = 32;
constexpr uint32_t kLookAhead = 400;  // instructions

bool Reads(const Operation& op, const TileRef& tile) {
  const isa::InstructionDef& def = isa::DefOf(op.opcode);
  const size_t operand =
      tile.operand < def.operands.size() ? tile.operand : def.operands.size() - 1;
  // An accumulating matmul reads its destination.
  return def.operands[operand].role != isa::Role::kOut || op.opcode == isa::Opcode::nc_matmul ||
         op.opcode == isa::Opcode::nc_matmul_mx;
}

struct Granules {
  int64_t first, last;                    // half open
  int64_t first_quadrant, last_quadrant;  // half open
};

Granules GranulesOf(const Region& region, int64_t per_quadrant) {
  Granules g;
  g.first = std::clamp<int64_t>(region.begin / kGranule, 0, per_quadrant);
  g.last = std::clamp<int64_t>((region.end + kGranule - 1) / kGranule, 0, per_quadrant);
  g.first_quadrant = region.first_partition / kQuadrant;
  g.last_quadrant = (region.last_partition + kQuadrant - 1) / kQuadrant;
  return g;
}

}  // namespace

void Liveness::Exposed::Mark(const Region& region) {
  const Granules g = GranulesOf(region, granules);
  for (int64_t q = g.first_quadrant; q < g.last_quadrant; ++q)
    std::fill(bits.begin() + q * granules + g.first, bits.begin() + q * granules + g.last, true);
}

bool Liveness::Exposed::Touches(const Region& region) const {
  const Granules g = GranulesOf(region, granules);
  for (int64_t q = g.first_quadrant; q < g.last_quadrant; ++q)
    for (int64_t i = g.first; i < g.last; ++i)
      if (bits[q * granules + i]) return true;
  return false;
}

Liveness::Liveness(const isa::Program& program, const std::vector<Step>& steps)
    : program_(program), steps_(steps) {
  const isa::TargetRow& target = isa::RowOf(program.target);
  const auto size = [](Exposed* exposed, int64_t bytes) {
    exposed->granules = bytes / kGranule + 1;
    exposed->bits.resize(exposed->granules * (isa::kPartitions / kQuadrant));
  };
  size(&sbuf_, target.sbuf_bytes_per_partition);
  size(&psum_, target.psum_bytes_per_partition);
  // Tiles that the present line has written, by address.
  std::unordered_map<const char*, std::vector<const TileRef*>> written;
  for (const Step& step : steps) {
    if (step.control.kind != StepControl::Kind::kOperation) written.clear();
    const Operation& op = step.operation;
    first_.push_back(static_cast<uint32_t>(accesses_.size()));
    for (const TileRef& tile : op.tiles)
      if (!tile.hbm) accesses_.push_back({&tile, Region::Of(program, tile), Reads(op, tile)});
    for (const TileRef& tile : op.tiles) {
      if (tile.hbm || !Reads(op, tile)) continue;
      const auto found = written.find(tile.base);
      const bool covered =
          found != written.end() &&
          std::any_of(found->second.begin(), found->second.end(),
                      [&](const TileRef* earlier) { return SameWalk(*earlier, tile); });
      if (covered) continue;
      const Region region = Region::Of(program, tile);
      (region.memory == isa::Memory::kPsum ? psum_ : sbuf_).Mark(region);
    }
    for (const TileRef& tile : op.tiles) {
      if (tile.hbm || !tile.written) continue;
      std::vector<const TileRef*>& there = written[tile.base];
      const bool known = std::any_of(there.begin(), there.end(), [&](const TileRef* earlier) {
        return SameWalk(*earlier, tile);
      });
      if (!known) there.push_back(&tile);
    }
  }
  first_.push_back(static_cast<uint32_t>(accesses_.size()));
}

bool Liveness::ReadElsewhere(const TileRef& tile, uint32_t first, uint32_t last) const {
  const Region region = Region::Of(program_, tile);
  if (Of(region).Touches(region)) return true;
  // Reads that are covered are covered by this line: those that follow, until it is overwritten.
  const auto end = static_cast<uint32_t>(steps_.size());
  for (uint32_t i = last; i < end; ++i) {
    const Step& step = steps_[i];
    if (step.control.kind != StepControl::Kind::kOperation) return false;  // the line ends
    if (i - first > kLookAhead) return true;
    bool overwritten = false;
    for (uint32_t a = first_[i]; a < first_[i + 1]; ++a) {
      const Access& access = accesses_[a];
      if (!access.region.Overlaps(region)) continue;
      if (access.reads) return true;
      overwritten = overwritten || SameWalk(*access.tile, tile);
    }
    if (overwritten) return false;
  }
  return false;
}

}  // namespace neuron::emulator
