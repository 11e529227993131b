#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/mx.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kGroupRows = 8;

// The scale byte of values whose largest magnitude has these fp32 bits.
uint8_t ScaleByte(uint32_t largest, int max_exponent) {
  if (largest >= 0x7f800000u) return kMxNaN;
  const float a = std::bit_cast<float>(largest);
  if (a == 0) return 0;
  return static_cast<uint8_t>(std::max(0, std::ilogb(a) - (max_exponent - 1) + 127));
}

Status Execute(const Operation& operation, Execution& execution) {
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const auto& [dst, src, scales] = tiles.tile;
  const DType packed = dst.shape->dtype;
  const DType element = MxElement(packed);
  std::vector<uint32_t> rows[kGroupRows];
  for (int64_t first = 0; first < src.rows(); first += kGroupRows) {
    for (int64_t r = 0; r < kGroupRows; ++r)
      ReadWholeRow(Kernels(), Domain::kFloat, src, first + r, &rows[r]);
    for (int64_t column = 0; column < dst.elements(); ++column) {
      uint32_t largest = 0;
      for (const auto& row : rows)
        for (int lane = 0; lane < 4; ++lane)
          largest = std::max(largest, row[4 * column + lane] & 0x7fffffffu);
      const uint8_t byte = ScaleByte(largest, MxMaxExponent(packed));
      const float scale = MxScale(byte);
      ScatterRow(*scales.shape, scales.row(MxScaleRow(first)), column, 1, &byte);
      for (int64_t r = 0; r < kGroupRows; ++r) {
        uint32_t word = 0;
        for (int lane = 0; lane < 4; ++lane) {
          const float x = std::bit_cast<float>(rows[r][4 * column + lane]) / scale;
          word |= uint32_t{FloatToFloat8(element, x)} << (8 * lane);
        }
        ScatterRow(*dst.shape, dst.row(first + r), column, 1, &word);
      }
    }
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  input.AddTile(op, "dst");
  input.AddTile(op, "src");
  input.AddTile(op, "dst_scale");
  op->execute = Execute;
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_quantize_mx;
const InstructionSemantics kSemantics_quantize_mx{Decode};

}  // namespace neuron::emulator
