#include "hlo/collective.h"

namespace neuron::hlo {

bool IsCollectivePermute(Opcode opcode) {
  return opcode == Opcode::kCollectivePermute || opcode == Opcode::kCollectivePermuteStart;
}

bool IsCollective(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kReduceScatter:
      return true;
    default:
      return IsCollectivePermute(opcode);
  }
}

}  // namespace neuron::hlo
