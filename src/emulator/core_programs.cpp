#include "emulator/core_programs.h"

#include <algorithm>

#include "base/environment.h"
#include "isa/operands.h"

namespace neuron::emulator {
namespace {

const isa::Instruction& InstructionOf(const LoadedProgram& program, const Step& step) {
  return program.program().instructions[step.operation.index];
}

// All of a tile's elements, row by row.
std::vector<char> Read(const Tile& tile) {
  const int64_t bytes = tile.elements() * tile.shape->element_bytes;
  std::vector<char> data(static_cast<size_t>(tile.rows() * bytes));
  for (int64_t row = 0; row < tile.rows(); ++row)
    GatherRow(*tile.shape, tile.row(row), 0, tile.elements(), &data[row * bytes]);
  return data;
}

void Write(const std::vector<char>& data, const Tile& tile) {
  const int64_t bytes = tile.elements() * tile.shape->element_bytes;
  for (int64_t row = 0; row < tile.rows(); ++row)
    ScatterRow(*tile.shape, tile.row(row), 0, tile.elements(), &data[row * bytes]);
}

std::string Where(const Step* step) {
  return step == nullptr ? "has ended" : StrCat("waits in ", NameOf(step->operation));
}

}  // namespace

StatusOr<std::unique_ptr<CorePrograms>> CorePrograms::Load(std::vector<isa::Program> programs,
                                                           Core& first) {
  auto loaded = std::make_unique<CorePrograms>();
  for (size_t i = 0; i < programs.size(); ++i) {
    Core* core = &first;
    if (i > 0) {
      NEURON_ASSIGN_OR_RETURN(core, first.Second());
    }
    NEURON_ASSIGN_OR_RETURN(auto program, LoadedProgram::Load(std::move(programs[i]), *core));
    loaded->programs_.push_back(std::move(program));
  }
  const auto grouped = [](const auto& program) { return program->has_groups(); };
  const bool any = std::any_of(loaded->programs_.begin(), loaded->programs_.end(), grouped);
  if (!any || !ReadSwitch(Variable::kCheckGroups)) return loaded;
  loaded->singly_ = std::make_unique<CorePrograms>();
  for (const auto& program : loaded->programs_) {
    NEURON_ASSIGN_OR_RETURN(auto singly, program->WithoutGroups());
    loaded->singly_->programs_.push_back(std::move(singly));
  }
  return loaded;
}

Status CorePrograms::Execute(std::span<std::vector<BoundTensor>> bound, Counters* counters) {
  if (singly_ == nullptr) return ExecuteOnce(bound, counters);
  return CheckGroups(bound, singly_->WayToRun(bound), WayToRun(bound), counters);
}

CheckedRun CorePrograms::WayToRun(std::span<std::vector<BoundTensor>> bound) {
  return {.programs = programs_,
          .execute = [this, bound](Counters* own) { return ExecuteOnce(bound, own); },
          .duration_ps = [this] { return last_duration_ps(); }};
}

Status CorePrograms::ExecuteOnce(std::span<std::vector<BoundTensor>> bound, Counters* counters) {
  if (programs_.size() == 1) return programs_[0]->Execute(bound[0], counters);
  const Status status = Run(bound, counters);
  duration_ps_ = -1;
  ++counters->executions;
  programs_[0]->core().device_time_ps.fetch_add(last_duration_ps(), std::memory_order_relaxed);
  return status;
}

Status CorePrograms::Run(std::span<std::vector<BoundTensor>> bound, Counters* counters) {
  LoadedProgram& first = *programs_[0];
  LoadedProgram& second = *programs_[1];
  NEURON_RETURN_IF_ERROR(first.Begin(bound[0], counters));
  NEURON_RETURN_IF_ERROR(second.Begin(bound[1], counters));
  while (true) {
    NEURON_RETURN_IF_ERROR(first.Resume());
    NEURON_RETURN_IF_ERROR(second.Resume());
    const Step* a = first.meeting();
    const Step* b = second.meeting();
    if (first.log() != nullptr) {
      NEURON_RETURN_IF_ERROR(
          CheckCoreRaces(first.program(), *first.log(), second.program(), *second.log()));
      first.log()->Clear();
      second.log()->Clear();
    }
    if (a == nullptr && b == nullptr) return OkStatus();
    if (a == nullptr || b == nullptr)
      return FailedPrecondition("cores.deadlock: core 0 ", Where(a), ", core 1 ", Where(b));
    NEURON_RETURN_IF_ERROR(Meet(*a, *b));
    first.PassMeeting();
    second.PassMeeting();
  }
}

Status CorePrograms::Meet(const Step& a, const Step& b) {
  const isa::Instruction& first = InstructionOf(*programs_[0], a);
  const isa::Instruction& second = InstructionOf(*programs_[1], b);
  const auto fail = [&](std::string_view what) {
    return FailedPrecondition("cores.deadlock: core 0 ", Where(&a), ", core 1 ", Where(&b), ": ",
                              what);
  };
  if (first.opcode != second.opcode) return fail("they wait for different things");
  if (first.opcode == isa::Opcode::core_barrier) return OkStatus();
  using namespace isa::sendrecv_operands;  // NOLINT(google-build-using-namespace): positions
  if (isa::IntegerAt(first, kPipeId) != isa::IntegerAt(second, kPipeId))
    return fail(StrCat("their pipes are ", isa::IntegerAt(first, kPipeId), " and ",
                       isa::IntegerAt(second, kPipeId)));
  // What each core gets, and from where.
  const isa::Instruction* const instructions[] = {&first, &second};
  std::vector<char> sent[2];
  Tile tiles[2][2];
  TileShape storage[2][2];
  for (int core = 0; core < 2; ++core) {
    const Operation& operation = core == 0 ? a.operation : b.operation;
    for (int t = 0; t < 2; ++t)
      NEURON_RETURN_IF_ERROR(programs_[core]->execution().Resolve(
          operation, operation.tiles[t], &storage[core][t], &tiles[core][t]));
    sent[core] = Read(tiles[core][0]);
  }
  for (int core = 0; core < 2; ++core) {
    const auto from = static_cast<int>(isa::IntegerAt(*instructions[core], kRecvFromRank));
    if (isa::IntegerAt(*instructions[from], kSendToRank) != core)
      return fail(StrCat("core ", core, " receives from core ", from, ", which sends to core ",
                         isa::IntegerAt(*instructions[from], kSendToRank)));
    const Tile& dst = tiles[core][1];
    const Tile& src = tiles[from][0];
    if (src.rows() != dst.rows() || src.elements() != dst.elements() ||
        src.shape->dtype != dst.shape->dtype)
      return fail(StrCat("core ", from, " sends [", src.rows(), ", ", src.elements(), "] ",
                         DTypeName(src.shape->dtype), ", core ", core, " expects [", dst.rows(),
                         ", ", dst.elements(), "] ", DTypeName(dst.shape->dtype)));
    Write(sent[from], dst);
  }
  return OkStatus();
}

// A meeting begins when the later of the two has come to it, which moves what follows: repeated
// until nothing moves. Each round settles one more meeting at least.
void CorePrograms::Time() {
  constexpr int kRounds = 64;
  released_ns_.clear();
  for (int round = 0; round < kRounds; ++round) {
    const Scoreboard::Meetings first = programs_[0]->Meetings(released_ns_);
    const Scoreboard::Meetings second = programs_[1]->Meetings(released_ns_);
    duration_ps_ = static_cast<int64_t>(std::max(first.end_ns, second.end_ns) * 1000);
    const size_t count = std::min(first.arrivals_ns.size(), second.arrivals_ns.size());
    std::vector<double> released(count);
    for (size_t k = 0; k < count; ++k)
      released[k] = std::max(first.arrivals_ns[k], second.arrivals_ns[k]);
    if (released == released_ns_) break;
    released_ns_ = std::move(released);
  }
}

int64_t CorePrograms::last_duration_ps() {
  if (programs_.size() == 1) return programs_[0]->last_duration_ps();
  if (duration_ps_ < 0) Time();
  return duration_ps_;
}

std::string CorePrograms::TraceJson(size_t max_events) {
  if (programs_.size() == 1) return programs_[0]->TraceJson(max_events);
  if (duration_ps_ < 0) Time();
  std::string json = programs_[0]->TraceJson(max_events, released_ns_, 0);
  const std::string second = programs_[1]->TraceJson(max_events, released_ns_, 1);
  json.pop_back();  // "]"
  if (json.size() > 1 && second.size() > 2) json += ",";
  return json + second.substr(1);
}

}  // namespace neuron::emulator
