// Environment variables that begin with TORCHNEURON_ and that nothing reads: a misspelt name would
// otherwise have no effect and say nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace neuron {

struct UnknownVariable {
  std::string name;
  std::string_view nearest;  // the known name it is closest to, in single-letter edits
};
std::vector<UnknownVariable> UnknownVariables();

// Names them on stderr; the first call of a process only.
void ReportUnknownVariables();

}  // namespace neuron
