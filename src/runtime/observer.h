// The launch observer: set by profilers, called on the thread that ran the launch.
#pragma once

#include <cstdint>

#include "runtime/runtime.h"

namespace neuron::runtime {

bool HasLaunchObserver();  // one relaxed load: the cost of having none
void NotifyLaunchObserver(int device, const char* op, const Executable& executable,
                          int64_t start_ps, int64_t duration_ps);

}  // namespace neuron::runtime
