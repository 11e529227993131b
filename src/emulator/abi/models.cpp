// nrt_load, nrt_execute and what a model tells about itself.
#include "emulator/abi/models.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>

#include "base/environment.h"
#include "emulator/abi/fault.h"
#include "emulator/abi/objects.h"
#include "emulator/abi/profile.h"
#include "emulator/abi/storage_epoch.h"
#include "isa/core_programs.h"

namespace neuron::emulator::abi {

Outcome RequireModel(const nrt_model_t* model) {
  if (model == nullptr || model->magic != kModelMagic)
    return InvalidHandle("no model is loaded at ", static_cast<const void*>(model),
                         "; was it unloaded before?");
  return {};
}

Outcome CoreOfModel(const nrt_model_t* model, int* vnc) {
  NEURON_ABI_RETURN_IF_ERROR(RequireModel(model));
  *vnc = model->core->vnc();
  return {};
}

namespace {

// The container's own checks name the cause; the ABI knows one status for "not mine".
NRT_STATUS LoadStatus(const Status& status) {
  switch (status.code()) {
    case StatusCode::kUnimplemented:
    case StatusCode::kFailedPrecondition:
      return NRT_UNSUPPORTED_NEFF_VERSION;
    case StatusCode::kResourceExhausted:
      return NRT_RESOURCE;
    default:
      return NRT_INVALID;
  }
}

Outcome Load(const void* neff, size_t size, int32_t vnc, nrt_model_t** out) {
  if (neff == nullptr || out == nullptr) return InvalidArgument("neff or model is null");
  auto model = std::make_unique<nrt_model>();
  NEURON_ABI_RETURN_IF_ERROR(RequireMachine(&model->machine));
  NEURON_ASSIGN_OR_RETURN(model->core, model->machine->core(vnc < 0 ? 0 : vnc));
  StatusOr<std::vector<isa::Program>> programs =
      isa::DecodeCores(std::string_view(static_cast<const char*>(neff), size));
  if (!programs.ok()) return {LoadStatus(programs.status()), programs.status()};
  StatusOr<std::unique_ptr<CorePrograms>> loaded =
      CorePrograms::Load(std::move(*programs), *model->core);
  if (!loaded.ok()) return {LoadStatus(loaded.status()), loaded.status()};
  model->programs = std::move(*loaded);
  *out = model.release();
  return {};
}

Outcome BindOne(const isa::TensorDecl& decl, const TensorSet& inputs, const TensorSet& outputs,
                nrt_model_t* model, BoundTensor* bound) {
  const bool reads = decl.kind == isa::TensorKind::kInput ||
                     decl.kind == isa::TensorKind::kScalars || decl.kind == isa::TensorKind::kInOut;
  const bool writes = decl.kind == isa::TensorKind::kOutput || decl.kind == isa::TensorKind::kInOut;
  if (!reads && !writes) return {};
  nrt_tensor_t* in = reads ? inputs.Find(decl.name) : nullptr;
  nrt_tensor_t* out = writes ? outputs.Find(decl.name) : nullptr;
  if (in != nullptr && out != nullptr && in->data() != out->data())
    return InvalidArgument("tensor '", decl.name,
                           "' is updated in place, but the sets bind two different tensors to it");
  nrt_tensor_t* tensor = in != nullptr ? in : out;
  if (tensor == nullptr)
    return InvalidArgument("the ", writes ? "output" : "input", " set has no tensor '", decl.name,
                           "'");
  NEURON_ABI_RETURN_IF_ERROR(RequireTensor(tensor));
  if (tensor->data() == nullptr) return InvalidArgument("tensor '", decl.name, "' has no storage");
  if (tensor->storage->core != nullptr && tensor->storage->core != model->core)
    return InvalidArgument("tensor '", decl.name, "' is in the HBM of core ",
                           tensor->storage->core->vnc(), ", the model runs on core ",
                           model->core->vnc());
  if (decl.byte_offset == isa::kNoRegister && tensor->bytes < decl.bytes)
    return InvalidArgument("tensor '", decl.name, "' has ", tensor->bytes,
                           " bytes, the program needs ", decl.bytes);
  *bound = {tensor->data(), tensor->bytes, 0};
  if (writes) model->written.push_back(tensor);
  return {};
}

Outcome Bind(nrt_model_t* model, const nrt_tensor_set_t* input_set,
             const nrt_tensor_set_t* output_set) {
  static const TensorSet kEmpty;
  const TensorSet* inputs = &kEmpty;
  const TensorSet* outputs = &kEmpty;
  if (input_set != nullptr) NEURON_ABI_RETURN_IF_ERROR(RequireSet(input_set, &inputs));
  if (output_set != nullptr) NEURON_ABI_RETURN_IF_ERROR(RequireSet(output_set, &outputs));
  const uint64_t epoch = StorageEpoch().load(std::memory_order_relaxed);
  if (!model->bound.empty() && model->input_version == inputs->version &&
      model->output_version == outputs->version && model->storage_epoch == epoch)
    return {};
  model->bound.assign(model->programs->size(), {});
  model->written.clear();
  for (size_t core = 0; core < model->bound.size(); ++core) {
    const auto& decls = model->programs->program(core).tensors;
    model->bound[core].resize(decls.size());
    for (size_t t = 0; t < decls.size(); ++t) {
      const Outcome outcome = BindOne(decls[t], *inputs, *outputs, model, &model->bound[core][t]);
      if (outcome.code == NRT_SUCCESS) continue;
      model->bound.clear();
      return outcome;
    }
  }
  model->input_version = inputs->version;
  model->output_version = outputs->version;
  model->storage_epoch = epoch;
  return {};
}

}  // namespace

Outcome ExecuteModel(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                     nrt_tensor_set_t* output_set) {
  NEURON_ABI_RETURN_IF_ERROR(RequireModel(model));
  static const int64_t delay_us = ReadInteger(Variable::kLaunchDelay).value_or(0);
  if (delay_us > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
  if (const NRT_STATUS fault = FaultOfExecution(); fault != NRT_SUCCESS) [[unlikely]]
    return {fault, Internal("TORCHNEURON_FAIL_EXECUTION asks for it")};
  const std::lock_guard lock(model->core->mutex);
  if (const Outcome outcome = Bind(model, input_set, output_set); outcome.code != NRT_SUCCESS)
    return {outcome.code == NRT_INVALID ? NRT_EXEC_BAD_INPUT : outcome.code, outcome.status};
  const Status status = model->programs->Execute(model->bound, &model->core->counters);
  for (nrt_tensor_t* tensor : model->written)
    tensor->completions.fetch_add(1, std::memory_order_release);
  if (status.ok()) [[likely]]
    return {};
  const Status named =
      status.WithPrefix(StrCat("program ", model->programs->program(0).name, ": "));
  if (status.code() == StatusCode::kOutOfRange) return {NRT_EXEC_OOB, named};
  if (status.code() == StatusCode::kInvalidArgument) return {NRT_EXEC_BAD_INPUT, named};
  return named;
}

}  // namespace neuron::emulator::abi

namespace abi = neuron::emulator::abi;
using neuron::InvalidArgument;
using neuron::isa::TensorKind;

extern "C" {

NRT_STATUS nrt_load(const void* neff, size_t size, int32_t vnc, int32_t, nrt_model_t** model) {
  return abi::Call("nrt_load", [&] { return abi::Load(neff, size, vnc, model); });
}

NRT_STATUS nrt_unload(nrt_model_t* model) {
  return abi::Call("nrt_unload", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireModel(model));
    abi::ForgetProfile(model);
    const std::shared_ptr<neuron::emulator::Machine> machine = model->machine;  // outlives the lock
    const std::lock_guard lock(model->core->mutex);  // an execution may be at its end
    model->magic = 0;
    delete model;
    return {};
  });
}

