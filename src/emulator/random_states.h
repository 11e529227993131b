// The states of the random generators as a tile: row p holds those of lane p.
#pragma once

#include <string_view>

#include "emulator/decoder.h"

namespace neuron::emulator {

enum class StateTransfer : uint8_t { kToTile, kFromTile };

// Of the generators of the instruction's engine, to or from the tile `operand`.
Status DecodeRandomStates(const DecodeInput& input, Operation* op, std::string_view operand,
                          StateTransfer transfer);

}  // namespace neuron::emulator
