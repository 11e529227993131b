#include "compiler/long_reduce.h"

#include <algorithm>

#include "compiler/movement.h"
#include "compiler/operands.h"
#include "compiler/reduction.h"

namespace neuron::compiler {

using hlo::Instruction;
using isa::AluOp;

namespace {

constexpr int64_t kPartitionCount = isa::kPartitions;
constexpr int64_t kFewRows = 32;  // fewer: chunks lie on partitions instead of rows

// [kept, reduced] elements, each group one dimension of one step.
struct Matrix {
  HbmView at;
  int64_t rows = 1, row_step = 0;
  int64_t length = 1, step = 1;
};

class LongReducer {
 public:
  LongReducer(EmitContext& ctx, const Instruction& x, AluOp op)
      : ctx_(ctx), op_(op), partial_(IsFloating(x.shape().dtype) ? DType::kF32 : x.shape().dtype) {}

  // to: dense [rows] of `dtype`.
  Status Run(const Matrix& from, const HbmView& to) {
    if (from.length <= kReductionChunk) return Short(from, to);
    const int64_t chunks = (from.length + kReductionChunk - 1) / kReductionChunk;
    const Buffer buffer = ctx_.TemporaryBuffer(from.rows * chunks * ByteSize(partial_));
    Matrix partials;
    partials.at = {buffer.tensor, TileDType(partial_), Affine(buffer.byte_offset), {}};
    partials.rows = from.rows;
    partials.row_step = chunks;
    partials.length = chunks;
    if (from.rows < kFewRows)
      NEURON_RETURN_IF_ERROR(ChunksOnPartitions(from, partials));
    else
      NEURON_RETURN_IF_ERROR(RowsOnPartitions(from, partials, chunks));
    return Run(partials, to);
  }

 private:
  static int64_t Bytes(const Matrix& m) { return ByteSize(m.at.dtype); }

  // Rounds of at most `most` of n, the last one shorter: body(begin, count).
  template <typename Body>
  Status Rounds(int64_t n, int64_t most, const Body& body) {
    const int64_t rounds = n / most;
    if (rounds == 1) {
      NEURON_RETURN_IF_ERROR(body(Affine(0), most));
    } else if (rounds > 1) {
      const int64_t last = (rounds - 1) * most;
      const Affine i = Affine::Of(ctx_.b.LoopBegin(Affine(0), Affine(last + 1), most, last));
      NEURON_RETURN_IF_ERROR(body(i, most));
      ctx_.b.LoopEnd();
    }
    return n % most != 0 ? body(Affine(rounds * most), n % most) : OkStatus();
  }

  // One tile [partitions][length] from `offset` bytes on, reduced to one value per partition, which
  // goes to `dst`.
  Status Tile(const Matrix& from, const Affine& offset, int64_t partitions, int64_t partition_step,
              int64_t length, const AccessPattern& dst) {
    NEURON_ASSIGN_OR_RETURN(const compiler::Tile in,
                            ctx_.AllocateTile(from.at.dtype, Count(partitions), {Count(length)}));
    NEURON_ASSIGN_OR_RETURN(const compiler::Tile out,
                            ctx_.AllocateTile(dst.dtype, Count(partitions), {Count(1)}));
    AccessPattern src =
        AccessPattern::Hbm(from.at.dtype, from.at.tensor, from.at.byte_offset + offset,
                           Count(partitions), partition_step, {{from.step, Count(length)}});
    const int64_t bytes = Bytes(from);
    if (partition_step == 1 && from.step > 1 && partitions >= 8 && length >= 8 &&
        (bytes == 2 || bytes == 4)) {
      src.partitions = Count(length);
      src.partition_step = from.step;
      src.dims[0] = {1, Count(partitions)};
      ctx_.DmaTranspose(in.pattern, src);
    } else {
      ctx_.DmaCopy(in.pattern, src);
    }
    ctx_.TensorReduce(out.pattern, op_, in.pattern, 1);
    ctx_.DmaCopy(dst, out.pattern);
    ctx_.Free(out);
    ctx_.Free(in);
    return OkStatus();
  }

  Status Short(const Matrix& from, const HbmView& to) {
    return Rounds(from.rows, kPartitionCount, [&](Affine row, int64_t rows) {
      const AccessPattern dst = AccessPattern::Hbm(
          to.dtype, to.tensor, to.byte_offset + row * ByteSize(to.dtype), Count(rows), 1, {{1, 1}});
      return Tile(from, row * (from.row_step * Bytes(from)), rows, from.row_step, from.length, dst);
    });
  }

