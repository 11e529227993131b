#include "emulator/timeline.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/json.h"
#include "isa/timing.h"

namespace neuron::emulator {
namespace {

constexpr int kQuadrant = 32;  // partitions whose memory is followed together
// Transfers of a core that are under way at once. A program may use 16 rings; a handful hides the
// fixed latency, as the published traces of double-buffered loads show (inferred).
constexpr int kDmaQueues = 8;

}  // namespace

Timeline::Timeline(const isa::Program& program)
    : program_(program), target_(isa::RowOf(program.target)), queue_free_(kDmaQueues) {
  for (int e = 0; e < isa::kNumEngines; ++e)
    arrival_[e] = isa::ArrivalNs(static_cast<isa::Engine>(e), program.target);
  const Cells untouched{{0, Cell()}};
  sbuf_.assign(isa::kPartitions / kQuadrant, untouched);
  psum_ = sbuf_;
  for (const isa::TensorDecl& decl : program.tensors) {
    const bool written = decl.kind != isa::TensorKind::kInput &&
                         decl.kind != isa::TensorKind::kConstant &&
                         decl.kind != isa::TensorKind::kScalars;
    hbm_.push_back(written ? untouched : Cells());
  }
}

template <typename Visit>
void Timeline::ForEachRange(const isa::AccessPattern& pattern, const int64_t* registers,
                            Visit visit) {
  isa::ByteRange range = isa::Footprint(pattern, registers);
  range.begin = std::max<int64_t>(0, range.begin);
  if (range.end <= range.begin) return;
  if (pattern.memory == isa::Memory::kHbm) {
    if (!hbm_[pattern.tensor].empty()) visit(hbm_[pattern.tensor], range);
    return;
  }
  std::vector<Cells>& quadrants = pattern.memory == isa::Memory::kSbuf ? sbuf_ : psum_;
  const int64_t partitions = std::max<int64_t>(1, pattern.partitions.Evaluate(registers));
  const int64_t first = pattern.start_partition / kQuadrant;
  const int64_t last =
      std::min<int64_t>(pattern.start_partition + partitions - 1, isa::kPartitions - 1) / kQuadrant;
  for (int64_t q = first; q <= last; ++q) visit(quadrants[q], range);
}

// When the hazards of an access are over.
double Timeline::Ready(const Access& access, int engine, const int64_t* registers) {
  double ready = 0;
  // An engine's own writes are in order; the queues of the DMA engines are not.
  const bool in_order = engine != static_cast<int>(isa::Engine::kDma);
  ForEachRange(*access.pattern, registers, [&](const Cells& cells, isa::ByteRange range) {
    for (auto it = std::prev(cells.upper_bound(range.begin));
         it != cells.end() && it->first < range.end; ++it) {
      const Cell& cell = it->second;
      if (cell.writer >= 0 && (access.reads || cell.writer != engine || !in_order)) {
        // A result is there after its writer's latency; another engine is told by a semaphore.
        const double told = cell.writer == engine ? 0 : target_.semaphore_ns;
        ready = std::max(ready, cell.written + told);
      }
      if (access.writes) ready = std::max(ready, cell.read);
    }
  });
  return ready;
}

void Timeline::Note(const Access& access, int engine, double busy_until, double arrives,
                    const int64_t* registers) {
  ForEachRange(*access.pattern, registers, [&](Cells& cells, isa::ByteRange range) {
    for (const int64_t edge : {range.begin, range.end}) {
      const auto it = std::prev(cells.upper_bound(edge));
      if (it->first != edge) cells.emplace_hint(std::next(it), edge, it->second);
    }
    const auto first = cells.find(range.begin);
    const auto end = cells.find(range.end);
    if (access.writes) {
      // Whoever comes later waits for this write, which waited for the reads before it.
      cells.erase(std::next(first), end);
      first->second = {arrives, access.reads ? busy_until : 0, static_cast<int8_t>(engine)};
    } else {
      for (auto it = first; it != end; ++it)
        it->second.read = std::max(it->second.read, busy_until);
    }
  });
}

double Timeline::MoveBytes(double start, double moving, double horizon) {
  std::erase_if(bandwidth_, [&](const Interval& taken) { return taken.end <= horizon; });
  const auto first = std::find_if(bandwidth_.begin(), bandwidth_.end(),
                                  [&](const Interval& taken) { return taken.end >= start; });
  Interval mine{start, start};
  auto next = first;
  for (; next != bandwidth_.end() && next->begin - mine.end < moving; ++next) {
    moving -= std::max(0.0, next->begin - mine.end);
    mine = {std::min(mine.begin, next->begin), next->end};
  }
  mine.end += moving;
  bandwidth_.insert(bandwidth_.erase(first, next), mine);
  return mine.end;
}

double Timeline::Issue(uint32_t instruction, isa::Engine engine, double busy_ns, int64_t hbm_bytes,
                       const std::vector<Access>& accesses, const int64_t* registers,
                       double not_before_ns) {
  const int e = static_cast<int>(engine);
  double ready = 0;
  for (const Access& access : accesses) ready = std::max(ready, Ready(access, e, registers));
  double start = ready;
  double possible = 0;
  double busy_until = 0;
  int queue = 0;
  if (engine == isa::Engine::kDma) {
    const auto earliest = std::min_element(queue_free_.begin(), queue_free_.end());
    queue = static_cast<int>(earliest - queue_free_.begin());
    const double triggered = triggered_;
    start = std::max({start, *earliest, triggered});
    // One sequencer triggers transfers; that it catches up after a wait stands for others helping.
    triggered_ += target_.dma_trigger_ns;
    possible = start;
    start = std::max(start, not_before_ns);
    // All queues share the HBM.
    const double moving =
        static_cast<double>(hbm_bytes) * 1e9 / target_.hbm_bytes_per_second_per_core;
    busy_until = std::max(start + busy_ns, MoveBytes(start, moving, triggered));
    *earliest = busy_until;
  } else {
    possible = std::max(start, engine_free_[e]);
    start = std::max(possible, not_before_ns);
    busy_until = start + busy_ns;
    engine_free_[e] = busy_until;
  }
  const double arrives = busy_until + arrival_[e];
  for (const Access& access : accesses) Note(access, e, busy_until, arrives, registers);
  end_ = std::max(end_, arrives);
  if (events_.size() < max_events_)
    events_.push_back({instruction, engine, queue, start, busy_until});
  return possible;
}

void Timeline::Shift(double by) {
  for (double& free : engine_free_) free += by;
  for (double& free : queue_free_) free += by;
  for (Interval& taken : bandwidth_) taken = {taken.begin + by, taken.end + by};
  triggered_ += by;
  end_ += by;
  for (std::vector<Cells>* const memory : {&sbuf_, &psum_, &hbm_})
    for (Cells& cells : *memory)
      for (auto& [begin, cell] : cells) {
        if (cell.writer >= 0) cell.written += by;
        if (cell.read > 0) cell.read += by;
      }
}

namespace {

// Microseconds with every picosecond, as the trace-event format wants its times.
std::string MicrosecondsOf(int64_t ps) {
  char text[40];
  std::snprintf(text, sizeof text, "%lld.%06lld", static_cast<long long>(ps / 1'000'000),
                static_cast<long long>(ps % 1'000'000));
  return text;
}

}  // namespace

std::string Timeline::EventsJson(int core) const {
  constexpr int kFirstQueue = 16;  // a viewer's rows: the engines, then the DMA queues
  std::string json = "[";
  for (const Event& event : events_) {
    const isa::Instruction& instruction = program_.instructions[event.instruction];
    const std::string& source =
        instruction.source < program_.sources.size() ? program_.sources[instruction.source] : "";
    const std::string_view mnemonic = isa::DefOf(instruction.opcode).mnemonic;
    const auto start_ps = static_cast<int64_t>(event.start * 1000);
    const auto end_ps = static_cast<int64_t>(event.end * 1000);
    const int row = event.engine == isa::Engine::kDma ? kFirstQueue + event.queue
                                                      : static_cast<int>(event.engine);
    json += StrCat(json.size() > 1 ? "," : "", "{\"name\":\"", mnemonic,
                   "\",\"ph\":\"X\",\"ts\":", MicrosecondsOf(start_ps),
                   ",\"dur\":", MicrosecondsOf(end_ps - start_ps), ",\"pid\":", core,
                   ",\"tid\":", row, ",\"instruction\":", event.instruction, ",\"mnemonic\":\"",
                   mnemonic, "\",\"engine\":\"", isa::EngineName(event.engine),
                   "\",\"queue\":", event.queue, ",\"start_ps\":", start_ps, ",\"end_ps\":", end_ps,
                   ",\"source\":", JsonQuoted(source), ",\"core\":", core, "}");
  }
  return json + "]";
}

}  // namespace neuron::emulator
