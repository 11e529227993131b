// Command lines: options as "--name value" or "--name=value", switches, and files.
//
//   constexpr OptionRow kOptions[] = {{"output", 'o', true, "file.neff", "Where the program
//   goes."}}; StatusOr<Arguments> arguments = Arguments::Parse(kOptions, words);
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace neuron::commands {

struct OptionRow {
  std::string_view name;   // without dashes
  std::string_view other;  // another spelling, "" for none
  bool takes_value = true;
  std::string_view fallback;  // "" where there is none
  std::string_view meaning;
};

class Arguments {
 public:
  // InvalidArgument names the word and, for a misspelt option, the nearest one.
  static StatusOr<Arguments> Parse(std::span<const OptionRow> rows,
                                   std::span<const std::string> words);
  bool given(std::string_view name) const { return values_.count(std::string(name)) > 0; }
  std::string value(std::string_view name) const;  // or the row's fallback
  const std::vector<std::string>& files() const { return files_; }

 private:
  std::span<const OptionRow> rows_;
  std::map<std::string, std::string> values_;
  std::vector<std::string> files_;
};

std::string HelpText(std::span<const OptionRow> rows);

}  // namespace neuron::commands
