#include "torch/run_time_extent.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace neuron::pytorch {
namespace {

constexpr size_t kSamples = std::size(kSampleExtents);

// Beyond any size: the end of `x[1:]` is the largest integer, and no line goes through it.
constexpr int64_t kFar = int64_t{1} << 40;

bool IsFar(int64_t n) { return n < -kFar || n > kFar; }

// constant + coefficient * extent through two points; nullopt if the coefficient is no integer.
std::optional<hlo::Linear> Line(int64_t x0, int64_t y0, int64_t x1, int64_t y1) {
  if (IsFar(x0) || IsFar(y0) || IsFar(x1) || IsFar(y1)) return std::nullopt;
  if (x0 == x1 || (y1 - y0) % (x1 - x0) != 0) return std::nullopt;
  const int64_t slope = (y1 - y0) / (x1 - x0);
  return hlo::Linear{y0 - slope * x0, slope};
}

// What a number that differs between lowerings is of the extent.
std::optional<hlo::Linear> LineThrough(const std::array<int64_t, kSamples>& values) {
  const auto line = Line(kSampleExtents[0], values[0], kSampleExtents[1], values[1]);
  if (!line) return std::nullopt;
  for (size_t i = 0; i < kSamples; ++i)
    if (line->At(kSampleExtents[i]) != values[i]) return std::nullopt;
  return line;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The number that begins at `at`, which is moved behind it.
std::optional<int64_t> TakeNumber(const std::string& text, size_t& at) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
  if (error != std::errc()) return std::nullopt;
  at = static_cast<size_t>(end - text.data());
  return value;
}

bool IsValueAt(const hlo::Linear& line, int64_t extent, int64_t number) {
  if (extent == hlo::kExtent) return hlo::IsMeaningful(number) && line == hlo::TakeApart(number);
  return line.At(extent) == number;
}

// Lines of HLO text, of which numbers may differ. Constants are compared by their values.
bool SameLines(const std::string& general, int64_t extent,
               const std::array<const std::string*, kSamples>& samples) {
  size_t at = 0;
  std::array<size_t, kSamples> places{};
  while (at < general.size()) {
    if (!IsDigit(general[at])) {
      for (size_t i = 0; i < kSamples; ++i)
        if (places[i] >= samples[i]->size() || (*samples[i])[places[i]++] != general[at])
          return false;
      ++at;
      continue;
    }
    const auto number = TakeNumber(general, at);
    if (!number) return false;
    std::array<int64_t, kSamples> values{};
    for (size_t i = 0; i < kSamples; ++i) {
      if (places[i] >= samples[i]->size() || !IsDigit((*samples[i])[places[i]])) return false;
      const auto value = TakeNumber(*samples[i], places[i]);
      if (!value) return false;
      values[i] = *value;
    }
    const auto line = LineThrough(values);
    if (!line || !IsValueAt(*line, extent, *number)) return false;
  }
  for (size_t i = 0; i < kSamples; ++i)
    if (places[i] != samples[i]->size()) return false;
  return true;
}

std::vector<std::string> LinesOf(const hlo::Module& module) {
  std::vector<std::string> lines{""};
  for (const char c : module.ToText(false)) {
    if (c == '\n')
      lines.emplace_back();
    else
      lines.back() += c;
  }
  return lines;
}

Status Differs(std::string_view what) {
  return Unimplemented("no plan for all lengths: ", what, " depends on the length in another way");
}

// Value of a scalar constant as an integer; nullopt if it is none.
std::optional<int64_t> IntegerOf(const hlo::Literal& literal) {
  if (IsInteger(literal.shape().dtype)) return literal.AsInt64();
  if (!IsFloating(literal.shape().dtype)) return std::nullopt;
  const double value = literal.AsDouble();
  if (value != std::floor(value) || std::fabs(value) > 1e9) return std::nullopt;
  return static_cast<int64_t>(value);
}

}  // namespace

