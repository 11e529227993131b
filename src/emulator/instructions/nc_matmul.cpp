#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <tuple>

#include "emulator/matmul_chain.h"
#include "emulator/packing.h"
#include "emulator/parallel.h"
#include "emulator/region.h"
#include "emulator/row_io.h"
#include "emulator/transpose.h"
#include "isa/operands.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kPanel = 512;              // columns of the moving operand taken at once
constexpr int64_t kGrain = 64;               // columns that one host thread takes at least
constexpr int64_t kPitch = kPanel * 4 + 64;  // of packed rows: no power of two
constexpr int64_t kPairsPanel = 64;          // columns that are packed in pairs at once
constexpr int64_t kParts = 4;  // stretches of K taken at once: a block's stay in the caches

// An operand that begins with this column of a packed tile.
struct PackedOperand {
  Packing packing;
  int64_t column = 0;
  int late = -1;
};

struct Matmul : Operation::Payload {
  const KernelTable* kernels = nullptr;
  bool accumulate = false;
  bool brain = false;                      // both operands bf16, on a target with a bf16 dot
  bool double_row = false;                 // the outermost free dimension is a second half of K
  bool narrow_out = false;                 // dst is not fp32
  std::optional<PackedOperand> packed[2];  // stationary, moving
  // Not empty: the operands can be read where they lie, in runs of `run` columns that begin here
  // (DotPieces) ...
  std::vector<int32_t> columns;
  int run = 0;
  bool in_runs = false;           // ... and have to be, or else be packed
  std::vector<int32_t> elements;  // where each column begins, if their runs are shorter
};

struct Packed {
  alignas(64) char stationary[isa::kPartitions * kPitch];
  alignas(64) char moving[isa::kPartitions * kPitch];
  alignas(64) char out[isa::kPartitions * kPitch];
  alignas(64) char scratch[kMatmulScratchBytes];
  alignas(64) char stationary_pairs[isa::kPartitions * isa::kPartitions * 4];
  alignas(64) char moving_pairs[isa::kPartitions * kPairsPanel * 4];
  alignas(64) char late[kParts][isa::kPartitions * kDotColumns * 4];
};
Packed& ThreadPacked() {
  thread_local const std::unique_ptr<Packed> packed = std::make_unique<Packed>();
  return *packed;
}

// Where every `step`th column of a row begins; empty if that is beyond 32 bits.
std::vector<int32_t> OffsetsOf(const TileShape& shape, int64_t step) {
  std::vector<int32_t> offsets;
  for (int64_t column = 0; column < shape.elements; column += step) {
    int64_t rest = column;
    int64_t at = 0;
    for (int d = shape.num_dims; d-- > 0;) {
      at += rest % shape.count[d] * shape.stride[d];
      rest /= shape.count[d];
    }
    if (at != static_cast<int32_t>(at)) return {};
    offsets.push_back(static_cast<int32_t>(at));
  }
  return offsets;
}

// Where each four columns of a row begin; empty unless they lie side by side.
std::vector<int32_t> ColumnsOf(const TileShape& shape, int* run) {
  *run = 0;
  if (shape.num_dims == 0 || shape.stride[shape.num_dims - 1] != 4) return {};
  const int64_t inner = shape.count[shape.num_dims - 1];
  for (const int length : {16, 8, 4})
    if (*run == 0 && inner % length == 0) *run = length;
  if (*run == 0) return {};
  if (shape.num_dims == 1) *run = 16;  // one run: whole vectors, and a last one read beyond it
  std::vector<int32_t> columns = OffsetsOf(shape, 4);
  if (!columns.empty()) columns.resize(columns.size() + kDotColumnsAhead);
  return columns;
}

void Describe(const Tile& stationary, int64_t n, DotPieces* dot) {
  const TileShape& shape = *stationary.shape;
  dot->k = shape.rows;
  dot->m = shape.elements;
  dot->n = n;
  dot->stationary_k = shape.row_stride;
  dot->stationary_m = shape.num_dims == 0 ? 0 : shape.stride[0];
}

// Columns [from, to) of matmuls that add to one result.
void MultiplyInPlace(const Matmul& matmul, const Tile& dst, DotPieces dot, const Tile& stationary,
                     const Tile& moving, int64_t from, int64_t to, bool accumulate) {
  Describe(stationary, to - from, &dot);
  dot.moving_k = moving.shape->row_stride;
  dot.columns = matmul.columns.data() + from / 4;
  dot.run = matmul.run;
  matmul.kernels->matmul_pieces(reinterpret_cast<float*>(dst.data + from * 4),
                                dst.shape->row_stride, dot, accumulate);
}

