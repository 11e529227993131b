// Time of one instruction by itself, from its row's cost formula and the generation's parameters.
//
// An instruction occupies its engine for BusyNs; what it wrote is there ArrivalNs later. A consumer
// on another engine waits for both, plus the semaphore. Overlap, queues and contention are the
// scoreboard's business, not this file's.
#pragma once

#include "isa/instruction.h"

namespace neuron::isa {

// Cycles of `cost` are at this clock. DMA queues are clocked in nanoseconds (1 GHz).
double ClockHz(Engine engine, Target target);

double BusyNs(const CostInput& input);
double ArrivalNs(Engine engine, Target target);

// BusyNs with every count at its maximum: what listings show.
double StaticBusyNs(const Instruction& instruction, Target target);

}  // namespace neuron::isa
