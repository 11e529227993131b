#include "base/unknown_variables.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <numeric>
#include <utility>

#include "base/environment.h"

namespace neuron {
namespace {

constexpr std::string_view kPrefix = "TORCHNEURON_";

// Insertions, deletions and substitutions between the two.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({substituted, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::string_view Nearest(std::string_view name) {
  std::string_view nearest;
  for (const VariableRow& row : Variables())
    if (row.name.starts_with(kPrefix) &&
        (nearest.empty() || Edits(name, row.name) < Edits(name, nearest)))
      nearest = row.name;
  return nearest;
}

}  // namespace

std::vector<UnknownVariable> UnknownVariables() {
  std::vector<UnknownVariable> unknown;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    if (!name.starts_with(kPrefix)) continue;
    if (std::ranges::none_of(Variables(), [&](const VariableRow& row) { return row.name == name; }))
      unknown.push_back({std::string(name), Nearest(name)});
  }
  return unknown;
}

void ReportUnknownVariables() {
  static std::once_flag once;
  std::call_once(once, [] {
    for (const UnknownVariable& variable : UnknownVariables())
      std::fprintf(stderr,
                   "torchneuron: %s is no variable that torchneuron knows and has no effect; the "
                   "nearest is %s (docs/reference/environment.md lists all)\n",
                   variable.name.c_str(), std::string(variable.nearest).c_str());
  });
}

}  // namespace neuron
