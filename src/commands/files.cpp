#include "commands/files.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace neuron::commands {

StatusOr<std::string> ReadFile(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return InvalidArgument(path, " is a directory");
  std::ifstream file(path, std::ios::binary);
  if (!file) return NotFound("cannot read ", path, ": ", std::strerror(errno));
  std::ostringstream contents;
  contents << file.rdbuf();
  return std::move(contents).str();
}

Status WriteFile(const std::string& path, std::string_view contents) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::binary);
  file.write(contents.data(), static_cast<std::streamsize>(contents.size()));
  file.close();
  if (!file || std::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = std::strerror(errno);
    std::remove(temporary.c_str());
    return Unavailable("cannot write ", path, ": ", reason);
  }
  return OkStatus();
}

}  // namespace neuron::commands
