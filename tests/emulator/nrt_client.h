// A client of the emulator that knows the NRT ABI only: it opens the library by name at run time.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "isa/program.h"
#include "nrt/nrt_abi.h"
#include "nrt/nrt_emulator_abi.h"

namespace neuron::emulator {

class NrtClient {
 public:
  static NrtClient& Get() {
    static NrtClient client;
    return client;
  }

#define NEURON_CLIENT_SYMBOL(name) decltype(&::name) name = Symbol<decltype(&::name)>(#name);
  NEURON_CLIENT_SYMBOL(nrt_init)
  NEURON_CLIENT_SYMBOL(nrt_close)
  NEURON_CLIENT_SYMBOL(nrt_load)
  NEURON_CLIENT_SYMBOL(nrt_unload)
  NEURON_CLIENT_SYMBOL(nrt_execute)
  NEURON_CLIENT_SYMBOL(nrt_allocate_tensor_set)
  NEURON_CLIENT_SYMBOL(nrt_destroy_tensor_set)
  NEURON_CLIENT_SYMBOL(nrt_add_tensor_to_tensor_set)
  NEURON_CLIENT_SYMBOL(nrt_get_tensor_from_tensor_set)
  NEURON_CLIENT_SYMBOL(nrt_tensor_allocate)
  NEURON_CLIENT_SYMBOL(nrt_tensor_free)
  NEURON_CLIENT_SYMBOL(nrt_tensor_read)
  NEURON_CLIENT_SYMBOL(nrt_tensor_write)
  NEURON_CLIENT_SYMBOL(nrt_tensor_get_size)
  NEURON_CLIENT_SYMBOL(nrt_tensor_get_va)
  NEURON_CLIENT_SYMBOL(nrt_tensor_allocate_slice)
  NEURON_CLIENT_SYMBOL(nrt_tensor_copy)
  NEURON_CLIENT_SYMBOL(nrt_tensor_memset)
  NEURON_CLIENT_SYMBOL(nrt_get_total_nc_count)
  NEURON_CLIENT_SYMBOL(nrt_get_visible_nc_count)
  NEURON_CLIENT_SYMBOL(nrt_get_version)
  NEURON_CLIENT_SYMBOL(nrt_get_vnc_memory_stats)
  NEURON_CLIENT_SYMBOL(nrt_get_model_tensor_info)
  NEURON_CLIENT_SYMBOL(nrt_free_model_tensor_info)
  NEURON_CLIENT_SYMBOL(nrt_emulator_capabilities)
  NEURON_CLIENT_SYMBOL(nrt_emulator_trace)
  NEURON_CLIENT_SYMBOL(nrt_emulator_set_num_threads)
  NEURON_CLIENT_SYMBOL(nrt_emulator_core_holder)
  NEURON_CLIENT_SYMBOL(nrt_emulator_last_error)
  NEURON_CLIENT_SYMBOL(nrt_emulator_counters)
  NEURON_CLIENT_SYMBOL(nrt_emulator_reset_counters)
  NEURON_CLIENT_SYMBOL(nrt_emulator_device_time_ps)
  NEURON_CLIENT_SYMBOL(nrt_emulator_last_duration_ps)
#undef NEURON_CLIENT_SYMBOL

 private:
  template <typename T>
  T Symbol(const char* name) {
    static void* const library = [] {
      const char* path = std::getenv("TORCHNEURON_NRT_LIBRARY");
      void* opened = dlopen(path != nullptr ? path : "libnrt_emulator.so.1", RTLD_NOW | RTLD_LOCAL);
      if (opened == nullptr) ADD_FAILURE() << dlerror();
      return opened;
    }();
    return reinterpret_cast<T>(dlsym(library, name));
  }
};

// A loaded program with tensors for its inputs and outputs.
class RunningProgram {
 public:
  explicit RunningProgram(const isa::Program& program) : nrt_(NrtClient::Get()) {
    EXPECT_EQ(nrt_.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS)
        << nrt_.nrt_emulator_last_error();
    const std::string container = isa::Encode(program);
    load_status = nrt_.nrt_load(container.data(), container.size(), 0, 1, &model);
    EXPECT_EQ(nrt_.nrt_allocate_tensor_set(&in), NRT_SUCCESS);
    EXPECT_EQ(nrt_.nrt_allocate_tensor_set(&out), NRT_SUCCESS);
  }
  ~RunningProgram() {
    nrt_.nrt_destroy_tensor_set(&in);
    nrt_.nrt_destroy_tensor_set(&out);
    for (nrt_tensor_t* tensor : owned_) nrt_.nrt_tensor_free(&tensor);
    if (model != nullptr) nrt_.nrt_unload(model);
  }

  template <typename T>
  void Input(const std::string& name, const std::vector<T>& values) {
    nrt_tensor_t* tensor = Add(name, values.size() * sizeof(T));
    EXPECT_EQ(nrt_.nrt_tensor_write(tensor, values.data(), 0, values.size() * sizeof(T)),
              NRT_SUCCESS);
    nrt_.nrt_add_tensor_to_tensor_set(in, name.c_str(), tensor);
  }
  void Output(const std::string& name, size_t bytes) {
    nrt_.nrt_add_tensor_to_tensor_set(out, name.c_str(), Add(name, bytes));
  }
  NRT_STATUS Execute() { return nrt_.nrt_execute(model, in, out); }
  std::string error() const { return nrt_.nrt_emulator_last_error(); }

  template <typename T>
  std::vector<T> Read(const std::string& name) {
    nrt_tensor_t* tensor = tensors.at(name);
    std::vector<T> values(nrt_.nrt_tensor_get_size(tensor) / sizeof(T));
    EXPECT_EQ(nrt_.nrt_tensor_read(tensor, values.data(), 0, values.size() * sizeof(T)),
              NRT_SUCCESS);
    return values;
  }

  NRT_STATUS load_status = NRT_SUCCESS;
  nrt_model_t* model = nullptr;
  nrt_tensor_set_t* in = nullptr;
  nrt_tensor_set_t* out = nullptr;
  std::map<std::string, nrt_tensor_t*> tensors;

 private:
  nrt_tensor_t* Add(const std::string& name, size_t bytes) {
    nrt_tensor_t* tensor = nullptr;
    EXPECT_EQ(
        nrt_.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, bytes, name.c_str(), &tensor),
        NRT_SUCCESS);
    owned_.push_back(tensor);
    return tensors[name] = tensor;
  }
  NrtClient& nrt_;
  std::vector<nrt_tensor_t*> owned_;  // `tensors` and what they replaced
};

}  // namespace neuron::emulator
