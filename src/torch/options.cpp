#include "torch/options.h"

#include "base/environment.h"
#include "torch/device.h"

namespace neuron::pytorch {

compiler::Options CompilerOptions(int device) {
  EnsureInitialized();
  const runtime::DeviceProperties& properties = runtime::Properties(device);
  compiler::Options options;
  options.target = properties.name == "trn3" ? isa::Target::kTrn3 : isa::Target::kTrn2;
  options.lnc = properties.logical_nc_config;
  static const std::string dump = Read(Variable::kDumpDirectory).value_or("");
  options.dump_directory = dump;
  return options;
}

}  // namespace neuron::pytorch
