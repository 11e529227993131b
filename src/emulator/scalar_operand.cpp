#include "emulator/scalar_operand.h"

#include <bit>
#include <cstring>

#include "emulator/row_io.h"

namespace neuron::emulator {

ScalarOperand ScalarOperand::Decode(const DecodeInput& input, Operation* op, std::string_view name,
                                    double otherwise) {
  ScalarOperand operand;
  operand.kernels_ = &input.kernels;
  operand.tile_ = input.AddTile(op, name);
  operand.number_ = static_cast<float>(input.in.Number(name, otherwise));
  if (const auto* reg = std::get_if<isa::RegisterOperand>(&input.in[name]))
    operand.register_ = reg->reg;
  return operand;
}

float ScalarOperand::At(const Tile* tiles, int64_t row, const int64_t* registers) const {
  if (tile_ >= 0) {
    float value = 0;
    const Tile& tile = tiles[tile_];
    std::memcpy(&value,
                ReadRow(*kernels_, Domain::kFloat, *tile.shape, tile.row(row), 0, 1, &value), 4);
    return value;
  }
  if (register_ != isa::kNoRegister)
    return std::bit_cast<float>(static_cast<uint32_t>(registers[register_]));
  return number_;
}

}  // namespace neuron::emulator
