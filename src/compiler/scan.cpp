#include "compiler/scan.h"

#include <algorithm>

#include "compiler/operands.h"
#include "compiler/reduction.h"

namespace neuron::compiler {

using hlo::Instruction;
using isa::AluOp;

namespace {

constexpr int64_t kChunkElements = 4096;

struct Scan {
  int dim = -1;
  bool backward = false;  // from the end
};

Scan ScanOf(const Instruction& x) {
  Scan scan;
  if (!x.shape().is_array() || x.operands().size() != 2) return scan;
  for (size_t d = 0; d < x.attributes().window.size(); ++d) {
    const hlo::WindowDimension& w = x.attributes().window[d];
    if (w == hlo::WindowDimension{}) continue;
    const int64_t n = x.shape().dims[d];
    hlo::WindowDimension expected;
    expected.size = n;
    expected.padding_low = n - 1;
    hlo::WindowDimension reverse = expected;
    std::swap(reverse.padding_low, reverse.padding_high);
    if (scan.dim >= 0 || (w != expected && w != reverse)) return {};
    scan.dim = static_cast<int>(d);
    scan.backward = w == reverse && n > 1;
  }
  return scan;
}

// Rows on partitions, the scanned dimension along the free axis in chunks that hand on their last
// value.
class ScanEmitter {
 public:
  ScanEmitter(EmitContext& ctx, const Instruction& x, AluOp op, double init)
      : ctx_(ctx), dtype_(x.shape().dtype), op_(op), init_(init) {}

  Status Run(const View& from, const View& to, Scan scan) {
    const auto s = static_cast<size_t>(scan.dim);
    length_ = from.sizes[s];
    from_ = from;
    to_ = to;
    if (scan.backward)
      for (View* v : {&from_, &to_}) {
        v->offset += (length_ - 1) * v->strides[s];
        v->strides[s] = -v->strides[s];
      }
    Dims sizes = from.sizes;
    std::vector<Dims> strides = {from_.strides, to_.strides};
    for (Dims* list : {&sizes, &strides[0], &strides[1]})
      std::rotate(list->begin() + scan.dim, list->begin() + scan.dim + 1, list->end());
    CollapseDims(sizes, strides, static_cast<int>(sizes.size()) - 1);
    // An extent of 1 on either side of the barrier stays.
    sizes_ = sizes;
    from_.strides = strides[0];
    to_.strides = strides[1];
    rows_dim_ = static_cast<int>(sizes_.size()) - 2;
    for (int d = 0; d < rows_dim_; ++d)
      if (sizes_[static_cast<size_t>(d)] > sizes_[static_cast<size_t>(rows_dim_)]) rows_dim_ = d;
    start_.assign(sizes_.size(), Affine(0));
    return Outer(0);
  }

 private:
  Status Outer(int d) {
    if (d == static_cast<int>(sizes_.size()) - 1) return Rows();
    const int64_t n = sizes_[static_cast<size_t>(d)];
    if (d == rows_dim_ || n == 1) return Outer(d + 1);
    start_[static_cast<size_t>(d)] = Affine::Of(ctx_.b.LoopBegin(Affine(0), Affine(n), 1, n - 1));
    NEURON_RETURN_IF_ERROR(Outer(d + 1));
    ctx_.b.LoopEnd();
    start_[static_cast<size_t>(d)] = Affine(0);
    return OkStatus();
  }

  Status Rows() {
    const int64_t n = sizes_[static_cast<size_t>(rows_dim_)];
    Affine& start = start_[static_cast<size_t>(rows_dim_)];
    const int64_t rounds = n / isa::kPartitions;
    if (rounds > 0) {
      const int64_t last = (rounds - 1) * isa::kPartitions;
      start = Affine::Of(ctx_.b.LoopBegin(Affine(0), Affine(last + 1), isa::kPartitions, last));
      NEURON_RETURN_IF_ERROR(Row(isa::kPartitions));
      ctx_.b.LoopEnd();
    }
    start = Affine(rounds * isa::kPartitions);
    const int64_t left = n % isa::kPartitions;
    return left > 0 ? Row(left) : OkStatus();
  }

