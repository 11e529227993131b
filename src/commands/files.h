// Whole files as strings.
#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace neuron::commands {

StatusOr<std::string> ReadFile(const std::string& path);
// Under a temporary name first, so that a failed write leaves no half of a program.
Status WriteFile(const std::string& path, std::string_view contents);

}  // namespace neuron::commands
