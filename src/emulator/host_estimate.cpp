#include "emulator/host_estimate.h"

#include "emulator/matmul_chain.h"
#include "emulator/row_execution.h"
#include "emulator/row_steps.h"

namespace neuron::emulator {
namespace {

constexpr double kCallNs = 50;
constexpr double kNsPerByte = 0.1;  // of what is copied or transposed

}  // namespace

double HostNs(const Operation& op) {
  if (op.opcode == isa::Opcode::nc_matmul && IsMatmul(op)) return kCallNs + MatmulNs(op);
  if (op.tiles.empty()) return kCallNs;
  const TileShape& shape = op.tiles[0].shape;
  const auto elements = static_cast<double>(shape.rows * shape.elements);
  if (IsRowProgram(op)) return kCallNs + elements * op.as<RowProgram>().ns_per_element;
  return kCallNs + elements * shape.element_bytes * kNsPerByte;
}

}  // namespace neuron::emulator
