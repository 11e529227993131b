#include "nki/executable.h"

#include <vector>

namespace neuron::nki {
namespace {

// Device tensors and the two sets that name them, freed together.
class Arguments {
 public:
  Arguments(const nrt::Library& nrt, int core) : nrt_(nrt), core_(core) {}
  ~Arguments() {
    if (inputs_ != nullptr) nrt_.nrt_destroy_tensor_set(&inputs_);
    if (outputs_ != nullptr) nrt_.nrt_destroy_tensor_set(&outputs_);
    for (nrt_tensor_t*& tensor : tensors_) nrt_.nrt_tensor_free(&tensor);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

  Status Upload(std::span<const Binding> bindings) {
    NEURON_RETURN_IF_ERROR(
        nrt_.Check(nrt_.nrt_allocate_tensor_set(&inputs_), "nrt_allocate_tensor_set"));
    NEURON_RETURN_IF_ERROR(
        nrt_.Check(nrt_.nrt_allocate_tensor_set(&outputs_), "nrt_allocate_tensor_set"));
    for (const Binding& binding : bindings) {
      nrt_tensor_t* tensor = nullptr;
      NEURON_RETURN_IF_ERROR(
          nrt_.Check(nrt_.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, core_, binding.bytes,
                                              binding.name.c_str(), &tensor),
                     "nrt_tensor_allocate"));
      tensors_.push_back(tensor);
      if (binding.input) {
        NEURON_RETURN_IF_ERROR(nrt_.Check(
            nrt_.nrt_tensor_write(tensor, binding.data, 0, binding.bytes), "nrt_tensor_write"));
        NEURON_RETURN_IF_ERROR(
            nrt_.Check(nrt_.nrt_add_tensor_to_tensor_set(inputs_, binding.name.c_str(), tensor),
                       "nrt_add_tensor_to_tensor_set"));
      }
      if (binding.output)
        NEURON_RETURN_IF_ERROR(
            nrt_.Check(nrt_.nrt_add_tensor_to_tensor_set(outputs_, binding.name.c_str(), tensor),
                       "nrt_add_tensor_to_tensor_set"));
    }
    return OkStatus();
  }

  Status Execute(nrt_model_t* model) {
    return nrt_.Check(nrt_.nrt_execute(model, inputs_, outputs_), "nrt_execute");
  }

  Status Download(std::span<const Binding> bindings) {
    for (size_t i = 0; i < bindings.size(); ++i)
      if (bindings[i].output)
        NEURON_RETURN_IF_ERROR(
            nrt_.Check(nrt_.nrt_tensor_read(tensors_[i], bindings[i].data, 0, bindings[i].bytes),
                       "nrt_tensor_read"));
    return OkStatus();
  }

 private:
  const nrt::Library& nrt_;
  const int core_;
  nrt_tensor_set_t* inputs_ = nullptr;
  nrt_tensor_set_t* outputs_ = nullptr;
  std::vector<nrt_tensor_t*> tensors_;
};

}  // namespace

StatusOr<std::unique_ptr<Executable>> Executable::Load(std::span<const isa::Program> programs,
                                                       int core) {
  const StatusOr<const nrt::Library*>& library = nrt::GetLibrary();
  if (!library.ok()) return library.status();
  const nrt::Library& nrt = **library;
  NEURON_RETURN_IF_ERROR(nrt.Check(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), "nrt_init"));
  const std::string container = isa::EncodeCores(programs);
  nrt_model_t* model = nullptr;
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_load(container.data(), container.size(), core, 1, &model), "nrt_load"));
  return std::unique_ptr<Executable>(new Executable(nrt, model, core));
}

Executable::~Executable() { nrt_.nrt_unload(model_); }

StatusOr<int64_t> Executable::Run(std::span<const Binding> bindings) {
  Arguments arguments(nrt_, core_);
  NEURON_RETURN_IF_ERROR(arguments.Upload(bindings));
  NEURON_RETURN_IF_ERROR(arguments.Execute(model_));
  NEURON_RETURN_IF_ERROR(arguments.Download(bindings));
  if (!nrt_.device_time()) return int64_t{-1};
  return static_cast<int64_t>(nrt_.nrt_emulator_last_duration_ps(model_));
}

int64_t Executable::DurationPs() const {
  if (!nrt_.device_time()) return 0;
  return static_cast<int64_t>(nrt_.nrt_emulator_last_duration_ps(model_));
}

std::string Executable::TraceJson() const {
  if (nrt_.nrt_emulator_trace == nullptr) return "";
  const char* const json = nrt_.nrt_emulator_trace(model_);
  return json != nullptr ? json : "";
}

}  // namespace neuron::nki