struct Rows {
  const char* data;
  int64_t stride;
};

// Columns [first, first + n) of an operand as dense rows: in place if it has them, else packed.
Rows DenseRows(const Matmul& matmul, const Tile& tile, int64_t first, int64_t n, char* packed) {
  const TileShape& shape = *tile.shape;
  const bool wanted = shape.dtype == (matmul.brain ? DType::kBF16 : DType::kF32);
  if (wanted && shape.contiguous())
    return {tile.data + first * shape.element_bytes, shape.row_stride};
  for (int64_t row = 0; row < shape.rows; ++row) {
    char* to = packed + row * kPitch;
    if (matmul.brain) {
      GatherRow(shape, tile.row(row), first, n, to);
      continue;
    }
    const void* values =
        ReadRow(*matmul.kernels, Domain::kFloat, shape, tile.row(row), first, n, to);
    if (values != to) std::copy_n(static_cast<const char*>(values), n * 4, to);
  }
  return {packed, kPitch};
}

// One operand of a dot: dense rows, or packed already.
struct Factor {
  Rows rows;
  const PackedOperand* packed = nullptr;
  const char* source = nullptr;  // of a late tile that is still to be packed
};
struct Factors {
  int64_t k = 0;
  Factor stationary, moving;
};

// Columns from `column` on, which begins a block, of rows as they lie.
DotOperand BlocksOf(const Rows& rows, int64_t block, int64_t column) {
  return {.data = rows.data + column * 4,
          .block = block * 4,
          .step = rows.stride,
          .whole = INT64_MAX,
          .last_step = 0};
}

// The same of rows of bf16: columns [first, last) as pairs, in `room`.
DotOperand PairsOf(const Matmul& matmul, const Factors& factors, const Rows& rows, int64_t block,
                   int64_t first, int64_t last, char* room) {
  const Packing packing{.kernels = matmul.kernels,
                        .k = factors.k,
                        .columns = last - first,
                        .block = block,
                        .pairs = true,
                        .k_stride = rows.stride,
                        .column_stride = 2};
  Pack(packing, 0, last - first, rows.data + first * 2, room);
  return packing.At(room, 0);
}

// Columns from `column` on of a late tile, a block of them, packed in `room`.
DotOperand LateBlock(const Factor& moving, int64_t column, char* room) {
  const Packing& packing = moving.packed->packing;
  char* const tile = room - packing.OffsetOf(column);
  Pack(packing, column, column + packing.block, moving.source, tile);
  return packing.At(tile, column);
}

// Columns [from, to) of dots that add to one result, in blocks; `from` begins one. Where a tile is
// late, they are one block.
void MultiplyBlocks(const Matmul& matmul, char* out, int64_t out_stride,
                    std::span<const Factors> all, int64_t m, int64_t from, int64_t to,
                    bool accumulate) {
  const DotKernel dot = matmul.brain ? matmul.kernels->dot_bf16 : matmul.kernels->dot_f32;
  DotPart parts[kParts];
  int64_t count = 0;
  const auto run = [&](int64_t first, int64_t last) {
    if (count > 0)
      dot(reinterpret_cast<float*>(out + first * 4), out_stride, parts, count, m, last - first,
          accumulate);
  };
  const auto finish = [&] {
    run(from, to);
    accumulate = accumulate || count > 0;
    count = 0;
  };
  for (const Factors& factors : all) {
    const auto& [k, stationary, moving] = factors;
    DotPart part;
    part.steps = matmul.brain ? (k + 1) / 2 : k;
    if (stationary.packed != nullptr) {
      const PackedOperand& packed = *stationary.packed;
      part.stationary = packed.packing.At(stationary.rows.data, packed.column);
    } else if (!matmul.brain) {
      part.stationary = BlocksOf(stationary.rows, kDotRows, 0);
    } else {
      finish();  // the room is taken
      part.stationary = PairsOf(matmul, factors, stationary.rows, kDotRows, 0, m,
                                ThreadPacked().stationary_pairs);
    }
    if (moving.source != nullptr) {
      part.moving = LateBlock(moving, moving.packed->column + from, ThreadPacked().late[count]);
    } else if (moving.packed != nullptr) {
      part.moving = moving.packed->packing.At(moving.rows.data, moving.packed->column + from);
    } else if (!matmul.brain) {
      part.moving = BlocksOf(moving.rows, kDotColumns, from);
    } else {
      finish();
      count = 1;
      for (int64_t first = from; first < to; first += kPairsPanel) {
        const int64_t last = std::min(first + kPairsPanel, to);
        part.moving = PairsOf(matmul, factors, moving.rows, kDotColumns, first, last,
                              ThreadPacked().moving_pairs);
        parts[0] = part;
        run(first, last);
      }
      accumulate = true;
      count = 0;
      continue;
    }
    parts[count++] = part;
    if (count == kParts) finish();
  }
  finish();
}

