// The device part of runtime.h.
#include <string>

#include "nrt/loader.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

const DeviceProperties& Properties(int device) {
  const StatusOr<Device*> found = GetDevice(device);
  if (found.ok()) return (*found)->properties();
  static const auto& nothing = *new DeviceProperties;
  return nothing;
}

double ModelledDeviceSeconds(int device) {
  const Device* found = FindDevice(device);
  return found ? static_cast<double>(found->ComputedPs()) * 1e-12 : 0;
}

std::string Describe() {
  const auto& library = nrt::GetLibrary();
  if (!library.ok()) return StrCat("No NRT library: ", library.status().message());
  const nrt::Library& nrt = **library;
  std::string text =
      StrCat("NRT ", nrt.VersionText(), " from ", nrt.path, " (", nrt.chosen, "); ",
             nrt.emulated() ? "the device is emulated" : "the device is real hardware", ". ");
  if (const Status status = Initialize(); !status.ok())
    return text + StrCat("It cannot be used: ", status.message());
  const DeviceProperties& first = Properties(0);
  return text + StrCat(DeviceCount(), " device(s) ", first.name, " with ", first.logical_nc_config,
                       " physical core(s) each and ", first.total_memory >> 20, " MiB of HBM, ",
                       first.host_addressable ? "" : "not ", "addressable by the host.");
}

}  // namespace neuron::runtime
