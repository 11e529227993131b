// Files that the build put at a known place relative to the test program: no absolute path is
// compiled in, so that a build tree may move.
#pragma once

#include <filesystem>
#include <string>

namespace neuron {

inline std::string Beside(const char* relative) {
  return std::filesystem::canonical("/proc/self/exe").parent_path() / relative;
}

}  // namespace neuron