uint64_t StructureHash(std::span<const uint64_t> key, std::span<const KeyField> fields) {
  uint64_t hash = 0x9E3779B97F4A7C15u ^ key.size();
  size_t next = 0;
  for (size_t i = 0; i < key.size(); ++i) {
    const bool field = next < fields.size() && fields[next].word == i;
    if (field) ++next;
    hash = (hash ^ (field ? 0 : key[i])) * 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::optional<ExtentKey> FitExtent(std::span<const uint64_t> before, std::span<const uint64_t> now,
                                   std::span<const KeyField> fields) {
  if (before.size() != now.size()) return std::nullopt;
  std::vector<const KeyField*> differing;
  size_t next = 0;
  for (size_t i = 0; i < now.size(); ++i) {
    const bool field = next < fields.size() && fields[next].word == i;
    if (before[i] != now[i]) {
      if (!field) return std::nullopt;
      differing.push_back(&fields[next]);
    }
    if (field) ++next;
  }
  const auto leads = [&](const KeyField& lead) -> std::optional<ExtentKey> {
    const auto x0 = static_cast<int64_t>(before[lead.word]);
    const auto x1 = static_cast<int64_t>(now[lead.word]);
    ExtentKey out;
    for (const KeyField* field : differing) {
      const auto line = Line(x0, static_cast<int64_t>(before[field->word]), x1,
                             static_cast<int64_t>(now[field->word]));
      // No size shrinks while another one grows, and none is much beside a multiple of it.
      constexpr int64_t kMostBeside = 1 << 20;
      if (!line || line->coefficient < 1 || line->constant < -kMostBeside ||
          line->constant > kMostBeside)
        return std::nullopt;
      if (field == &lead) out.leading = out.words.size();
      out.words.emplace_back(field->word, *line);
    }
    return out;
  };
  for (const auto kind : {KeyField::Kind::kSize, KeyField::Kind::kInteger})
    for (const KeyField* field : differing)
      if (field->kind == kind)
        if (std::optional<ExtentKey> key = leads(*field)) return key;
  return std::nullopt;
}

std::optional<int64_t> MatchExtent(std::span<const uint64_t> pattern, const ExtentKey& extent,
                                   std::span<const uint64_t> key) {
  if (key.size() != pattern.size()) return std::nullopt;
  const auto value = static_cast<int64_t>(key[extent.words[extent.leading].first]);
  if (value < 2 || value > hlo::kMostExtent) return std::nullopt;
  size_t from = 0;
  for (const auto& [word, line] : extent.words) {
    if (!std::equal(pattern.begin() + static_cast<int64_t>(from),
                    pattern.begin() + static_cast<int64_t>(word),
                    key.begin() + static_cast<int64_t>(from)))
      return std::nullopt;
    const int64_t expected = line.At(value);
    if (expected < 2 || static_cast<int64_t>(key[word]) != expected) return std::nullopt;
    from = word + 1;
  }
  if (!std::equal(pattern.begin() + static_cast<int64_t>(from), pattern.end(),
                  key.begin() + static_cast<int64_t>(from)))
    return std::nullopt;
  return value;
}

StatusOr<std::vector<ExtentConstant>> CompareModules(const hlo::Module& general, int64_t extent,
                                                     std::span<const hlo::Module> samples) {
  NEURON_CHECK(samples.size() == kSamples, "one module per sample");
  const std::vector<std::string> lines = LinesOf(general);
  std::array<std::vector<std::string>, kSamples> sample_lines;
  for (size_t i = 0; i < kSamples; ++i) {
    sample_lines[i] = LinesOf(samples[i]);
    if (sample_lines[i].size() != lines.size()) return Differs("the number of instructions");
  }
  for (size_t n = 0; n < lines.size(); ++n) {
    const std::string& line = lines[n];
    if (line.find(" constant(") != std::string::npos) continue;
    std::array<const std::string*, kSamples> others;
    for (size_t i = 0; i < kSamples; ++i) others[i] = &sample_lines[i][n];
    if (!SameLines(line, extent, others)) return Differs(line);
  }
  std::vector<ExtentConstant> constants;
  for (size_t c = 0; c < general.computations().size(); ++c) {
    const hlo::Computation& computation = *general.computations()[c];
    for (size_t n = 0; n < computation.instructions().size(); ++n) {
      const hlo::Instruction& x = *computation.instructions()[n];
      if (x.opcode() != hlo::Opcode::kConstant) continue;
      std::array<const hlo::Literal*, kSamples> literals;
      bool same = true;
      for (size_t i = 0; i < kSamples; ++i) {
        literals[i] = &samples[i].computations()[c]->instructions()[n]->attributes().literal;
        same = same && *literals[i] == *literals[0];
      }
      if (same) {
        if (x.attributes().literal == *literals[0]) continue;
        return Differs(x.name());
      }
      if (!x.shape().is_scalar() || &computation != general.entry()) return Differs(x.name());
      std::array<int64_t, kSamples> values{};
      for (size_t i = 0; i < kSamples; ++i) {
        const auto value = IntegerOf(*literals[i]);
        if (!value) return Differs(x.name());
        values[i] = *value;
      }
      const auto line = LineThrough(values);
      if (!line) return Differs(x.name());
      constants.push_back({n, x.shape().dtype, *line});
    }
  }
  return constants;
}

void ReplaceConstants(hlo::Module& module, std::span<const ExtentConstant> constants,
                      int64_t first_parameter) {
  hlo::Computation& entry = *module.entry();
  std::vector<hlo::Instruction*> replaced;
  for (const ExtentConstant& constant : constants)
    replaced.push_back(entry.instructions()[constant.instruction].get());
  for (hlo::Instruction* constant : replaced) {
    hlo::Attributes attributes;
    attributes.parameter_number = first_parameter++;
    entry.ReplaceAllUses(
        constant, entry.Add(hlo::Opcode::kParameter, constant->shape(), {}, std::move(attributes)));
  }
  if (constants.empty()) return;
  entry.RemoveDead();
  entry.SortTopologically();
}

}  // namespace neuron::pytorch
