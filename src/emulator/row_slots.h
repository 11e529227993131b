// Values of a straight line of row steps: dropping unused ones, sharing scratch between the others.
#pragma once

#include <vector>

#include "emulator/row_steps.h"

namespace neuron::emulator {

// Removes steps whose value (ids below `num_values`) nobody uses, then renames values so that
// those whose lives do not overlap share a scratch row. Returns how many rows are needed.
int ShareSlots(std::vector<RowStep>* steps, int num_values);

}  // namespace neuron::emulator
