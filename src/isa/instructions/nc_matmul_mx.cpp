#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_matmul_mx_operands;

constexpr DTypeMask kPacked = Mask({DType::kF8E5M2X4, DType::kF8E4M3FNX4, DType::kF4E2M1FNX4});

constexpr OperandDef kOperands[] = {
    Out("dst", kPsum, Mask({DType::kF32, DType::kBF16}), "[M, N]"),
    In("stationary", kSbuf, kPacked, "[K, M], K a multiple of 32, M even and at most 128"),
    In("moving", kSbuf, kPacked, "[K, N], N at most 4096, 8192 with a bf16 dst"),
    ScaleRows(In("stationary_scale", kSbuf, kScales, "as dst_scale of quantize_mx")),
    ScaleRows(In("moving_scale", kSbuf, kScales, "as dst_scale of quantize_mx")),
    Value("accumulate", OperandKind::kFlag, "0 overwrites dst, 1 adds to it"),
    Optional(Value("tile_position", OperandKind::kIntegers, "(row, 0) of the array's tile")),
    Optional(Value("tile_size", OperandKind::kIntegers, "(rows, 128): 32, 64 or 128 rows")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target target) {
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "nc_matmul_mx.contraction", {kStationary, kMoving}));
  NEURON_RETURN_IF_ERROR(
      CheckPartitionGrain(instruction, "nc_matmul_mx.contraction", kStationary, 32));
  const int64_t m = ElementsOf(instruction, kStationary);
  const int64_t n = ElementsOf(instruction, kMoving);
  NEURON_RETURN_IF_ERROR(
      CheckRange("nc_matmul_mx.stationary", "stationary's free size M", m, 2, kPartitions));
  if (m % 2 != 0)
    return InvalidArgument("nc_matmul_mx.stationary: M is ", m, ", expected an even number");
  const bool narrow = TileAt(instruction, kDst).dtype == DType::kBF16;
  NEURON_RETURN_IF_ERROR(CheckRange("nc_matmul_mx.moving", "moving's free size N", n, 1,
                                    RowOf(target).max_moving_free * (narrow ? 2 : 1)));
  if (PartitionsOf(instruction, kDst) != m || ElementsOf(instruction, kDst) != n)
    return InvalidArgument("nc_matmul_mx.shape: dst is [", PartitionsOf(instruction, kDst), ", ",
                           ElementsOf(instruction, kDst), "], expected [M, N] = [", m, ", ", n,
                           "]");
  NEURON_RETURN_IF_ERROR(CheckArrayTile(instruction, "nc_matmul_mx.tiling", kTilePosition,
                                        kTileSize, kStationary, m, /*columns=*/false));
  NEURON_RETURN_IF_ERROR(
      CheckMxScale(instruction, "nc_matmul_mx.scale", kStationaryScale, kStationary));
  return CheckMxScale(instruction, "nc_matmul_mx.scale", kMovingScale, kMoving);
}

double Cost(const CostInput& input) {
  return std::max(std::min(kMinIssueCycles, static_cast<double>(input.elements[kStationary])),
                  static_cast<double>(input.elements[kMoving]));
}

}  // namespace

constinit const InstructionDef kDef_nc_matmul_mx{
    .mnemonic = "nc_matmul_mx",
    .summary = "Multiply MX tensors into PSUM.",
    .doc =
        "dst[M, N] = stationary[4 K, M]^T * moving[4 K, N]: an element of an operand packs four "
        "values of one "
        "column, each multiplied by its group's scale 2^(byte - 127) (quantize_mx; 255 makes it "
        "NaN). "
        "Accumulated in fp32; `accumulate` adds to dst. fp8 and fp4 operands may be mixed.",
    .engines = Bit(Engine::kTensor),
    .operands = kOperands,
    .since = Target::kTrn3,
    .check = Check,
    .cost = Cost,
    .cost_doc = "max(min(64, M), N): four times the products of nc_matmul in the same time",
    .source = "NKI 0.6 reference, nki.isa.nc_matmul_mx",
};

}  // namespace neuron::isa