  Status RowsOnPartitions(const Matrix& from, const Matrix& to, int64_t chunks) {
    return Rounds(from.rows, kPartitionCount, [&](Affine row, int64_t rows) {
      return Rounds(from.length, kReductionChunk, [&](Affine element, int64_t length) {
        // element counts in chunks' first elements; a chunk's result is element / 4096 further.
        const Affine at = element.is_constant()
                              ? Affine(element.base / kReductionChunk * ByteSize(partial_))
                              : Affine::Of(ChunkRegister(element, chunks), ByteSize(partial_));
        const AccessPattern dst =
            AccessPattern::Hbm(TileDType(partial_), to.at.tensor,
                               to.at.byte_offset + row * (to.row_step * ByteSize(partial_)) + at,
                               Count(rows), to.row_step, {{1, 1}});
        return Tile(from, row * (from.row_step * Bytes(from)) + element * (from.step * Bytes(from)),
                    rows, from.row_step, length, dst);
      });
    });
  }

  Register ChunkRegister(const Affine& element, int64_t chunks) {
    const Register chunk = ctx_.b.AddRegister({.min = 0, .max = chunks - 1});
    ctx_.RegisterAlu(chunk, "floordiv", element, Affine(kReductionChunk));
    return chunk;
  }

  Status ChunksOnPartitions(const Matrix& from, const Matrix& to) {
    const int64_t whole = from.length / kReductionChunk;
    return Rounds(from.rows, 1, [&](Affine row, int64_t) -> Status {
      const Affine source = row * (from.row_step * Bytes(from));
      const Affine target = to.at.byte_offset + row * (to.row_step * ByteSize(partial_));
      const auto place = [&](const Affine& chunk, int64_t n) {
        return AccessPattern::Hbm(TileDType(partial_), to.at.tensor,
                                  target + chunk * ByteSize(partial_), Count(n), 1, {{1, 1}});
      };
      NEURON_RETURN_IF_ERROR(Rounds(whole, kPartitionCount, [&](Affine chunk, int64_t n) {
        return Tile(from, source + chunk * (kReductionChunk * from.step * Bytes(from)), n,
                    kReductionChunk * from.step, kReductionChunk, place(chunk, n));
      }));
      const int64_t rest = from.length % kReductionChunk;
      if (rest == 0) return OkStatus();
      return Tile(from, source + Affine(whole * kReductionChunk * from.step * Bytes(from)), 1, 0,
                  rest, place(Affine(whole), 1));
    });
  }

  EmitContext& ctx_;
  AluOp op_;
  DType partial_;
};

}  // namespace

Status EmitLongReduce(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  const AluOp op = *ReductionAlu(x);
  NEURON_ASSIGN_OR_RETURN(const View view, OperandView(ctx, x.operand(0)));
  if (x.operand(1)->opcode() != hlo::Opcode::kConstant ||
      !IsIdentity(op, x.shape().dtype, x.operand(1)->attributes().literal.AsDouble()))
    return Unimplemented("compiler: ", x.name(), " reduces ", x.operand(0)->shape().ToString(),
                         " from an initial value that is not the operator's own");
  Dims kept, reduced, kept_strides, reduced_strides;
  for (size_t d = 0; d < view.sizes.size(); ++d) {
    const auto& list = x.attributes().dimensions;
    const bool is_reduced =
        std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
    (is_reduced ? reduced : kept).push_back(view.sizes[d]);
    (is_reduced ? reduced_strides : kept_strides).push_back(view.strides[d]);
  }
  Matrix from;
  from.at = HbmViewOf(ctx, view);
  from.rows = Product(kept);
  from.length = Product(reduced);
  std::vector<Dims> k = {kept_strides};
  std::vector<Dims> r = {reduced_strides};
  Dims k_sizes = kept;
  Dims r_sizes = reduced;
  CollapseDims(k_sizes, k);
  CollapseDims(r_sizes, r);
  if (k_sizes.size() == 1 && r_sizes.size() == 1) {
    from.row_step = k[0][0];
    from.step = r[0][0];
  } else {
    // Rows that do not lie evenly are gathered first.
    const Buffer buffer = ctx.TemporaryBuffer(from.rows * from.length * ByteSize(view.dtype));
    Dims sizes = kept;
    sizes.insert(sizes.end(), reduced.begin(), reduced.end());
    HbmView rows{buffer.tensor, from.at.dtype, Affine(buffer.byte_offset), DenseStrides(sizes)};
    HbmView source = from.at;
    source.strides = kept_strides;
    source.strides.insert(source.strides.end(), reduced_strides.begin(), reduced_strides.end());
    NEURON_RETURN_IF_ERROR(EmitCopy(ctx, sizes, rows, source));
    from.at = std::move(rows);
    from.row_step = from.length;
    from.step = 1;
  }
  return LongReducer(ctx, x, op).Run(from, HbmViewOf(ctx, View::Of(&x)));
}

}  // namespace neuron::compiler
