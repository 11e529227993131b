// Loops whose body is the same instructions twice, with tiles on chip that take turns.
//
// A compiler writes them so that the DMA of one tile overlaps the work on the other. For the bytes
// it makes no difference: where nothing stays on chip, such a loop is one of half the body and
// twice the iterations.
#pragma once

#include <cstdint>
#include <vector>

#include "isa/program.h"

namespace neuron::emulator {

struct Step;

// The first instruction of the second copy in the loop that begins at `begin`; 0 if there is none.
uint32_t SecondCopy(const isa::Program& program, const std::vector<Step>& steps, uint32_t begin);

}  // namespace neuron::emulator
