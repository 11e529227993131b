#include "emulator/liveness.h"

#include "emulator/program.h"

namespace neuron::emulator {
namespace {

bool Reads(const Operation& op, const TileRef& tile) {
  const isa::InstructionDef& def = isa::DefOf(op.opcode);
  const size_t operand =
      tile.operand < def.operands.size() ? tile.operand : def.operands.size() - 1;
  // An accumulating matmul reads its destination.
  return def.operands[operand].role != isa::Role::kOut || op.opcode == isa::Opcode::nc_matmul;
}

}  // namespace

Liveness::Liveness(const isa::Program& program, const std::vector<Step>& steps)
    : program_(program), line_end_(steps.size()) {
  const auto count = static_cast<uint32_t>(steps.size());
  for (uint32_t begin = 0; begin < count;) {
    uint32_t end = begin;
    while (end < count && (steps[end].control.kind == StepControl::Kind::kOperation)) ++end;
    const uint32_t next = end == begin ? begin + 1 : end;
    std::vector<const TileRef*> written;
    for (uint32_t i = begin; i < next; ++i) {
      line_end_[i] = next;
      const Operation& op = steps[i].operation;
      for (const TileRef& tile : op.tiles) {
        if (tile.hbm || !Reads(op, tile)) continue;
        Read read;
        read.region = Region::Of(program, tile);
        read.instruction = i;
        read.line_end = next;
        read.exposed = true;
        for (const TileRef* earlier : written)
          if (SameWalk(*earlier, tile)) read.exposed = false;
        reads_.push_back(read);
      }
      for (const TileRef& tile : op.tiles)
        if (!tile.hbm && tile.written) written.push_back(&tile);
    }
    begin = next;
  }
}

bool Liveness::ReadElsewhere(const TileRef& tile, uint32_t first, uint32_t last) const {
  const Region region = Region::Of(program_, tile);
  for (const Read& read : reads_) {
    const bool inside = read.instruction >= first && read.instruction < last;
    const bool follows = read.instruction >= last && read.instruction < line_end_[first];
    if (!(read.exposed || follows)) continue;
    if (inside && !read.exposed) continue;
    if (read.region.Overlaps(region)) return true;
  }
  return false;
}

}  // namespace neuron::emulator