// About 100 GFLOPS in fp32, 200 in bf16, of one host core with AVX-512.
double NsPerProduct(const Matmul& matmul) { return matmul.brain ? 0.01 : 0.02; }

void Multiply(const Matmul& matmul, const Tile& dst, const Tile& stationary, const Tile& moving,
              bool accumulate) {
  Packed& packed = ThreadPacked();
  const int64_t k = stationary.rows();
  const int64_t m = stationary.elements();
  if (matmul.in_runs) {
    DotPieces dot{.stationary = &stationary.data, .moving = &moving.data, .count = 1};
    ParallelFor(moving.elements(), kGrain,
                static_cast<double>(k * m * moving.elements()) * NsPerProduct(matmul),
                [&](int64_t from, int64_t to) {
                  MultiplyInPlace(matmul, dst, dot, stationary, moving, from, to, accumulate);
                });
    return;
  }
  const Rows a = DenseRows(matmul, stationary, 0, m, packed.stationary);
  const bool direct = dst.shape->contiguous() && !matmul.narrow_out;
  const double ns_per_product = NsPerProduct(matmul);
  for (int64_t first = 0; first < moving.elements(); first += kPanel) {
    const int64_t n = std::min(kPanel, moving.elements() - first);
    const Rows b = DenseRows(matmul, moving, first, n, packed.moving);
    const auto dot = [&](char* out, int64_t out_stride) {
      ParallelFor(n, kGrain, static_cast<double>(k * m * n) * ns_per_product,
                  [&](int64_t from, int64_t to) {
                    if (matmul.brain) {
                      const Factors factors{k, {a}, {b}};
                      MultiplyBlocks(matmul, out, out_stride, {&factors, 1}, m, from, to,
                                     accumulate);
                      return;
                    }
                    matmul.kernels->matmul_f32(reinterpret_cast<float*>(out + from * 4), out_stride,
                                               a.data, a.stride, b.data + from * 4, b.stride, k, m,
                                               to - from, accumulate, ThreadPacked().scratch);
                  });
    };
    if (direct) {
      dot(dst.data + first * 4, dst.shape->row_stride);
      continue;
    }
    if (accumulate)
      for (int64_t row = 0; row < m; ++row) {
        char* to = packed.out + row * kPitch;
        const void* old =
            ReadRow(*matmul.kernels, Domain::kFloat, *dst.shape, dst.row(row), first, n, to);
        if (old != to) std::copy_n(static_cast<const char*>(old), n * 4, to);
      }
    dot(packed.out, kPitch);
    for (int64_t row = 0; row < m; ++row)
      WriteRow(*matmul.kernels, Domain::kFloat, *dst.shape, dst.row(row), first, n,
               packed.out + row * kPitch);
  }
}

// Half `half` of a double-row operand [K, 2, F].
TileShape HalfShape(const isa::AccessPattern& pattern, int64_t row_pitch,
                    const int64_t* registers) {
  isa::AccessPattern half = pattern;
  half.dims[0].count = 1;
  return ShapeOf(half, row_pitch, registers);
}

