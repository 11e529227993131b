#include <algorithm>
#include <bit>
#include <cstring>

#include "emulator/decoder.h"
#include "emulator/parallel.h"
#include "emulator/reduction.h"
#include "emulator/row_io.h"
#include "emulator/row_reduction_op.h"

namespace neuron::emulator {
namespace {

constexpr int64_t kChunk = 1024;   // elements read at once along a reduced row
constexpr int64_t kColumns = 256;  // kept elements reduced side by side
constexpr double kNsPerElement = 0.1;

struct Reduce : Operation::Payload {
  const KernelTable* kernels = nullptr;
  isa::AluOp op{};
  Domain domain = Domain::kFloat;
  int num_reduced = 1;
  bool negate = false;
  bool in_order = false;    // element after element: what has no vector reduction
  TileShape kept, reduced;  // at maximal counts
};

// The first (kept) or last (reduced) free dimensions of a pattern as a shape of their own.
TileShape PartOf(const isa::AccessPattern& pattern, int first, int count, int64_t row_pitch,
                 const int64_t* registers) {
  isa::AccessPattern part = pattern;
  part.num_dims = static_cast<uint8_t>(count);
  std::copy_n(pattern.dims.begin() + first, count, part.dims.begin());
  return ShapeOf(part, row_pitch, registers);
}

// Byte offset of element `index` of a shape's row.
int64_t OffsetOf(const TileShape& shape, int64_t index) {
  int64_t offset = 0;
  for (int d = shape.num_dims - 1; d >= 0; --d) {
    offset += index % shape.count[d] * shape.stride[d];
    index /= shape.count[d];
  }
  return offset;
}

const BinaryKernel& Combine(const Reduce& reduce, OperandForm form) {
  const isa::AluOp op = reduce.op == isa::AluOp::kAverage ? isa::AluOp::kAdd : reduce.op;
  return reduce.kernels
      ->binary[static_cast<int>(reduce.domain)][static_cast<int>(op)][static_cast<int>(form)];
}

// ((x0 op x1) op x2) ...
uint32_t ReduceInOrder(const Reduce& reduce, const TileShape& reduced, const char* at) {
  const BinaryKernel combine = Combine(reduce, OperandForm::kRowRow);
  alignas(64) uint32_t buffer[kChunk];
  uint32_t result = 0;
  for (int64_t first = 0; first < reduced.elements; first += kChunk) {
    const int64_t n = std::min(kChunk, reduced.elements - first);
    const auto* values = static_cast<const uint32_t*>(
        ReadRow(*reduce.kernels, reduce.domain, reduced, at, first, n, buffer));
    for (int64_t i = 0; i < n; ++i) {
      const bool alone = first + i == 0;
      // One element is its own difference, and abs_max and abs_min of itself.
      if (alone && reduce.op == isa::AluOp::kSubtract) {
        result = values[0];
      } else {
        combine(&result, alone ? values : &result, values + i, 1);
      }
    }
  }
  return result;
}

uint32_t ReduceOne(const Reduce& reduce, const TileShape& reduced, const char* at) {
  if (reduce.in_order) return ReduceInOrder(reduce, reduced, at);
  RowReduction reduction(*reduce.kernels, reduce.domain, reduce.op);
  alignas(64) uint32_t buffer[kChunk];
  for (int64_t first = 0; first < reduced.elements; first += kChunk) {
    const int64_t n = std::min(kChunk, reduced.elements - first);
    reduction.Add(ReadRow(*reduce.kernels, reduce.domain, reduced, at, first, n, buffer), n);
  }
  return reduction.Finish();
}

// Up to 4096 elements of `n` kept positions side by side: the lanes of RowReduction as vectors.
void ReduceColumns(const Reduce& reduce, const TileShape& kept, const TileShape& reduced,
                   const char* row, int64_t first, int64_t n, uint32_t* results) {
  alignas(64) uint32_t lanes[kReduceLanes][kColumns];
  alignas(64) uint32_t buffer[kColumns];
  const int used = static_cast<int>(std::min<int64_t>(kReduceLanes, reduced.elements));
  const uint32_t identity = ReduceIdentity(reduce.domain, reduce.op);
  const BinaryKernel with_identity = Combine(reduce, OperandForm::kValueRow);
  const BinaryKernel combine = Combine(reduce, OperandForm::kRowRow);
  for (int64_t i = 0; i < reduced.elements; ++i) {
    const void* values =
        ReadRow(*reduce.kernels, reduce.domain, kept, row + OffsetOf(reduced, i), first, n, buffer);
    uint32_t* lane = lanes[i % kReduceLanes];
    if (i < kReduceLanes) {
      with_identity(lane, &identity, values, n);
    } else {
      combine(lane, lane, values, n);
    }
  }
  for (int half = kReduceLanes / 2; half > 0; half /= 2)
    for (int l = 0; l < half && l + half < used; ++l)
      combine(lanes[l], lanes[l], lanes[l + half], n);
  std::copy_n(lanes[0], n, results);
}

void Finish(const Reduce& reduce, int64_t reduced_elements, uint32_t* results, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    if (reduce.domain != Domain::kFloat) {
      if (reduce.negate) results[i] = 0u - results[i];
      continue;
    }
    float value = std::bit_cast<float>(results[i]);
    if (reduce.op == isa::AluOp::kAverage) value /= static_cast<float>(reduced_elements);
    results[i] = std::bit_cast<uint32_t>(reduce.negate ? -value : value);
  }
}

Status Execute(const Operation& operation, Execution& execution) {
  const auto& reduce = operation.as<Reduce>();
  ResolvedTiles<2> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& data = tiles.tile[1];
  TileShape kept = reduce.kept;
  TileShape reduced = reduce.reduced;
  if (operation.tiles[1].dynamic) {
    const isa::AccessPattern& pattern = *operation.tiles[1].pattern;
    const int num_kept = pattern.num_dims - reduce.num_reduced;
    kept = PartOf(pattern, 0, num_kept, kept.row_stride, execution.registers);
    reduced = PartOf(pattern, num_kept, reduce.num_reduced, kept.row_stride, execution.registers);
  }
  const bool columns = !reduce.in_order && kept.elements >= 8 && reduced.elements <= kReduceChunk &&
                       (!reduced.contiguous() || reduced.elements <= 64);
  const auto run = [&](int64_t row) {
    alignas(64) uint32_t results[kColumns];
    const char* at = data.row(row);
    for (int64_t first = 0; first < kept.elements; first += kColumns) {
      const int64_t n = std::min(kColumns, kept.elements - first);
      if (columns) {
        ReduceColumns(reduce, kept, reduced, at, first, n, results);
      } else {
        for (int64_t i = 0; i < n; ++i)
          results[i] = ReduceOne(reduce, reduced, at + OffsetOf(kept, first + i));
      }
      Finish(reduce, reduced.elements, results, n);
      WriteRow(*reduce.kernels, reduce.domain, *dst.shape, dst.row(row), first, n, results);
    }
  };
  ParallelFor(data.rows(), 1, kNsPerElement * static_cast<double>(data.rows() * data.elements()),
              [&](int64_t first, int64_t last) {
                for (int64_t row = first; row < last; ++row) run(row);
              });
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto reduce = std::make_unique<Reduce>();
  input.AddTile(op, "dst");
  const TileRef& data = op->tiles[input.AddTile(op, "data")];
  reduce->kernels = &input.kernels;
  reduce->op = input.in.Alu("op");
  reduce->negate = input.in.Flag("negate");
  reduce->num_reduced = static_cast<int>(input.in.Integer("num_reduced", 1));
  if (isa::IsIntegerArithmetic(input.in.instruction()) || isa::RowOf(reduce->op).bitvec)
    reduce->domain = data.shape.dtype == DType::kU32 ? Domain::kUnsigned : Domain::kSigned;
  reduce->in_order = !RowReduction::Supports(input.kernels, reduce->domain, reduce->op);
  if (reduce->in_order && Combine(*reduce, OperandForm::kRowRow) == nullptr)
    return Unimplemented(NameOf(*op), ": reduction with ", isa::RowOf(reduce->op).name);
  const isa::AccessPattern& pattern = *data.pattern;
  const int num_kept = pattern.num_dims - reduce->num_reduced;
  reduce->kept = PartOf(pattern, 0, num_kept, data.shape.row_stride, nullptr);
  reduce->reduced = PartOf(pattern, num_kept, reduce->num_reduced, data.shape.row_stride, nullptr);
  op->execute = Execute;
  op->payload = std::move(reduce);
  return OkStatus();
}

}  // namespace

bool AsRowReduction(const Operation& operation, RowReductionParts* parts) {
  if (operation.execute != Execute) return false;
  const auto& reduce = operation.as<Reduce>();
  if (operation.tiles[1].dynamic || operation.tiles[0].dynamic || reduce.domain != Domain::kFloat ||
      reduce.in_order || reduce.op == isa::AluOp::kAverage)
    return false;
  *parts = {reduce.op, reduce.negate, reduce.kept.elements};
  return operation.tiles[0].shape.elements == reduce.kept.elements;
}

extern const InstructionSemantics kSemantics_tensor_reduce;
const InstructionSemantics kSemantics_tensor_reduce{Decode};

}  // namespace neuron::emulator
