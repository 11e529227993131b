// CanonicalBuilder: the instructions of a canonical module (canonicalise.h), equal ones once.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "hlo/module.h"

namespace neuron::compiler {

// True if `x` has a buffer of its own: it is no argument, number, view or element of a tuple.
bool OwnsBuffer(const hlo::Instruction& x);

class CanonicalBuilder {
 public:
  explicit CanonicalBuilder(hlo::Computation& entry) : entry_(entry) {}
  hlo::Computation& entry() { return entry_; }

  // Of what is added from here on; the string must outlive that.
  void SetMetadata(const std::string& metadata) { metadata_ = &metadata; }

  // Adds an instruction, or finds an equal one.
  hlo::Instruction* Emit(hlo::Opcode opcode, const hlo::Shape& shape,
                         std::vector<hlo::Instruction*> operands, hlo::Attributes attributes = {},
                         std::vector<hlo::Computation*> called = {});
  hlo::Instruction* Zeros(const hlo::Shape& shape);
  // The operand for a kernel that reads buffers: a copy if it is a view of an iota, which has none.
  hlo::Instruction* Placed(hlo::Instruction* operand);

 private:
  hlo::Computation& entry_;
  const std::string* metadata_ = nullptr;
  std::unordered_map<size_t, std::vector<hlo::Instruction*>> added_;  // by hash
};

}  // namespace neuron::compiler
