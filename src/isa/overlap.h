// How the bytes of two operands of one instruction lie to each other.
#pragma once

#include "isa/access_pattern.h"

namespace neuron::isa {

enum class Overlap {
  kNone,     // no byte in common
  kSame,     // the same elements in the same order, as one dtype: in place
  kPartial,  // anything else that shares a byte
  kUnknown,  // run-time offsets or counts that differ
};

// At maximal counts. HBM tensors are compared within one tensor only: what memory an argument lies
// in is known when a program runs.
Overlap OverlapOf(const AccessPattern& a, const AccessPattern& b);

}  // namespace neuron::isa
