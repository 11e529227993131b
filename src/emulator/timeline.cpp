#include "emulator/timeline.h"

#include <algorithm>

#include "isa/timing.h"

namespace neuron::emulator {
namespace {

constexpr int kQuadrant = 32;            // partitions that share a cell
constexpr int64_t kOnChipGranule = 256;  // bytes of a partition that share a cell
constexpr int64_t kHbmCells = 512;       // of one tensor
// Transfers of a core that are under way at once. A program may use 16 rings; a handful hides the
// fixed latency, as the published traces of double-buffered loads show (inferred).
constexpr int kDmaQueues = 8;

std::string Escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out;
}

}  // namespace

Timeline::Timeline(const isa::Program& program)
    : program_(program), target_(isa::RowOf(program.target)), queue_free_(kDmaQueues) {
  for (int e = 0; e < isa::kNumEngines; ++e)
    arrival_[e] = isa::ArrivalNs(static_cast<isa::Engine>(e), program.target);
  const auto on_chip = [](int64_t bytes) {
    Cells cells;
    cells.granule = kOnChipGranule;
    cells.per_row = (bytes + kOnChipGranule - 1) / kOnChipGranule;
    cells.cells.resize(cells.per_row * (isa::kPartitions / kQuadrant));
    return cells;
  };
  sbuf_ = on_chip(target_.sbuf_bytes_per_partition);
  psum_ = on_chip(target_.psum_bytes_per_partition);
  hbm_.resize(program.tensors.size());
  for (size_t t = 0; t < hbm_.size(); ++t) {
    const isa::TensorDecl& decl = program.tensors[t];
    if (decl.kind == isa::TensorKind::kInput || decl.kind == isa::TensorKind::kConstant ||
        decl.kind == isa::TensorKind::kScalars)
      continue;  // nothing writes it
    hbm_[t].granule = std::max<int64_t>(64, (decl.bytes + kHbmCells - 1) / kHbmCells);
    hbm_[t].per_row = decl.bytes / hbm_[t].granule + 1;
    hbm_[t].cells.resize(hbm_[t].per_row);
  }
}

template <typename Visit>
void Timeline::ForEachCell(const isa::AccessPattern& pattern, const int64_t* registers,
                           Visit visit) {
  const isa::ByteRange range = isa::Footprint(pattern, registers);
  if (range.end <= range.begin) return;
  if (pattern.memory == isa::Memory::kHbm) {
    Cells& cells = hbm_[pattern.tensor];
    if (cells.cells.empty()) return;
    const int64_t first = std::clamp<int64_t>(range.begin / cells.granule, 0, cells.per_row - 1);
    const int64_t last =
        std::clamp<int64_t>((range.end - 1) / cells.granule, first, cells.per_row - 1);
    for (int64_t c = first; c <= last; ++c) visit(cells.cells[c]);
    return;
  }
  Cells& cells = pattern.memory == isa::Memory::kSbuf ? sbuf_ : psum_;
  const int64_t partitions = std::max<int64_t>(1, pattern.partitions.Evaluate(registers));
  const int64_t first_row = pattern.start_partition / kQuadrant;
  const int64_t last_row =
      std::min<int64_t>(pattern.start_partition + partitions - 1, isa::kPartitions - 1) / kQuadrant;
  const int64_t first = std::clamp<int64_t>(range.begin / cells.granule, 0, cells.per_row - 1);
  const int64_t last =
      std::clamp<int64_t>((range.end - 1) / cells.granule, first, cells.per_row - 1);
  for (int64_t row = first_row; row <= last_row; ++row)
    for (int64_t c = first; c <= last; ++c) visit(cells.cells[row * cells.per_row + c]);
}

void Timeline::Issue(uint32_t instruction, isa::Engine engine, double busy_ns, int64_t hbm_bytes,
                     const std::vector<Access>& accesses, const int64_t* registers) {
  const int e = static_cast<int>(engine);
  double ready = 0;
  for (const Access& access : accesses)
    ForEachCell(*access.pattern, registers, [&](const Cell& cell) {
      if (cell.writer >= 0) {
        // A result is there after its writer's latency; another engine is told by a semaphore.
        const double told = cell.writer == e ? 0 : target_.semaphore_ns;
        ready = std::max(ready, cell.written + told);
      }
      if (access.writes) ready = std::max(ready, cell.read);
    });
  double start = ready;
  double busy_until = 0;
  int queue = 0;
  if (engine == isa::Engine::kDma) {
    const auto earliest = std::min_element(queue_free_.begin(), queue_free_.end());
    queue = static_cast<int>(earliest - queue_free_.begin());
    start = std::max(start, *earliest);
    // All queues share the HBM.
    const double moving =
        static_cast<double>(hbm_bytes) * 1e9 / target_.hbm_bytes_per_second_per_core;
    bandwidth_free_ = std::max(bandwidth_free_, start) + moving;
    busy_until = std::max(start + busy_ns, bandwidth_free_);
    *earliest = busy_until;
  } else {
    start = std::max(start, engine_free_[e]);
    busy_until = start + busy_ns;
    engine_free_[e] = busy_until;
  }
  const double arrives = busy_until + arrival_[e];
  for (const Access& access : accesses)
    ForEachCell(*access.pattern, registers, [&](Cell& cell) {
      if (access.writes) {
        cell.written = arrives;
        cell.writer = static_cast<int8_t>(e);
      }
      if (access.reads) cell.read = std::max(cell.read, busy_until);
    });
  end_ = std::max(end_, arrives);
  if (events_.size() < max_events_)
    events_.push_back({instruction, engine, queue, start, busy_until});
}

void Timeline::Shift(double by) {
  for (double& free : engine_free_) free += by;
  for (double& free : queue_free_) free += by;
  bandwidth_free_ += by;
  end_ += by;
  const auto shift = [by](Cells& cells) {
    for (Cell& cell : cells.cells) {
      if (cell.writer >= 0) cell.written += by;
      if (cell.read > 0) cell.read += by;
    }
  };
  shift(sbuf_);
  shift(psum_);
  for (Cells& cells : hbm_) shift(cells);
}

std::string Timeline::EventsJson() const {
  std::string json = "[";
  for (const Event& event : events_) {
    const isa::Instruction& instruction = program_.instructions[event.instruction];
    const std::string& source =
        instruction.source < program_.sources.size() ? program_.sources[instruction.source] : "";
    json += StrCat(json.size() > 1 ? "," : "", "{\"instruction\":", event.instruction,
                   ",\"mnemonic\":\"", isa::DefOf(instruction.opcode).mnemonic, "\",\"engine\":\"",
                   isa::EngineName(event.engine), "\",\"queue\":", event.queue,
                   ",\"start_ps\":", static_cast<int64_t>(event.start * 1000),
                   ",\"end_ps\":", static_cast<int64_t>(event.end * 1000), ",\"source\":\"",
                   Escaped(source), "\"}");
  }
  return json + "]";
}

}  // namespace neuron::emulator
