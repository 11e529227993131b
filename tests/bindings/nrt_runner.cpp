#include "nrt_runner.h"

#include <algorithm>

namespace neuron::testing {

StatusOr<std::unique_ptr<NrtProgram>> NrtProgram::Load(const std::string& container,
                                                       const compiler::Signature& signature) {
  const StatusOr<const nrt::Library*>& library = nrt::GetLibrary();
  NEURON_RETURN_IF_ERROR(library.status());
  const nrt::Library& nrt = **library;
  static const NRT_STATUS initialised = nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  NEURON_RETURN_IF_ERROR(nrt.Check(initialised, "nrt_init"));
  std::unique_ptr<NrtProgram> p(new NrtProgram(nrt, signature));
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_load(container.data(), container.size(), 0, 1, &p->model_), "nrt_load"));
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_allocate_tensor_set(&p->inputs_), "nrt_allocate_tensor_set"));
  NEURON_RETURN_IF_ERROR(
      nrt.Check(nrt.nrt_allocate_tensor_set(&p->outputs_), "nrt_allocate_tensor_set"));
  const auto add = [&](const std::string& name, int64_t bytes, bool in, bool out) -> Status {
    nrt_tensor_t* tensor = nullptr;
    NEURON_RETURN_IF_ERROR(
        nrt.Check(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0,
                                          static_cast<size_t>(std::max<int64_t>(bytes, 1)),
                                          name.c_str(), &tensor),
                  "nrt_tensor_allocate"));
    p->tensors_.push_back(tensor);
    if (in)
      NEURON_RETURN_IF_ERROR(
          nrt.Check(nrt.nrt_add_tensor_to_tensor_set(p->inputs_, name.c_str(), tensor),
                    "nrt_add_tensor_to_tensor_set"));
    if (out)
      NEURON_RETURN_IF_ERROR(
          nrt.Check(nrt.nrt_add_tensor_to_tensor_set(p->outputs_, name.c_str(), tensor),
                    "nrt_add_tensor_to_tensor_set"));
    return OkStatus();
  };
  for (const compiler::Signature::Buffer& b : signature.buffers)
    NEURON_RETURN_IF_ERROR(add(b.name, b.bytes, b.parameter >= 0, b.output >= 0));
  NEURON_RETURN_IF_ERROR(add("scalars", 8 * signature.num_slots, true, false));
  return p;
}

NrtProgram::~NrtProgram() {
  if (inputs_ != nullptr) nrt_.nrt_destroy_tensor_set(&inputs_);
  if (outputs_ != nullptr) nrt_.nrt_destroy_tensor_set(&outputs_);
  for (nrt_tensor_t*& t : tensors_) nrt_.nrt_tensor_free(&t);
  if (model_ != nullptr) (void)nrt_.nrt_unload(model_);
}

Status NrtProgram::Run(std::vector<std::string>& buffers, const std::vector<int64_t>& scalars) {
  if (buffers.size() != signature_.buffers.size())
    return InvalidArgument("run: ", buffers.size(), " buffers, the program has ",
                           signature_.buffers.size());
  std::vector<int64_t> slots(static_cast<size_t>(signature_.num_slots), 0);
  std::copy(scalars.begin(), scalars.end(), slots.begin() + signature_.first_scalar_slot);
  if (!slots.empty())
    NEURON_RETURN_IF_ERROR(
        nrt_.Check(nrt_.nrt_tensor_write(tensors_.back(), slots.data(), 0, 8 * slots.size()),
                   "nrt_tensor_write"));
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (static_cast<int64_t>(buffers[i].size()) != signature_.buffers[i].bytes)
      return InvalidArgument("run: ", signature_.buffers[i].name, " has ", buffers[i].size(),
                             " bytes, expected ", signature_.buffers[i].bytes);
    if (buffers[i].empty()) continue;
    NEURON_RETURN_IF_ERROR(
        nrt_.Check(nrt_.nrt_tensor_write(tensors_[i], buffers[i].data(), 0, buffers[i].size()),
                   "nrt_tensor_write"));
  }
  NEURON_RETURN_IF_ERROR(Repeat(1));
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].empty()) continue;
    NEURON_RETURN_IF_ERROR(
        nrt_.Check(nrt_.nrt_tensor_read(tensors_[i], buffers[i].data(), 0, buffers[i].size()),
                   "nrt_tensor_read"));
  }
  return OkStatus();
}

Status NrtProgram::Repeat(int n) {
  for (int i = 0; i < n; ++i)
    NEURON_RETURN_IF_ERROR(nrt_.Check(nrt_.nrt_execute(model_, inputs_, outputs_), "nrt_execute"));
  return OkStatus();
}

int64_t NrtProgram::duration_ps() const {
  if (!nrt_.device_time()) return 0;
  return static_cast<int64_t>(nrt_.nrt_emulator_last_duration_ps(model_));
}

}  // namespace neuron::testing
