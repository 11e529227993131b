#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace nc_matmul_operands;

constexpr OperandDef kOperands[] = {
    Out("dst", kPsum, kNumbers, "[M, N]; fp32, trn3 also bf16; the data's dtype with is_transpose"),
    In("stationary", kSbuf, kNumbers, "[K, M], K and M at most 128"),
    In("moving", kSbuf, kNumbers, "[K, N], N at most 512 (trn3: 4096)"),
    Value("accumulate", OperandKind::kFlag, "0 overwrites dst, 1 adds to it"),
    Optional(Value("is_transpose", OperandKind::kFlag, "1: exact transpose of stationary")),
    Optional(Value("perf_mode", OperandKind::kInteger, "0 none, 1 double_row")),
    Optional(Value("is_stationary_onezero", OperandKind::kFlag, "1: stationary holds 0 and 1")),
    Optional(Value("is_moving_onezero", OperandKind::kFlag, "1: moving holds 0 and 1")),
    Optional(Value("tile_position", OperandKind::kIntegers, "(row, column) of the array's tile")),
    Optional(Value("tile_size", OperandKind::kIntegers, "(rows, columns): 32, 64 or 128 each")),
};
static_assert(std::size(kOperands) == kCount);

bool IsWideFloat(DType dtype) { return dtype == DType::kF32 || dtype == DType::kTF32; }

// The halves of a double_row operand are its outermost free dimension.
Status CheckDoubleRow(const Instruction& instruction) {
  for (const size_t operand : {kStationary, kMoving}) {
    const AccessPattern& tile = TileAt(instruction, operand);
    const std::string_view name = operand == kStationary ? "stationary" : "moving";
    if (!Contains(kFloat8, tile.dtype))
      return InvalidArgument("nc_matmul.perf_mode: double_row needs fp8 operands, ", name, " is ",
                             DTypeName(tile.dtype));
    if (tile.partitions.max != kPartitions || !tile.partitions.is_constant())
      return InvalidArgument("nc_matmul.perf_mode: ", name, " has ", tile.partitions.max,
                             " partitions; double_row contracts 256 = 128 x 2 values");
    const Count halves = tile.num_dims == 0 ? Count(1) : tile.dims[0].count;
    if (halves.max != 2 || !halves.is_constant())
      return InvalidArgument("nc_matmul.perf_mode: ", name, "'s first free dimension is ",
                             halves.max, "; double_row takes [128, 2, F]");
  }
  if (IntegerAt(instruction, kIsTranspose) != 0)
    return InvalidArgument("nc_matmul.perf_mode: double_row cannot transpose");
  const auto* size = std::get_if<std::vector<int64_t>>(&OperandAt(instruction, kTileSize));
  if (size != nullptr && size->size() == 2 && (*size)[1] != kPartitions)
    return InvalidArgument("nc_matmul.perf_mode: double_row takes all columns of the array, not ",
                           (*size)[1]);
  return OkStatus();
}

