#include "emulator/core_races.h"

#include <algorithm>

#include "emulator/byte_runs.h"

namespace neuron::emulator {
namespace {

std::string Name(const isa::Program& program, uint32_t index) {
  const isa::Instruction& instruction = program.instructions[index];
  const std::string& source = program.sources[instruction.source];
  return StrCat(isa::DefOf(instruction.opcode).mnemonic, " (instruction ", index,
                source.empty() ? "" : StrCat(", ", source), ")");
}

}  // namespace

void AccessLog::Record(const Operation& operation, const Execution& execution) {
  for (const TileRef& ref : operation.tiles) {
    if (!ref.hbm) continue;
    Tile tile;
    TileShape storage;
    if (!execution.Resolve(operation, ref, &storage, &tile).ok()) continue;
    for (int64_t row = 0; row < tile.rows(); ++row)
      ForEachRun(*tile.shape, [&](int64_t offset, int64_t bytes) {
        const char* begin = tile.row(row) + offset;
        Access* const last = accesses_.empty() ? nullptr : &accesses_.back();
        if (last != nullptr && last->end == begin && last->instruction == operation.index &&
            last->write == ref.written) {
          last->end += bytes;
        } else {
          accesses_.push_back({begin, begin + bytes, operation.index, ref.written});
        }
      });
  }
}

const std::vector<AccessLog::Access>& AccessLog::Sorted() {
  std::sort(accesses_.begin(), accesses_.end(),
            [](const Access& a, const Access& b) { return a.begin < b.begin; });
  return accesses_;
}

Status CheckCoreRaces(const isa::Program& first_program, AccessLog& first,
                      const isa::Program& second_program, AccessLog& second) {
  const auto& theirs = second.Sorted();
  // How far back an access that reaches an address may begin.
  int64_t longest = 0;
  for (const auto& access : theirs) longest = std::max(longest, access.end - access.begin);
  for (const auto& mine : first.Sorted()) {
    auto it = std::lower_bound(
        theirs.begin(), theirs.end(), mine.begin,
        [longest](const AccessLog::Access& a, const char* at) { return a.begin + longest <= at; });
    for (; it != theirs.end() && it->begin < mine.end; ++it) {
      if (it->end <= mine.begin || (!mine.write && !it->write)) continue;
      return FailedPrecondition("cores.race: ", Name(first_program, mine.instruction),
                                " of core 0 ", mine.write ? "writes" : "reads", " what ",
                                Name(second_program, it->instruction), " of core 1 ",
                                it->write ? "writes" : "reads",
                                "; no core_barrier or sendrecv lies between");
    }
  }
  return OkStatus();
}

}  // namespace neuron::emulator
