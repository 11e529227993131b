// What the runtime's tests share: the recording NRT library as the machine, programs for it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "beside.h"
#include "runtime/loaded_executable.h"
#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

// Before anything asks for the library: whatever the environment names, these tests use ours.
inline const bool kUsesRecordingLibrary = [] {
  setenv("TORCHNEURON_NRT_LIBRARY", Beside(RECORDING_NRT).c_str(), 1);
  return true;
}();

template <typename Function>
Function* Recording(const char* name) {
  static void* handle = dlopen(Beside(RECORDING_NRT).c_str(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function*>(dlsym(handle, name));
}
inline void ClearCalls() { Recording<void()>("recording_nrt_clear")(); }
inline std::string Calls() { return Recording<const char*()>("recording_nrt_calls")(); }
inline int CountCalls(const std::string& prefix) {
  const std::string calls = "\n" + Calls();
  int count = 0;
  for (size_t at = 0; (at = calls.find("\n" + prefix, at)) != std::string::npos; ++at) ++count;
  return count;
}

// A program of the recording library. Buffers in order get slots 0, 1, ...; then `scalars` slots.
struct TestBuffer {
  std::string name;
  int64_t bytes;
};
inline std::shared_ptr<LoadedExecutable> MakeExecutable(int device,
                                                        const std::vector<TestBuffer>& buffers,
                                                        int scalars, const std::string& body) {
  compiler::Signature signature;
  std::string text = "recording\n";
  for (const TestBuffer& buffer : buffers) {
    const auto slot = static_cast<int64_t>(signature.buffers.size());
    const bool output = buffer.name.starts_with("output");
    signature.buffers.push_back({.name = buffer.name,
                                 .bytes = buffer.bytes,
                                 .parameter = output ? -1 : slot,
                                 .output = output ? 0 : -1,
                                 .offset_slot = slot});
    text += StrCat("tensor ", buffer.name, " ", buffer.bytes, " ", slot, "\n");
  }
  signature.first_scalar_slot = static_cast<int64_t>(buffers.size());
  signature.num_slots = signature.first_scalar_slot + scalars;
  for (int i = 0; i < scalars; ++i) signature.scalar_parameters.push_back(i);
  StatusOr<Device*> found = GetDevice(device);
  EXPECT_TRUE(found.ok()) << found.status().ToString();
  auto loaded = LoadedExecutable::Load(**found, text + body, signature);
  EXPECT_TRUE(loaded.ok()) << loaded.status().ToString();
  return *loaded;
}

// At the end of every test: the runtime has kept to the documented order of calls.
class KeepsToTheDocumentedOrder : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo&) override {
    EXPECT_STREQ(Recording<const char*()>("recording_nrt_violations")(), "");
  }
};
inline const bool kListens = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new KeepsToTheDocumentedOrder);
  return true;
}();

inline void* MustAllocate(int device, int64_t bytes, StreamId stream = 0) {
  StatusOr<void*> pointer = Allocate(device, bytes, stream);
  EXPECT_TRUE(pointer.ok()) << pointer.status().ToString();
  return *pointer;
}
inline void MustBeOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.ToString(); }

}  // namespace neuron::runtime