Status Execute(const Operation& operation, Execution& execution) {
  const auto& matmul = operation.as<Matmul>();
  if (matmul.packed[0] || matmul.packed[1]) {
    const Operation* const one = &operation;
    return ExecuteChain({&one, 1}, MatmulNs(operation), execution);
  }
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  Tile stationary = tiles.tile[1];
  Tile moving = tiles.tile[2];
  execution.counters->tensor_multiplies +=
      stationary.rows() * stationary.elements() * moving.elements() / (matmul.double_row ? 2 : 1);
  if (!matmul.double_row) {
    Multiply(matmul, dst, stationary, moving, matmul.accumulate);
    return OkStatus();
  }
  const isa::AccessPattern& s = *operation.tiles[1].pattern;
  const isa::AccessPattern& v = *operation.tiles[2].pattern;
  const TileShape s_half = HalfShape(s, stationary.shape->row_stride, execution.registers);
  const TileShape v_half = HalfShape(v, moving.shape->row_stride, execution.registers);
  for (int half = 0; half < 2; ++half) {
    Multiply(matmul, dst, {stationary.data + half * s.dims[0].step * s_half.element_bytes, &s_half},
             {moving.data + half * v.dims[0].step * v_half.element_bytes, &v_half},
             matmul.accumulate || half == 1);
  }
  return OkStatus();
}

// Whether nothing but the runs of its columns stands against reading operands where they lie.
bool MayTakePieces(const Matmul& matmul, const Operation& op) {
  const TileShape& stationary = op.tiles[1].shape;
  for (const TileRef& tile : op.tiles)
    if (tile.dynamic || tile.shape.dtype != DType::kF32) return false;
  return matmul.kernels->matmul_pieces != nullptr && !matmul.double_row &&
         op.tiles[0].shape.contiguous() && stationary.num_dims <= 1 && stationary.elements > 0 &&
         stationary.rows == op.tiles[2].shape.rows;
}

Status Decode(const DecodeInput& input, Operation* op) {
  if (input.in.Flag("is_transpose")) return DecodeTranspose(input, "dst", "stationary", op);
  auto matmul = std::make_unique<Matmul>();
  input.AddTile(op, "dst");
  input.AddTile(op, "stationary");
  input.AddTile(op, "moving");
  matmul->kernels = &input.kernels;
  matmul->accumulate = input.in.Flag("accumulate");
  matmul->double_row =
      input.in.Integer("perf_mode") == static_cast<int64_t>(isa::PerfMode::kDoubleRow);
  matmul->narrow_out = op->tiles[0].shape.dtype != DType::kF32;
  matmul->brain = input.kernels.dot_bf16 != nullptr && op->tiles[1].shape.dtype == DType::kBF16 &&
                  op->tiles[2].shape.dtype == DType::kBF16;
  if (MayTakePieces(*matmul, *op)) {
    matmul->columns = ColumnsOf(op->tiles[2].shape, &matmul->run);
    if (matmul->columns.empty() && op->tiles[2].shape.elements <= kPanel)
      matmul->elements = OffsetsOf(op->tiles[2].shape, 1);
    matmul->in_runs = !matmul->columns.empty() &&
                      !(op->tiles[1].shape.contiguous() && op->tiles[2].shape.contiguous());
  }
  op->execute = Execute;
  op->payload = std::move(matmul);
  return OkStatus();
}

// Whether DenseRows of an operand packs nothing.
bool InPlace(const Matmul& matmul, const TileRef& operand) {
  return operand.shape.dtype == (matmul.brain ? DType::kBF16 : DType::kF32) &&
         operand.shape.contiguous();
}

}  // namespace

bool IsMatmul(const Operation& op) { return op.execute == Execute; }

bool OverwritesSum(const Operation& op) {
  return IsTranspose(op) || (op.execute == Execute && !op.as<Matmul>().accumulate);
}

bool StartsChain(const Operation& op) {
  if (op.execute != Execute) return false;
  const auto& matmul = op.as<Matmul>();
  for (const TileRef& tile : op.tiles)
    if (tile.dynamic) return false;
  return !matmul.double_row && !matmul.narrow_out && op.tiles[0].shape.contiguous() &&
         (matmul.in_runs || (InPlace(matmul, op.tiles[1]) && InPlace(matmul, op.tiles[2])));
}

bool ContinuesChain(const Operation& first, const Operation& op) {
  return StartsChain(op) && op.as<Matmul>().accumulate &&
         op.as<Matmul>().brain == first.as<Matmul>().brain && SameWalk(first.tiles[0], op.tiles[0]);
}

double MatmulNs(const Operation& op) {
  const TileShape& stationary = op.tiles[1].shape;
  return static_cast<double>(stationary.rows * stationary.elements * op.tiles[2].shape.elements) *
         NsPerProduct(op.as<Matmul>());
}

