// nrt_profile_start, nrt_profile_stop: the modelled time line of a model's last execution as a
// file.
//
// AWS's library writes NTFF, whose format is not public. Ours is JSON: {"format":
// "torchneuron-profile", "version": 1, "is_simulation": true, "duration_ps", "events": [...]}, the
// events those of nrt_emulator_trace.
#include "emulator/abi/profile.h"

#include <cstdio>
#include <map>
#include <mutex>
#include <string>

#include "emulator/abi/models.h"

namespace neuron::emulator::abi {
namespace {

struct State {
  std::mutex mutex;
  std::map<std::string, nrt_model_t*> running;  // by file
};
State& GlobalState() {
  static State* const state = new State;
  return *state;
}

Outcome Start(nrt_model_t* model, const char* file) {
  NEURON_ABI_RETURN_IF_ERROR(RequireModel(model));
  if (file == nullptr || *file == '\0') return InvalidArgument("the file has no name");
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  for (const auto& [other, profiled] : state.running)
    if (profiled == model || other == file)
      return InvalidArgument("a profile into '", other, "' was started before; stop it first");
  std::FILE* const opened = std::fopen(file, "w");  // truncates
  if (opened == nullptr) return {NRT_FAILURE, FailedPrecondition("'", file, "' cannot be written")};
  std::fclose(opened);
  state.running[file] = model;
  return {};
}

Outcome Stop(const char* file) {
  if (file == nullptr) return InvalidArgument("the file has no name");
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  const auto found = state.running.find(file);
  if (found == state.running.end())
    return InvalidArgument("no profile into '", file, "' was started");
  nrt_model_t* const model = found->second;
  state.running.erase(found);
  std::string events;
  int64_t duration_ps = 0;
  {
    const std::lock_guard running(model->core->mutex);
    constexpr size_t kMaxEvents = 1'000'000;
    duration_ps = model->programs->last_duration_ps();
    events = model->programs->TraceJson(kMaxEvents);
  }
  std::FILE* const opened = std::fopen(file, "w");
  const std::string text = StrCat(
      "{\"format\": \"torchneuron-profile\", \"version\": 1, \"is_simulation\": true, "
      "\"duration_ps\": ",
      duration_ps, ", \"events\": ", events, "}\n");
  bool written =
      opened != nullptr && std::fwrite(text.data(), 1, text.size(), opened) == text.size();
  if (opened != nullptr) written = std::fclose(opened) == 0 && written;
  if (!written) return {NRT_FAILURE, FailedPrecondition("'", file, "' cannot be written")};
  return {};
}

}  // namespace

void ForgetProfile(const nrt_model_t* model) {
  State& state = GlobalState();
  const std::lock_guard lock(state.mutex);
  std::erase_if(state.running, [&](const auto& entry) { return entry.second == model; });
}

}  // namespace neuron::emulator::abi

namespace abi = neuron::emulator::abi;

extern "C" {

NRT_STATUS nrt_profile_start(nrt_model_t* model, const char* file) {
  return abi::Call("nrt_profile_start", [&] { return abi::Start(model, file); });
}

NRT_STATUS nrt_profile_stop(const char* file) {
  return abi::Call("nrt_profile_stop", [&] { return abi::Stop(file); });
}

}  // extern "C"
