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

// The hardware queue that a task occupies while it runs: a core computes one program at a time and
// has two DMA queues of its own, one that writes HBM and one that reads it for the host.
enum class Lane : uint8_t { kCompute, kWrite, kRead, kNone };
inline constexpr int kNumLanes = 3;

inline Lane LaneOf(const Task& task) {
  if (std::holds_alternative<Launch>(task)) return Lane::kCompute;
  if (const auto* copy = std::get_if<CopyTask>(&task))
    return copy->kind == CopyTask::Kind::kToHost ? Lane::kRead : Lane::kWrite;
  return Lane::kNone;
}

}  // namespace neuron::runtime
