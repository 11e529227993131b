// Inside of the protobuf reader: messages without references to other instructions.
#pragma once

#include <string_view>

#include "hlo/module.h"
#include "hlo/wire.h"

namespace neuron::hlo {

// Layouts are advice except where bytes meet the outside: there they must be row major.
enum class Layout : uint8_t { kIgnored, kRowMajor };
StatusOr<Shape> ReadShape(std::string_view bytes, Layout layout = Layout::kIgnored, int depth = 0);
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
