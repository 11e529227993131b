#include "commands/arguments.h"

#include <algorithm>
#include <numeric>

namespace neuron::commands {
namespace {

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row.back();
}

const OptionRow* Find(std::span<const OptionRow> rows, std::string_view name) {
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const OptionRow& candidate) {
    return candidate.name == name || (!candidate.other.empty() && candidate.other == name);
  });
  return row == rows.end() ? nullptr : &*row;
}

Status Unknown(std::span<const OptionRow> rows, std::string_view word, std::string_view name) {
  const auto nearest =
      std::min_element(rows.begin(), rows.end(), [&](const OptionRow& a, const OptionRow& b) {
        return EditDistance(a.name, name) < EditDistance(b.name, name);
      });
  const bool near = nearest != rows.end() && EditDistance(nearest->name, name) <= 3;
  return InvalidArgument("unknown option '", word, "'",
                         near ? StrCat("; did you mean --", nearest->name, "?") : "",
                         " (--help lists them)");
}

}  // namespace

StatusOr<Arguments> Arguments::Parse(std::span<const OptionRow> rows,
                                     std::span<const std::string> words) {
  Arguments arguments;
  arguments.rows_ = rows;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (word.size() < 2 || word[0] != '-') {
      arguments.files_.push_back(word);
      continue;
    }
    std::string_view name = std::string_view(word).substr(word.starts_with("--") ? 2 : 1);
    const size_t equals = name.find('=');
    const bool attached = equals != std::string_view::npos;
    const std::string_view attachment = attached ? name.substr(equals + 1) : "";
    name = name.substr(0, equals);
    const OptionRow* row = Find(rows, name);
    // "-O2": one letter and its value in one word.
    if (row == nullptr && !word.starts_with("--") && !attached && name.size() > 1) {
      row = Find(rows, name.substr(0, 1));
      if (row != nullptr && row->takes_value) {
        arguments.values_[std::string(row->name)] = name.substr(1);
        continue;
      }
    }
    if (row == nullptr) return Unknown(rows, word, name);
    if (!row->takes_value) {
      if (attached) return InvalidArgument("option '--", name, "' takes no value");
      arguments.values_[std::string(row->name)] = "1";
    } else if (attached) {
      arguments.values_[std::string(row->name)] = attachment;
    } else if (i + 1 < words.size()) {
      arguments.values_[std::string(row->name)] = words[++i];
    } else {
      return InvalidArgument("option '", word, "' needs a value");
    }
  }
  return arguments;
}

std::string Arguments::value(std::string_view name) const {
  const auto found = values_.find(std::string(name));
  if (found != values_.end()) return found->second;
  const OptionRow* row = Find(rows_, name);
  return row ? std::string(row->fallback) : std::string();
}

std::string HelpText(std::span<const OptionRow> rows) {
  std::string text;
  for (const OptionRow& row : rows) {
    std::string left = StrCat("  --", row.name, row.takes_value ? " <value>" : "");
    if (!row.other.empty()) left += StrCat(", ", row.other.size() == 1 ? "-" : "--", row.other);
    left.resize(std::max<size_t>(left.size() + 2, 40), ' ');
    text += StrCat(left, row.meaning,
                   row.fallback.empty() ? "" : StrCat(" Default: ", row.fallback, "."), "\n");
  }
  return text;
}

}  // namespace neuron::commands
