// Hazards between engines that no semaphore orders.
//
// A program whose instructions carry semaphores is taken to place all that it needs: engines run on
// their own, each in program order, DMA transfers in no order at all, and only waits tie them
// together. Two accesses to the same bytes by different engines, one of them a write, must then be
// ordered by a chain of updates and waits. (A program without semaphores has its hazards resolved
// by the scoreboard, which stands for a compiler's last pass.)
//
// A wait is satisfied by increments; which ones is certain only where the count could not be
// reached without them. An update may be negative: a consumer takes back what it waited for, so
// that a pair of instructions can use one semaphore in every pass of a loop.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "isa/program.h"

namespace neuron::emulator {

bool HasSemaphores(const isa::Program& program);

// FailedPrecondition that names both instructions and the bytes, at the first hazard found. Walks
// the program with these registers, at most three passes of each loop and kHazardEvents
// instructions in all.
inline constexpr size_t kHazardEvents = 4096;
Status CheckHazards(const isa::Program& program, const int64_t* registers);

}  // namespace neuron::emulator
