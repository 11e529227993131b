// Inside of the protobuf reader: messages without references to other instructions.
#pragma once

#include <string_view>

#include "hlo/module.h"
#include "hlo/wire.h"

namespace neuron::hlo {

// Layouts are advice except where bytes meet the outside: `order`, if given, gets the dimensions
// from the outermost in memory to the innermost, nothing for row major.
StatusOr<Shape> ReadShape(std::string_view bytes, std::vector<int64_t>* order = nullptr,
                          int depth = 0);
StatusOr<Literal> ReadLiteral(std::string_view bytes);

// An instruction as it is written, its references still numbers.
struct InstructionRecord {
  std::string name;
  std::string opcode;
  Shape shape;
  std::string metadata;
  Attributes attributes;
  int64_t id = 0;
  std::vector<int64_t> operand_ids, called_ids;
};
StatusOr<InstructionRecord> ReadInstruction(std::string_view bytes);

}  // namespace neuron::hlo
