// What stands in a stream: launches, copies, and points of events.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "runtime/event.h"
#include "runtime/runtime.h"

namespace neuron::runtime {

struct CopyTask {
  enum class Kind : uint8_t { kToDevice, kToHost, kOnDevice, kFill };
  Kind kind = Kind::kToDevice;
  uint8_t byte = 0;  // kFill
  void* to = nullptr;
  const void* from = nullptr;
  int64_t bytes = 0;
  std::string staged;  // kToDevice: the data itself if not empty
};
struct RecordTask {
  std::shared_ptr<Event> event;
};
struct WaitTask {
  std::shared_ptr<Event> event;
};
// monostate: nothing, what a moved-from place in a queue holds.
using Task = std::variant<std::monostate, Launch, CopyTask, RecordTask, WaitTask>;

}  // namespace neuron::runtime
