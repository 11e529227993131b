// Which opcodes are collectives.
#pragma once

#include "hlo/opcode.h"

namespace neuron::hlo {

// Sends along source and target pairs; the others have replica groups.
bool IsCollectivePermute(Opcode opcode);
// Those that carry groups or pairs: not the `-done` of a pair, which names its `-start`.
bool IsCollective(Opcode opcode);

}  // namespace neuron::hlo
