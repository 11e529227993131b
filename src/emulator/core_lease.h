// Which process uses a core of a named machine.
//
// Processes that name the same machine (TORCHNEURON_MACHINE) share its cores, as on a chip: a core
// belongs to the process that used it first, until that ends. A lease is a locked file of a
// directory per user and machine, so that whatever ends the process gives it back.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace neuron::emulator {

class CoreLease {
 public:
  // Logical core `core` for this process, until destruction. Unavailable, with who holds it, if
  // another one does.
  static StatusOr<std::unique_ptr<CoreLease>> Take(const std::string& machine, int core);
  // "process 812 (python train.py)"; "" if nobody holds the core.
  static std::string HolderOf(const std::string& machine, int core);
  // Whether the text may name a machine: it becomes a directory's name.
  static bool IsName(const std::string& machine);

  ~CoreLease();
  CoreLease(const CoreLease&) = delete;
  CoreLease& operator=(const CoreLease&) = delete;

 private:
  explicit CoreLease(int file) : file_(file) {}
  const int file_;
};

}  // namespace neuron::emulator
