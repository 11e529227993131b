// Finds an NRT library, loads it, resolves each symbol by itself.
//
// Which library: TORCHNEURON_NRT_LIBRARY if set; else libnrt.so.1 where a /dev/neuron0 exists; else
// libnrt_emulator.so.1 beside the library this code is in ($ORIGIN, $ORIGIN/lib, $ORIGIN/../lib),
// then by the dynamic loader's own path. Loaded once per process and never unloaded; opened
// RTLD_LOCAL, so that it cannot clash with another NRT in the process.
//
//   const StatusOr<const Library*>& nrt = nrt::GetLibrary();
//   (*nrt)->nrt_tensor_allocate(...);
//   if ((*nrt)->nrt_tensor_copy != nullptr) ...   // optional: null if the library lacks it
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "nrt/functions.h"
#include "nrt/nrt_abi.h"
#include "nrt/nrt_emulator_abi.h"

namespace neuron::nrt {

struct Library {
#define NEURON_NRT_POINTER(name) decltype(&::name) name = nullptr;
  NEURON_NRT_MANDATORY(NEURON_NRT_POINTER)
  NEURON_NRT_OPTIONAL(NEURON_NRT_POINTER)
  NEURON_NRT_BEYOND(NEURON_NRT_POINTER)
#undef NEURON_NRT_POINTER

  std::string path;    // of the file that was loaded
  std::string chosen;  // why this one: "TORCHNEURON_NRT_LIBRARY", "/dev/neuron0 exists", ...
  nrt_version_t version{};
  uint64_t capabilities = 0;  // NRT_EMULATOR_*; 0 for a plain NRT

  bool emulated() const { return nrt_emulator_capabilities != nullptr; }
  bool host_addressable_hbm() const { return capabilities & NRT_EMULATOR_HOST_ADDRESSABLE_HBM; }
  bool device_time() const {
    return (capabilities & NRT_EMULATOR_DEVICE_TIME) && nrt_emulator_device_time_ps != nullptr &&
           nrt_emulator_last_duration_ps != nullptr;
  }
  // nrt::ToStatus with the library's own sentence behind it, where it has one: ask right after the
  // call, on the same thread.
  Status Check(NRT_STATUS status, std::string_view call) const {
    return status == NRT_SUCCESS ? OkStatus() : Explain(status, call);
  }
  Status Explain(NRT_STATUS status, std::string_view call) const;
  std::string VersionText() const;  // "2.30.50.0 (emulator)"
};

// The process's library; the first call loads it. Failure names what was tried and is remembered.
const StatusOr<const Library*>& GetLibrary();

// What is tried, in order, on a machine with a Neuron device or without, if nothing is named.
struct Candidate {
  std::string path;  // a bare name is searched by the dynamic loader
  std::string reason;
};
std::vector<Candidate> Candidates(bool device);
// The first that can be loaded. Failure names what was tried.
StatusOr<Library> LoadFirst(const std::vector<Candidate>& candidates);

// Loads one given file, for tests of a particular library. The handle is never closed.
StatusOr<Library> LoadLibrary(const std::string& path);

}  // namespace neuron::nrt
