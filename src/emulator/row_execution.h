// Running row programs. Thread safe; each host thread has scratch of its own.
#pragma once

#include "emulator/row_steps.h"

namespace neuron::emulator {

// Rows [first, last) of a program without reductions, on tiles that are resolved already.
void RunRowRange(const RowProgram& program, const Tile* tiles, const int64_t* registers,
                 int64_t first, int64_t last);
// All rows, shared between host threads where there is enough to do.
void RunRows(const RowProgram& program, const Tile* tiles, const int64_t* registers);

// Operations whose payload is a row program: without and with reductions of their rows.
Status ExecuteRows(const Operation& operation, Execution& execution);
Status ExecuteReducingRows(const Operation& operation, Execution& execution);
bool IsRowProgram(const Operation& operation);

}  // namespace neuron::emulator
