#include "commands/utilisation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "isa/target.h"
#include "isa/timing.h"

namespace neuron::commands {
namespace {

using isa::Engine;

// The furthest byte of a partition that is used, and who reaches it first.
struct HighWater {
  int64_t bytes = 0;
  uint32_t instruction = 0;
};

struct Totals {
  std::array<double, isa::kNumEngines> busy_ns{};
  double hbm_read = 0, hbm_written = 0;  // bytes
  HighWater sbuf, psum;
  bool complete = true;  // all loops count to constants
};

template <typename... Arguments>
std::string Format(const char* format, Arguments... arguments) {
  char text[256];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

// How often a loop runs; -1 if registers decide.
double TripsOf(const isa::Instruction& loop) {
  const auto* begin = std::get_if<isa::Affine>(&loop.operands[1]);
  const auto* end = std::get_if<isa::Affine>(&loop.operands[2]);
  const auto* step = std::get_if<int64_t>(&loop.operands[3]);
  if (begin == nullptr || end == nullptr || step == nullptr || !begin->is_constant() ||
      !end->is_constant())
    return -1;
  return static_cast<double>(std::max<int64_t>(0, (end->base - begin->base + *step - 1) / *step));
}

void AddTile(const isa::Program& program, uint32_t index, const isa::AccessPattern& tile,
             bool written, double times, Totals* totals) {
  if (tile.memory == isa::Memory::kHbm) {
    if (program.instructions[index].engine != Engine::kDma) return;
    const double bytes = times * static_cast<double>(tile.partitions.max) *
                         static_cast<double>(tile.MaxElementsPerPartition()) *
                         static_cast<double>(ByteSize(tile.dtype));
    (written ? totals->hbm_written : totals->hbm_read) += bytes;
    return;
  }
  HighWater& high = tile.memory == isa::Memory::kPsum ? totals->psum : totals->sbuf;
  const int64_t end = isa::Footprint(tile, nullptr).end;
  if (end > high.bytes) high = {end, index};
}

Totals Count(const isa::Program& program) {
  Totals totals;
  std::vector<double> times{1};
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    const isa::Instruction& x = program.instructions[i];
    if (x.opcode == isa::Opcode::loop_begin) {
      const double trips = TripsOf(x);
      totals.complete = totals.complete && trips >= 0;
      times.push_back(times.back() * std::max(trips, 1.0));
      continue;
    }
    if (x.opcode == isa::Opcode::while_begin) {  // how often only the data tell
      totals.complete = false;
      times.push_back(times.back());
      continue;
    }
    if (x.opcode == isa::Opcode::loop_end) {
      times.pop_back();
      continue;
    }
    totals.busy_ns[static_cast<size_t>(x.engine)] +=
        times.back() * isa::StaticBusyNs(x, program.target);
    const isa::InstructionDef& def = isa::DefOf(x.opcode);
    for (size_t o = 0; o < x.operands.size(); ++o)
      if (const auto* tile = std::get_if<isa::AccessPattern>(&x.operands[o]))
        AddTile(program, i, *tile,
                def.operands[std::min(o, def.operands.size() - 1)].role != isa::Role::kIn,
                times.back(), &totals);
  }
  return totals;
}

std::string MemoryLine(const isa::Program& program, const char* name, const HighWater& high,
                       int64_t capacity) {
  if (high.bytes == 0) return "";
  const uint32_t source = program.instructions[high.instruction].source;
  const std::string where =
      source < program.sources.size() && source != 0 ? ", " + program.sources[source] : "";
  return Format("; %-7s %lld of %lld bytes per partition (instruction %u", name,
                static_cast<long long>(high.bytes), static_cast<long long>(capacity),
                high.instruction) +
         where + ")\n";
}

}  // namespace

std::string UtilisationText(const isa::Program& program, int64_t duration_ps) {
  const Totals totals = Count(program);
  const isa::TargetRow& row = isa::RowOf(program.target);
  const double ns = totals.complete ? static_cast<double>(duration_ps) / 1000 : 0;
  std::string text = ns > 0 ? Format("; modelled time %.3f us\n", ns / 1000)
                            : std::string("; the time depends on run-time values\n");
  const auto share = [&](double busy) {
    return ns > 0 ? Format(" %6.1f %%", 100 * busy / ns) : std::string();
  };
  double most = 0;
  std::string bound;
  const auto see = [&](double busy, const std::string& what) {
    if (busy > most) most = busy, bound = what;
  };
  for (const Engine engine : {Engine::kTensor, Engine::kVector, Engine::kScalar, Engine::kGpSimd}) {
    const double busy = totals.busy_ns[static_cast<size_t>(engine)];
    if (busy == 0) continue;
    const std::string name(isa::EngineName(engine));
    text += Format("; %-7s %12.3f us", name.c_str(), busy / 1000) + share(busy) + "\n";
    see(busy, name);
  }
  const double bytes = totals.hbm_read + totals.hbm_written;
  const double moving = bytes * 1e9 / row.hbm_bytes_per_second_per_core;
  if (bytes > 0) {
    text += Format("; %-7s %12.3f us", "hbm", moving / 1000) + share(moving) +
            Format("   %.3f MB read, %.3f MB written", totals.hbm_read * 1e-6,
                   totals.hbm_written * 1e-6);
    if (ns > 0)
      text += Format(", %.0f of %.1f GB/s", bytes / ns, row.hbm_bytes_per_second_per_core * 1e-9);
    text += "\n";
    see(moving, "hbm");
  }
  if (ns > 0)
    text += most >= 0.8 * ns ? "; bound by " + bound + "\n"
                             : "; bound by latency: nothing is busy for 80 % of the time\n";
  text += MemoryLine(program, "sbuf", totals.sbuf, row.sbuf_bytes_per_partition);
  return text + MemoryLine(program, "psum", totals.psum, row.psum_bytes_per_partition);
}

}  // namespace neuron::commands
