// Records what each launch did on the modelled time line, between Start and Stop.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace neuron::pytorch {

struct RecordedLaunch {
  int device = 0;
  std::string op;
  int64_t start_ps = 0;  // on the device's virtual clock
  int64_t duration_ps = 0;
  std::string events;  // JSON, runtime::Executable::TimelineJson
};

// One recording at a time in a process; a second Start begins anew.
void StartTimeline();
std::vector<RecordedLaunch> StopTimeline();

}  // namespace neuron::pytorch