  Status Row(int64_t partitions) {
    const DType carry_dtype = IsFloating(dtype_) ? DType::kF32 : dtype_;
    const int64_t chunk = std::min(length_, kChunkElements);
    NEURON_ASSIGN_OR_RETURN(const Tile carry,
                            ctx_.AllocateTile(carry_dtype, Count(partitions), {Count(1)}));
    NEURON_ASSIGN_OR_RETURN(const Tile in,
                            ctx_.AllocateTile(dtype_, Count(partitions), {Count(chunk)}));
    NEURON_ASSIGN_OR_RETURN(const Tile out,
                            ctx_.AllocateTile(carry_dtype, Count(partitions), {Count(chunk)}));
    NEURON_ASSIGN_OR_RETURN(const Tile one,
                            ctx_.AllocateTile(dtype_, Count(partitions), {Count(1)}));
    ctx_.Memset(carry.pattern, init_);
    ctx_.Memset(one.pattern, 1.0);
    Affine& start = start_.back();
    const auto emit = [&](int64_t n) {
      TileSpec spec;
      spec.start = start_;
      spec.partition = {rows_dim_, 1, Count(partitions)};
      spec.free = {{static_cast<int>(sizes_.size()) - 1, 1, Count(n)}};
      AccessPattern x = in.pattern, r = out.pattern, ones = one.pattern;
      x.dims[0] = r.dims[0] = {1, Count(n)};
      ones.dims[0] = {0, Count(n)};
      ctx_.DmaCopy(x, ctx_.HbmPattern(from_, from_.strides, spec));
      AccessPattern initial = carry.pattern;
      if (op_ == AluOp::kAdd)
        ctx_.TensorTensorScan(r, ones, x, initial, AluOp::kMultiply, AluOp::kAdd);
      else if (op_ == AluOp::kMultiply)
        ctx_.TensorTensorScan(r, x, ones, initial, AluOp::kMultiply, AluOp::kMultiply);
      else
        ctx_.TensorTensorScan(r, x, x, initial, op_, op_);
      AccessPattern last = out.pattern;
      last.offset = last.offset + Affine((n - 1) * ByteSize(carry_dtype));
      last.dims[0] = {1, 1};
      ctx_.TensorCopy(carry.pattern, last);
      if (carry_dtype != dtype_) {
        ctx_.TensorCopy(x, r);
        r = x;
      }
      ctx_.DmaCopy(ctx_.HbmPattern(to_, to_.strides, spec), r);
    };
    const int64_t rounds = length_ / chunk;
    if (rounds > 1) {
      const int64_t last = (rounds - 1) * chunk;
      start = Affine::Of(ctx_.b.LoopBegin(Affine(0), Affine(last + 1), chunk, last));
      emit(chunk);
      ctx_.b.LoopEnd();
    } else {
      start = Affine(0);
      emit(chunk);
    }
    start = Affine(rounds * chunk);
    if (length_ % chunk != 0) emit(length_ % chunk);
    start = Affine(0);
    for (const Tile* tile : {&one, &out, &in, &carry}) ctx_.Free(*tile);
    return OkStatus();
  }

  EmitContext& ctx_;
  DType dtype_;
  AluOp op_;
  double init_;
  int64_t length_ = 0;
  View from_, to_;
  Dims sizes_;
  int rows_dim_ = 0;
  std::vector<Affine> start_;
};

}  // namespace

bool IsScan(const Instruction& x) {
  if (x.opcode() != hlo::Opcode::kReduceWindow) return false;
  const auto op = ReductionAlu(x);
  if (!op || x.operand(1)->opcode() != hlo::Opcode::kConstant) return false;
  if (*op != AluOp::kAdd && *op != AluOp::kMultiply && *op != AluOp::kMaximum &&
      *op != AluOp::kMinimum)
    return false;
  return ScanOf(x).dim >= 0;
}

Status EmitScan(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& x = *kernel.hero;
  if (x.shape().num_elements() == 0) return OkStatus();
  NEURON_ASSIGN_OR_RETURN(const View from, OperandView(ctx, x.operand(0)));
  ScanEmitter emitter(ctx, x, *ReductionAlu(x), x.operand(1)->attributes().literal.AsDouble());
  return emitter.Run(from, View::Of(&x), ScanOf(x));
}

}  // namespace neuron::compiler