namespace {

// Whether both are taken in runs and differ in nothing but where their operands begin, as the taps
// of a convolution do.
bool SamePieces(const Operation& a, const Operation& b) {
  const auto& [first, second] = std::tie(a.as<Matmul>(), b.as<Matmul>());
  const auto alike = [&](size_t tile) {
    const TileShape& x = a.tiles[tile].shape;
    const TileShape& y = b.tiles[tile].shape;
    return x.rows == y.rows && x.elements == y.elements && x.row_stride == y.row_stride &&
           (tile == 2 || x.num_dims == 0 || x.stride[0] == y.stride[0]);
  };
  return first.in_runs && second.in_runs && first.run == second.run && alike(1) && alike(2) &&
         first.columns == second.columns;
}

}  // namespace

Status ExecuteChain(std::span<const Operation* const> chain, double estimated_ns,
                    Execution& execution) {
  std::vector<ResolvedTiles<3>> tiles(chain.size());
  for (size_t i = 0; i < chain.size(); ++i) {
    NEURON_RETURN_IF_ERROR(tiles[i].Resolve(*chain[i], execution));
    const auto& [dst, stationary, moving] = tiles[i].tile;
    execution.counters->tensor_multiplies +=
        stationary.rows() * stationary.elements() * moving.elements();
  }
  const auto& first = chain[0]->as<Matmul>();
  const Tile& dst = tiles[0].tile[0];
  const int64_t m = tiles[0].tile[1].elements();
  const int64_t n = tiles[0].tile[2].elements();
  std::vector<Factors> factors(chain.size());
  std::vector<const char*> stationaries, movings;
  bool blocks = first.brain;
  bool packs = false;  // once per part of the columns
  bool late = false;
  for (size_t i = 0; i < chain.size(); ++i) {
    const auto& matmul = chain[i]->as<Matmul>();
    const auto factor = [&](int side) {
      const Tile& tile = tiles[i].tile[1 + side];
      const PackedOperand* packed = matmul.packed[side] ? &*matmul.packed[side] : nullptr;
      const bool late = packed != nullptr && packed->late >= 0;
      return Factor{{tile.data, tile.shape->row_stride},
                    packed,
                    late ? execution.late[packed->late] : nullptr};
    };
    factors[i] = {tiles[i].tile[1].rows(), factor(0), factor(1)};
    stationaries.push_back(tiles[i].tile[1].data);
    movings.push_back(tiles[i].tile[2].data);
    blocks = blocks || matmul.packed[0] || matmul.packed[1];
    packs = packs || (matmul.brain && !matmul.packed[0]);
    late = late || factors[i].moving.source != nullptr;
  }
  const int64_t grain = packs && n % (4 * kGrain) == 0 ? 2 * kGrain : kGrain;
  ParallelFor(n, grain, estimated_ns, [&](int64_t from, int64_t to) {
    // Neighbours that are taken the same way are taken together.
    for (size_t i = 0; i < chain.size();) {
      const auto& matmul = chain[i]->as<Matmul>();
      const bool accumulate = i > 0 || first.accumulate;
      if (matmul.in_runs) {
        const size_t begin = i;
        while (i < chain.size() && SamePieces(*chain[begin], *chain[i])) ++i;
        const DotPieces dot{.stationary = stationaries.data() + begin,
                            .moving = movings.data() + begin,
                            .count = static_cast<int64_t>(i - begin)};
        MultiplyInPlace(matmul, dst, dot, tiles[begin].tile[1], tiles[begin].tile[2], from, to,
                        accumulate);
      } else if (blocks) {
        const size_t begin = i;
        while (i < chain.size() && !chain[i]->as<Matmul>().in_runs) ++i;
        const auto taken = std::span(factors).subspan(begin, i - begin);
        for (int64_t first = from; first < to; first = late ? first + kDotColumns : to)
          MultiplyBlocks(matmul, dst.data, dst.shape->row_stride, taken, m, first,
                         late ? std::min(first + kDotColumns, to) : to, accumulate);
      } else {
        const auto& [k, stationary, moving] = factors[i];
        matmul.kernels->matmul_f32(
            reinterpret_cast<float*>(dst.data + from * 4), dst.shape->row_stride,
            stationary.rows.data, stationary.rows.stride, moving.rows.data + from * 4,
            moving.rows.stride, k, m, to - from, accumulate, ThreadPacked().scratch);
        ++i;
      }
    }
  });
  return OkStatus();
}