NRT_STATUS nrt_execute(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                       nrt_tensor_set_t* output_set) {
  return abi::Call("nrt_execute", [&] { return abi::ExecuteModel(model, input_set, output_set); });
}

NRT_STATUS nrt_execute_repeat(nrt_model_t* model, const nrt_tensor_set_t* input_set,
                              nrt_tensor_set_t* output_set, int repeat_count) {
  return abi::Call("nrt_execute_repeat", [&]() -> abi::Outcome {
    for (int i = 0; i < repeat_count; ++i)
      NEURON_ABI_RETURN_IF_ERROR(abi::ExecuteModel(model, input_set, output_set));
    return {};
  });
}

NRT_STATUS nrt_get_model_nc_count(const nrt_model_t* model, uint32_t* count) {
  return abi::Call("nrt_get_model_nc_count", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireModel(model));
    if (count == nullptr) return InvalidArgument("count is null");
    *count = static_cast<uint32_t>(model->programs->size());
    return {};
  });
}

NRT_STATUS nrt_get_model_vnc_count(const nrt_model_t* model, uint32_t* count) {
  return abi::Call("nrt_get_model_vnc_count", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireModel(model));
    if (count == nullptr) return InvalidArgument("count is null");
    *count = 1;
    return {};
  });
}