Status Check(const Instruction& instruction, Target target) {
  const AccessPattern& dst = TileAt(instruction, kDst);
  const AccessPattern& stationary = TileAt(instruction, kStationary);
  const AccessPattern& moving = TileAt(instruction, kMoving);
  const TargetRow& row = RowOf(target);
  const bool transpose = IntegerAt(instruction, kIsTranspose) != 0;
  const bool double_row =
      IntegerAt(instruction, kPerfMode) == static_cast<int64_t>(PerfMode::kDoubleRow);
  NEURON_RETURN_IF_ERROR(
      CheckRange("nc_matmul.perf_mode", "perf_mode", IntegerAt(instruction, kPerfMode), 0, 1));
  NEURON_RETURN_IF_ERROR(
      CheckSamePartitions(instruction, "nc_matmul.contraction", {kStationary, kMoving}));
  if (double_row) NEURON_RETURN_IF_ERROR(CheckDoubleRow(instruction));
  const int64_t rows = double_row ? 2 : 1;
  const int64_t m = ElementsOf(instruction, kStationary) / rows;
  const int64_t n = ElementsOf(instruction, kMoving) / rows;
  NEURON_RETURN_IF_ERROR(
      CheckRange("nc_matmul.stationary", "stationary's free size M", m, 1, kPartitions));
  // A matmul's columns are fp32 words of PSUM; bf16 results are half as wide.
  const int64_t most = row.max_moving_free * (dst.dtype == DType::kBF16 && !transpose ? 2 : 1);
  NEURON_RETURN_IF_ERROR(CheckRange("nc_matmul.moving", "moving's free size N", n, 1,
                                    target == Target::kTrn2 ? row.max_moving_free : most));
  if (dst.partitions.max != m || ElementsOf(instruction, kDst) != n)
    return InvalidArgument("nc_matmul.shape: dst is [", dst.partitions.max, ", ",
                           ElementsOf(instruction, kDst), "], expected [M, N] = [", m, ", ", n,
                           "]");
  NEURON_RETURN_IF_ERROR(CheckArrayTile(instruction, "nc_matmul.tiling", kTilePosition, kTileSize,
                                        kStationary, m, /*columns=*/true));
  if (transpose) {
    NEURON_RETURN_IF_ERROR(CheckTransposedDType("nc_matmul.transpose", dst, stationary));
    if (n != moving.partitions.max)
      return InvalidArgument("nc_matmul.transpose: moving is the K x K identity, got [",
                             moving.partitions.max, ", ", n, "]");
    if (IntegerAt(instruction, kAccumulate) != 0)
      return InvalidArgument("nc_matmul.transpose: a transpose cannot accumulate");
  } else {
    if (!Contains(kFloats, stationary.dtype) || !Contains(kFloats, moving.dtype))
      return InvalidArgument("nc_matmul.dtype: operands are ", DTypeName(stationary.dtype), " and ",
                             DTypeName(moving.dtype), ", expected floating point");
    if (dst.dtype != DType::kF32 && !(target == Target::kTrn3 && dst.dtype == DType::kBF16))
      return InvalidArgument("nc_matmul.dst: dtype is ", DTypeName(dst.dtype), ", ", row.name,
                             " accumulates in f32", target == Target::kTrn3 ? " or bf16" : "");
  }
  if (IsWideFloat(stationary.dtype) != IsWideFloat(moving.dtype) && !transpose)
    return InvalidArgument("nc_matmul.dtype: stationary is ", DTypeName(stationary.dtype),
                           ", moving ", DTypeName(moving.dtype),
                           "; f32 and tf32 pair only with f32 and tf32");
  const bool e4m3fn = stationary.dtype == DType::kF8E4M3FN || moving.dtype == DType::kF8E4M3FN;
  if (e4m3fn && target == Target::kTrn2)
    return InvalidArgument("nc_matmul.dtype: f8e4m3fn operands exist from trn3 on");
  if (e4m3fn && (stationary.dtype == DType::kF8E4M3 || moving.dtype == DType::kF8E4M3))
    return InvalidArgument("nc_matmul.dtype: stationary is ", DTypeName(stationary.dtype),
                           ", moving ", DTypeName(moving.dtype),
                           "; the OCP and the legacy e4m3 do not mix");
  return OkStatus();
}

double Cost(const CostInput& input) {
  const DType dtype = TileAt(input.instruction, kMoving).dtype;
  const bool transpose = IntegerAt(input.instruction, kIsTranspose) != 0;
  // One column per cycle; fp32 takes four passes, its exact transpose two, and so do values that
  // are known to be 0 or 1. The stationary operand loads four times as fast, behind the previous
  // matmul.
  const bool halved = transpose || IntegerAt(input.instruction, kIsStationaryOnezero) != 0 ||
                      IntegerAt(input.instruction, kIsMovingOnezero) != 0;
  const double passes = ByteSize(dtype) == 4 ? (halved ? 2 : 4) : 1;
  const double rows = IntegerAt(input.instruction, kPerfMode) == 1 ? 2 : 1;
  const double moving = static_cast<double>(input.elements[kMoving]) / rows;
  const double stationary = static_cast<double>(input.elements[kStationary]) / rows;
  return passes * std::max(std::min(kMinIssueCycles, stationary), moving);
}

}  // namespace

constinit const InstructionDef kDef_nc_matmul{
    .mnemonic = "nc_matmul",
    .summary = "Multiply the transpose of `stationary` by `moving` into PSUM.",
    .doc =
        "dst[M, N] = stationary[K, M]^T * moving[K, N], accumulated in fp32; `accumulate` "
        "adds to dst.\n"
        "K lies on the partitions of both inputs; M and N are the products of their free "
        "dimensions. With is_transpose the array only moves bits: stationary is the data, "
        "moving the K x K identity (whose values are not looked at beyond that), dst[M, K] = "
        "stationary^T, NaN and infinity included; fp8 data becomes 16-bit elements whose upper "
        "byte is 0. perf_mode double_row: fp8 operands [128, 2, M] and [128, 2, N] contract over "
        "256 values. tile_position and tile_size name the part of the array that the matmul "
        "takes: stationary's partitions lie in its rows, M fits its columns (when such matmuls "
        "run together is not modelled). is_stationary_onezero and is_moving_onezero are promises "
        "that make fp32 matmuls faster.",
    .engines = Bit(Engine::kTensor),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc =
        "max(min(64, M), N), four times that for 32-bit operands (two times with is_transpose "
        "or a onezero flag)",
    .source = "NKI 0.6 reference, nki.isa.nc_matmul",
};

}  // namespace neuron::isa
