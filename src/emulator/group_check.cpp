#include "emulator/group_check.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "emulator/region.h"

namespace neuron::emulator {
namespace {

// Rows of bytes at equal distances: a tensor, or the box of an on-chip memory that is written.
struct Area {
  std::string name;
  char* data = nullptr;
  int64_t bytes = 0;  // of a row
  int64_t rows = 1, pitch = 0;
  bool compared = true;
  DType dtype = DType::kU8;
  std::string writer = {};  // the last instruction that writes to it
};

std::vector<char> Saved(const Area& area) {
  std::vector<char> bytes(static_cast<size_t>(area.rows * area.bytes));
  for (int64_t row = 0; row < area.rows; ++row)
    std::memcpy(bytes.data() + row * area.bytes, area.data + row * area.pitch,
                static_cast<size_t>(area.bytes));
  return bytes;
}

void Restore(const Area& area, const std::vector<char>& bytes) {
  for (int64_t row = 0; row < area.rows; ++row)
    std::memcpy(area.data + row * area.pitch, bytes.data() + row * area.bytes,
                static_cast<size_t>(area.bytes));
}

// The smallest box around all regions of a memory that a program writes.
class Box {
 public:
  void Add(const Region& region) {
    first_ = std::min(first_, region.first_partition);
    last_ = std::max(last_, region.last_partition);
    begin_ = std::min(begin_, region.begin);
    end_ = std::max(end_, region.end);
  }
  Area In(const OnChipMemory& memory, std::string name) const {
    // Registers are taken for all they may hold, which may be beyond a partition.
    const int64_t begin = std::max<int64_t>(begin_, 0);
    const int64_t end = std::min(end_, memory.pitch() - OnChipMemory::kPad);
    if (end <= begin) return {.name = std::move(name), .rows = 0};
    return {.name = std::move(name),
            .data = memory.partition(first_) + begin,
            .bytes = end - begin,
            .rows = last_ - first_,
            .pitch = memory.pitch(),
            .compared = false};
  }