bool MayReadPacked(const Operation& op) {
  if (!StartsChain(op)) return false;
  const auto& matmul = op.as<Matmul>();
  return !matmul.in_runs && (matmul.brain || matmul.kernels->dot_f32 != nullptr);
}

void ReadPacked(Operation* op, size_t tile, const Packing& packing, int64_t column, int late) {
  op->as<Matmul>().packed[tile - 1] = PackedOperand{packing, column, late};
}

bool MayAddUp(const Operation& op) {
  if (op.execute != Execute || !op.as<Matmul>().accumulate) return false;
  return !op.as<Matmul>().columns.empty() || !op.as<Matmul>().elements.empty();
}

Status MatmulPieces::Add(const Operation& op, const Execution& execution) {
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(op, execution));
  if (stationary.empty()) {
    sum = tiles.tile[0];
    first_stationary = tiles.tile[1];
    first_moving = tiles.tile[2];
  }
  stationary.push_back(tiles.tile[1].data);
  moving.push_back(tiles.tile[2].data);
  return OkStatus();
}

namespace {

// The moving operands of pieces, packed: whole vectors in each row.
class PackedPieces {
 public:
  PackedPieces(const Matmul& matmul, const Tile& moving)
      : offsets_(matmul.elements), moving_(moving) {
    const auto n = static_cast<int64_t>(offsets_.size());
    pitch_ = (n + kVector - 1) / kVector * kVector;
    for (int64_t column = 0; column < pitch_ + kDotColumnsAhead * 4; column += 4)
      columns_.push_back(static_cast<int32_t>(column * 4));
  }

  void Pack(DotPieces* dot) {
    const int64_t rows = moving_.rows();
    values_.resize(static_cast<size_t>(dot->count * rows * pitch_));
    at_.clear();
    float* to = values_.data();
    for (int64_t piece = 0; piece < dot->count; ++piece) {
      at_.push_back(reinterpret_cast<const char*>(to));
      const char* from = dot->moving[piece];
      for (int64_t row = 0; row < rows; ++row, from += moving_.shape->row_stride, to += pitch_)
        for (size_t i = 0; i < offsets_.size(); ++i) std::memcpy(to + i, from + offsets_[i], 4);
    }
    dot->moving = at_.data();
    dot->moving_k = pitch_ * 4;
    dot->columns = columns_.data();
    dot->run = kVector;
  }

 private:
  static constexpr int kVector = 16;
  const std::vector<int32_t>& offsets_;
  const Tile& moving_;
  int64_t pitch_ = 0;
  std::vector<int32_t> columns_;
  std::vector<float> values_;
  std::vector<const char*> at_;
};

}  // namespace

Status AddUp(const Operation& op, const MatmulPieces& pieces, Execution& execution) {
  // What passes through the second-level cache between two uses of a panel.
  constexpr int64_t kTogether = 16;
  const auto& matmul = op.as<Matmul>();
  const auto total = static_cast<int64_t>(pieces.moving.size());
  const int64_t n = pieces.first_moving.elements();
  execution.counters->tensor_multiplies +=
      total * pieces.first_stationary.rows() * pieces.first_stationary.elements() * n;
  const auto chunk = [&](int64_t at) {
    return DotPieces{.stationary = pieces.stationary.data() + at,
                     .moving = pieces.moving.data() + at,
                     .count = std::min(kTogether, total - at)};
  };
  if (matmul.columns.empty()) {
    PackedPieces packed(matmul, pieces.first_moving);
    for (int64_t at = 0; at < total; at += kTogether) {
      DotPieces dot = chunk(at);
      Describe(pieces.first_stationary, n, &dot);
      packed.Pack(&dot);
      matmul.kernels->matmul_pieces(reinterpret_cast<float*>(pieces.sum.data),
                                    pieces.sum.shape->row_stride, dot, true);
    }
    return OkStatus();
  }
  ParallelFor(n, kGrain, static_cast<double>(total) * MatmulNs(op), [&](int64_t from, int64_t to) {
    for (int64_t at = 0; at < total; at += kTogether)
      MultiplyInPlace(matmul, pieces.sum, chunk(at), pieces.first_stationary, pieces.first_moving,
                      from, to, true);
  });
  return OkStatus();
}

extern const InstructionSemantics kSemantics_nc_matmul;
const InstructionSemantics kSemantics_nc_matmul{Decode};

}  // namespace neuron::emulator