NRT_STATUS nrt_get_model_instance_count(nrt_model_t* model, uint32_t* count) {
  return nrt_get_model_vnc_count(model, count);
}

NRT_STATUS nrt_get_model_info(const nrt_model_t* model, nrt_model_info_t* info, size_t size_in,
                              size_t* size_out) {
  return abi::Call("nrt_get_model_info", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireModel(model));
    if (info == nullptr) return InvalidArgument("info is null");
    const nrt_model_info_t full{static_cast<uint32_t>(model->core->vnc())};
    const size_t size = size_in < sizeof full ? size_in : sizeof full;
    std::memcpy(info, &full, size);
    if (size_out != nullptr) *size_out = size;
    return {};
  });
}

NRT_STATUS nrt_get_model_tensor_info(nrt_model_t* model, nrt_tensor_info_array_t** info) {
  return abi::Call("nrt_get_model_tensor_info", [&]() -> abi::Outcome {
    NEURON_ABI_RETURN_IF_ERROR(abi::RequireModel(model));
    if (info == nullptr) return InvalidArgument("info is null");
    // What the second core binds has the same names.
    const auto& decls = model->programs->program(0).tensors;
    // An in-out tensor is listed twice: as an input and as an output.
    const size_t room =
        sizeof(nrt_tensor_info_array_t) + 2 * decls.size() * sizeof(nrt_tensor_info_t);
    auto* array = static_cast<nrt_tensor_info_array_t*>(std::calloc(1, room));
    if (array == nullptr) throw std::bad_alloc();
    const auto add = [&](const neuron::isa::TensorDecl& decl, nrt_tensor_usage_t usage) {
      nrt_tensor_info_t& entry = array->tensor_array[array->tensor_count++];
      std::strncpy(entry.name, decl.name.c_str(), NRT_TENSOR_NAME_MAX - 1);
      entry.usage = usage;
      entry.size = static_cast<size_t>(decl.bytes);
      entry.dtype = NRT_DTYPE_UINT8;
      entry.ndim = 1;
      entry.shape = static_cast<uint32_t*>(std::malloc(sizeof(uint32_t)));
      if (entry.shape != nullptr) *entry.shape = static_cast<uint32_t>(decl.bytes);
    };
    for (const auto& decl : decls) {
      if (decl.kind == TensorKind::kInput || decl.kind == TensorKind::kScalars ||
          decl.kind == TensorKind::kInOut)
        add(decl, NRT_TENSOR_USAGE_INPUT);
      if (decl.kind == TensorKind::kOutput || decl.kind == TensorKind::kInOut)
        add(decl, NRT_TENSOR_USAGE_OUTPUT);
    }
    *info = array;
    return {};
  });
}

NRT_STATUS nrt_free_model_tensor_info(nrt_tensor_info_array_t* info) {
  return abi::Call("nrt_free_model_tensor_info", [&]() -> abi::Outcome {
    if (info == nullptr) return InvalidArgument("info is null");
    for (uint64_t i = 0; i < info->tensor_count; ++i) std::free(info->tensor_array[i].shape);
    std::free(info);
    return {};
  });
}

}  // extern "C"
