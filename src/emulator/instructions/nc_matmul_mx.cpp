#include <algorithm>
#include <memory>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/mx.h"
#include "emulator/row_io.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kPanel = 512;  // columns of the moving operand taken at once

struct Matmul : Operation::Payload {
  const KernelTable* kernels = nullptr;
  bool accumulate = false;
};

// Columns [first, first + n) of lane `lane`, multiplied by their scales: [rows, n] dense fp32.
void Unpack(const Tile& data, const Tile& scales, int lane, int64_t first, int64_t n, float* out) {
  std::vector<uint32_t> words(static_cast<size_t>(n));
  std::vector<uint16_t> halves(static_cast<size_t>(n));
  std::vector<uint8_t> bytes(static_cast<size_t>(n));
  const DType packed = data.shape->dtype;
  for (int64_t row = 0; row < data.rows(); ++row, out += n) {
    if (data.shape->element_bytes == 2) {
      GatherRow(*data.shape, data.row(row), first, n, halves.data());
      std::copy(halves.begin(), halves.end(), words.begin());
    } else {
      GatherRow(*data.shape, data.row(row), first, n, words.data());
    }
    GatherRow(*scales.shape, scales.row(MxScaleRow(row)), first, n, bytes.data());
    for (int64_t i = 0; i < n; ++i) out[i] = MxValue(packed, words[i], lane) * MxScale(bytes[i]);
  }
}

Status Execute(const Operation& operation, Execution& execution) {
  const auto& matmul = operation.as<Matmul>();
  ResolvedTiles<5> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const auto& [dst, stationary, moving, stationary_scale, moving_scale] = tiles.tile;
  const int64_t k = stationary.rows();
  const int64_t m = stationary.elements();
  execution.counters->tensor_multiplies += 4 * k * m * moving.elements();
  std::vector<float> a(static_cast<size_t>(4 * k * m));
  for (int lane = 0; lane < 4; ++lane)
    Unpack(stationary, stationary_scale, lane, 0, m, &a[lane * k * m]);
  std::vector<float> b(static_cast<size_t>(k * kPanel));
  std::vector<float> sum(static_cast<size_t>(m * kPanel));
  const auto scratch = std::make_unique<char[]>(kMatmulScratchBytes);
  std::vector<uint32_t> old(kPanel);
  for (int64_t first = 0; first < moving.elements(); first += kPanel) {
    const int64_t n = std::min(kPanel, moving.elements() - first);
    if (matmul.accumulate)
      for (int64_t row = 0; row < m; ++row) {
        const void* values = ReadRow(*matmul.kernels, Domain::kFloat, *dst.shape, dst.row(row),
                                     first, n, old.data());
        std::copy_n(static_cast<const float*>(values), n, &sum[row * n]);
      }
    for (int lane = 0; lane < 4; ++lane) {
      Unpack(moving, moving_scale, lane, first, n, b.data());
      matmul.kernels->matmul_f32(sum.data(), n * 4, &a[lane * k * m], m * 4, b.data(), n * 4, k, m,
                                 n, matmul.accumulate || lane > 0, scratch.get());
    }
    for (int64_t row = 0; row < m; ++row)
      WriteRow(*matmul.kernels, Domain::kFloat, *dst.shape, dst.row(row), first, n, &sum[row * n]);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto matmul = std::make_unique<Matmul>();
  matmul->kernels = &input.kernels;
  matmul->accumulate = input.in.Flag("accumulate");
  for (const char* name : {"dst", "stationary", "moving", "stationary_scale", "moving_scale"})
    input.AddTile(op, name);
  op->execute = Execute;
  op->payload = std::move(matmul);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_nc_matmul_mx;
const InstructionSemantics kSemantics_nc_matmul_mx{Decode};

}  // namespace neuron::emulator
