// Runs one command to its end.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/status.h"

namespace neuron::runtime {

struct CommandResult {
  int exit_status = 0;  // 128 + signal if it was killed
  std::string output;   // stdout and stderr, interleaved
};
// arguments[0] is looked up on PATH. NotFound if it cannot be started. `directory` is where it
// runs.
StatusOr<CommandResult> RunCommand(const std::vector<std::string>& arguments,
                                   const std::filesystem::path& directory);

// A new private directory, removed with what it contains when destroyed.
class TemporaryDirectory {
 public:
  static StatusOr<TemporaryDirectory> Make();
  TemporaryDirectory(TemporaryDirectory&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryDirectory& operator=(TemporaryDirectory&&) = delete;
  ~TemporaryDirectory();
  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryDirectory(std::filesystem::path path) : path_(std::move(path)) {}
  std::filesystem::path path_;
};

}  // namespace neuron::runtime