 private:
  int64_t first_ = isa::kPartitions, last_ = 0, begin_ = INT64_MAX, end_ = 0;
};

template <typename T>
Area AreaOf(std::string name, T* data, int64_t count) {
  return {.name = std::move(name),
          .data = reinterpret_cast<char*>(data),
          .bytes = count * static_cast<int64_t>(sizeof(T))};
}

// What the program may write, as its tensors are bound.
void AddAreas(LoadedProgram& loaded, std::span<const BoundTensor> bound, std::vector<Area>* areas) {
  const isa::Program& program = loaded.program();
  Core& core = loaded.core();
  std::vector<Area> tensors(program.tensors.size());
  Box sbuf, psum;
  for (const Step& step : loaded.steps()) {
    for (const TileRef& tile : step.operation.tiles) {
      if (!tile.written) continue;
      if (!tile.hbm) {
        const Region region = PatternRegion(program, tile);
        (region.memory == isa::Memory::kSbuf ? sbuf : psum).Add(region);
        continue;
      }
      Area& area = tensors[tile.tensor];
      const BoundTensor& at = bound[tile.tensor];
      area.name = program.tensors[tile.tensor].name;
      area.data = at.data + at.offset;
      area.bytes = std::clamp<int64_t>(at.bytes - at.offset, 0, program.tensors[tile.tensor].bytes);
      area.dtype = tile.shape.dtype;
      area.writer = NameOf(step.operation);
      const std::string& source =
          program.sources[program.instructions[step.operation.index].source];
      if (!source.empty()) area.writer += StrCat(" of ", source);
    }
  }
  for (Area& area : tensors)
    if (area.bytes > 0) areas->push_back(std::move(area));
  areas->push_back(sbuf.In(core.sbuf(), "sbuf"));
  areas->push_back(psum.In(core.psum(), "psum"));
  areas->push_back(AreaOf("the Vector engine's accumulators",
                          core.vector_accumulator(isa::AccessPattern()), isa::kPartitions));
  areas->push_back(AreaOf("the Scalar engine's accumulators",
                          core.scalar_accumulator(isa::AccessPattern()), isa::kPartitions));
  for (const isa::Engine engine : {isa::Engine::kVector, isa::Engine::kGpSimd}) {
    RandomLanes& random = core.random(engine);
    areas->push_back(AreaOf("an engine's random generators", random.lane(0),
                            isa::kPartitions * random.generators()));
  }
}

// "0x3f800000 (1)": the element at `bytes`.
std::string ValueText(DType dtype, const char* bytes, int64_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int64_t i = size - 1; i >= 0; --i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  const auto as = [&]<typename T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return value;
  };
  if (dtype == DType::kF32) text += StrCat(" (", as(float()), ")");
  if (dtype == DType::kBF16) text += StrCat(" (", ToFloat(as(BFloat16())), ")");
  if (dtype == DType::kF16) text += StrCat(" (", ToFloat(as(Float16())), ")");
  return text;
}

constexpr std::string_view kSingly = " instruction by instruction";

Status CompareBytes(const Area& area, const std::vector<char>& want, const std::vector<char>& got) {
  const auto differ = std::mismatch(want.begin(), want.end(), got.begin());
  if (differ.first == want.end()) return OkStatus();
  const int64_t at = differ.first - want.begin();
  int64_t count = 0;
  for (size_t i = 0; i < want.size(); ++i) count += want[i] != got[i] ? 1 : 0;
  const int64_t element = at / ByteSize(area.dtype);
  const int64_t first = element * ByteSize(area.dtype);
  const int64_t size = std::min(ByteSize(area.dtype), static_cast<int64_t>(want.size()) - first);
  return Internal("groups.bits: ", area.name, " differs at byte ", at, " (element ", element,
                  " if all are ", DTypeName(area.dtype), "; ", count, " of ", want.size(),
                  " bytes differ): ", ValueText(area.dtype, got.data() + first, size),
                  " with instruction groups, ", ValueText(area.dtype, want.data() + first, size),
                  kSingly, area.writer.empty() ? "" : StrCat("; last written by ", area.writer));
}

Status CompareCounters(const Counters& want, const Counters& got) {
  const std::string a = want.ToJson();
  const std::string b = got.ToJson();
  if (a == b) return OkStatus();
  return Internal("groups.counters: ", b, " with instruction groups, ", a, kSingly);
}

}  // namespace

Status CheckGroups(std::span<std::vector<BoundTensor>> bound, const CheckedRun& singly,
                   const CheckedRun& grouped, Counters* counters) {
  std::vector<Area> areas;
  for (size_t i = 0; i < singly.programs.size(); ++i) {
    // What is refused before the first instruction is refused in either way.
    if (!singly.programs[i]->Prepare(bound[i]).ok()) return grouped.execute(counters);
    AddAreas(*singly.programs[i], bound[i], &areas);
  }
  std::vector<std::vector<char>> before, want;
  for (const Area& area : areas) before.push_back(Saved(area));

  std::atomic<int64_t>& clock = singly.programs[0]->core().device_time_ps;
  const int64_t started = clock.load(std::memory_order_relaxed);
  Counters want_counters, got_counters;
  const Status status = singly.execute(&want_counters);
  for (const Area& area : areas) want.push_back(Saved(area));
  clock.store(started, std::memory_order_relaxed);
  for (size_t i = 0; i < areas.size(); ++i) Restore(areas[i], before[i]);

  Status result = grouped.execute(&got_counters);
  counters->Add(got_counters);
  if (result.ToString() != status.ToString())
    return Internal("groups.status: '", result.ToString(), "' with instruction groups, '",
                    status.ToString(), "'", kSingly);
  if (!result.ok()) return result;  // how far it came is not the same in a shared loop
  if (grouped.duration_ps() != singly.duration_ps())
    return Internal("groups.time: ", grouped.duration_ps(), " ps with instruction groups, ",
                    singly.duration_ps(), " ps", kSingly);
  NEURON_RETURN_IF_ERROR(CompareCounters(want_counters, got_counters));
  for (size_t i = 0; i < areas.size(); ++i)
    if (areas[i].compared) NEURON_RETURN_IF_ERROR(CompareBytes(areas[i], want[i], Saved(areas[i])));
  return result;
}

}  // namespace neuron::emulator
