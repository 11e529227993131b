#include "emulator/core_lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace neuron::emulator {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostText = 200;

fs::path DirectoryOf(const std::string& machine) {
  std::error_code error;
  fs::path base = fs::temp_directory_path(error);
  if (error) base = "/tmp";
  return base / StrCat("torchneuron-machines-", getuid()) / machine;
}

fs::path FileOf(const std::string& machine, int core) {
  return DirectoryOf(machine) / StrCat("core", core);
}

// "process 812 (python train.py)", of this process.
std::string Self() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string command{std::istreambuf_iterator<char>(file), {}};
  while (!command.empty() && command.back() == '\0') command.pop_back();
  for (char& c : command)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  if (command.size() > kMostText) command = command.substr(0, kMostText) + "...";
  return StrCat("process ", getpid(), " (", command, ")");
}

std::string TextOf(int file) {
  char text[2 * kMostText] = {};
  const ssize_t read = pread(file, text, sizeof text - 1, 0);
  return std::string(text, static_cast<size_t>(std::max<ssize_t>(read, 0)));
}

}  // namespace

bool CoreLease::IsName(const std::string& machine) {
  return !machine.empty() && machine.size() <= 64 && machine.front() != '.' &&
         std::all_of(machine.begin(), machine.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
         });
}

StatusOr<std::unique_ptr<CoreLease>> CoreLease::Take(const std::string& machine, int core) {
  const fs::path path = FileOf(machine, core);
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  const int file = error ? -1 : open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0)
    return FailedPrecondition("machine '", machine, "' keeps its cores in ", path.string(), ": ",
                              error ? error.message() : std::strerror(errno),
                              "; set TMPDIR to a directory that can be written");
  std::unique_ptr<CoreLease> lease(new CoreLease(file));
  if (flock(file, LOCK_EX | LOCK_NB) != 0) {
    const std::string holder = TextOf(file);
    return Unavailable("logical core ", core, " of machine '", machine, "' is held by ",
                       holder.empty() ? "another process" : holder,
                       "; choose other cores by NEURON_RT_VISIBLE_CORES or NEURON_RT_NUM_CORES, or "
                       "another TORCHNEURON_MACHINE");
  }
  const std::string self = Self();
  if (ftruncate(file, 0) != 0 || pwrite(file, self.data(), self.size(), 0) < 0)
    return FailedPrecondition(path.string(), ": ", std::strerror(errno));
  return lease;
}

std::string CoreLease::HolderOf(const std::string& machine, int core) {
  const int file = open(FileOf(machine, core).c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return "";
  const bool free = flock(file, LOCK_SH | LOCK_NB) == 0;
  std::string holder = free ? "" : TextOf(file);
  close(file);
  return holder;
}

CoreLease::~CoreLease() { close(file_); }

}  // namespace neuron::emulator
