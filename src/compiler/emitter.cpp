#include "compiler/emitter.h"

#include <algorithm>

namespace neuron::compiler {

using isa::AluOp;
using isa::Dim;
using isa::Engine;
using isa::Memory;
using isa::Opcode;
using isa::Operand;

int64_t TileSpec::FreeElements() const {
  int64_t n = 1;
  for (const TileAxis& axis : free) n *= axis.count.max;
  return n;
}

DType TileDType(DType dtype) { return dtype == DType::kPred ? DType::kU8 : dtype; }

AccessPattern Simplified(AccessPattern p) {
  int out = 0;
  for (int i = 0; i < p.num_dims; ++i) {
    const Dim d = p.dims[static_cast<size_t>(i)];
    if (d.count.is_constant() && d.count.max == 1) continue;
    if (out > 0) {
      Dim& last = p.dims[static_cast<size_t>(out - 1)];
      // An outer dimension may be counted at run time: the product of counts must be known.
      const int64_t count = int64_t{last.count.max} * d.count.max;
      const bool fits = p.memory == isa::Memory::kHbm || count <= isa::kMaxCountOnChip;
      if (last.count.is_constant() && d.count.is_constant() && fits &&
          last.step_from == isa::kNoRegister && d.step_from == isa::kNoRegister &&
          last.step == d.step * d.count.max) {
        last = {d.step, count};
        continue;
      }
    }
    p.dims[static_cast<size_t>(out++)] = d;
  }
  if (out == 0) p.dims[static_cast<size_t>(out++)] = {1, 1};
  p.num_dims = static_cast<uint8_t>(out);
  for (int i = out; i < AccessPattern::kMaxDims; ++i) p.dims[static_cast<size_t>(i)] = {};
  return p;
}

EmitContext::EmitContext(const Options& options_in, const Plan& plan_in,
                         isa::ProgramBuilder& builder)
    : options(options_in),
      plan(plan_in),
      b(builder),
      sbuf(isa::RowOf(options_in.target).sbuf_bytes_per_partition, 64),
      psum(isa::RowOf(options_in.target).psum_bytes_per_partition,
           isa::RowOf(options_in.target).psum_bank_bytes),
      buffers_(plan_in.kernel_of.size()),
      scalars_(plan_in.kernel_of.size()) {}

Buffer EmitContext::BufferOf(const hlo::Instruction* value) const {
  const Buffer buffer = buffers_[static_cast<size_t>(value->id())];
  NEURON_CHECK(buffer.valid(), "no buffer: ", value->name());
  return buffer;
}

bool EmitContext::HasBuffer(const hlo::Instruction* value) const {
  return buffers_[static_cast<size_t>(value->id())].valid();
}

void EmitContext::SetBuffer(const hlo::Instruction* value, Buffer buffer) {
  buffers_[static_cast<size_t>(value->id())] = buffer;
}

View EmitContext::StoreOf(const hlo::Instruction* value) const {
  const auto it = stores_.find(value);
  return it != stores_.end() ? it->second : View::Of(value);
}

void EmitContext::SetStore(const hlo::Instruction* value, View view) {
  stores_[value] = std::move(view);
}

Register EmitContext::ScalarRegister(const hlo::Instruction* value) const {
  return scalars_[static_cast<size_t>(value->id())].reg;
}

void EmitContext::SetScalar(const hlo::Instruction* value, Register reg, int64_t slot) {
  scalars_[static_cast<size_t>(value->id())] = {reg, slot};
}

AccessPattern EmitContext::HbmPattern(const View& view, const Dims& strides, const TileSpec& spec,
                                      bool compact) {
  const Buffer buffer = BufferOf(view.base);
  const int64_t bytes = ByteSize(view.dtype);
  AccessPattern p;
  p.memory = Memory::kHbm;
  p.dtype = TileDType(view.dtype);
  p.tensor = buffer.tensor;
  p.offset = ValueOf(buffer.byte_offset + view.offset * bytes);
  for (size_t d = 0; d < spec.start.size(); ++d)
    if (strides[d] != 0) p.offset = Sum(p.offset, Times(spec.start[d], strides[d] * bytes));
  p.partitions = spec.partition.count;
  SetPartitionStep(p, strides[static_cast<size_t>(spec.partition.dim)] * spec.partition.multiple);
  int n = 0;
  for (const TileAxis& axis : spec.free) {
    const int64_t step = strides[static_cast<size_t>(axis.dim)] * axis.multiple;
    if (compact && step == 0) continue;
    p.dims[static_cast<size_t>(n++)] = DimOf(step, axis.count);
  }
  if (n == 0) p.dims[static_cast<size_t>(n++)] = {1, 1};
  p.num_dims = static_cast<uint8_t>(n);
  return p;
}

namespace {
StatusOr<Tile> Allocate(ColumnAllocator& memory, Memory which, DType dtype, Count partitions,
                        const std::vector<Count>& free) {
  Tile tile;
  int64_t step = 1;
  tile.pattern.memory = which;
  tile.pattern.dtype = TileDType(dtype);
  tile.pattern.partitions = partitions;
  tile.pattern.num_dims = static_cast<uint8_t>(std::max<size_t>(1, free.size()));
  if (free.empty()) tile.pattern.dims[0] = {1, 1};
  for (size_t i = free.size(); i-- > 0;) {
    tile.pattern.dims[i] = {step, free[i]};
    step *= free[i].max;
  }
  NEURON_ASSIGN_OR_RETURN(tile.address, memory.Allocate(step * ByteSize(dtype)));
  tile.pattern.offset = Affine(tile.address);
  return tile;
}
}  // namespace

StatusOr<Tile> EmitContext::AllocateTile(DType dtype, Count partitions,
                                         const std::vector<Count>& free) {
  return Allocate(sbuf, Memory::kSbuf, dtype, partitions, free);
}

StatusOr<Tile> EmitContext::AllocatePsum(DType dtype, Count partitions,
                                         const std::vector<Count>& free) {
  return Allocate(psum, Memory::kPsum, dtype, partitions, free);
}

void EmitContext::Free(const Tile& tile) {
  (tile.pattern.memory == Memory::kPsum ? psum : sbuf).Free(tile.address);
}

void EmitContext::DmaCopy(AccessPattern dst, AccessPattern src) {
  b.Emit(Opcode::dma_copy, Engine::kDma, {Simplified(dst), Simplified(src)});
}

void EmitContext::DmaTranspose(AccessPattern dst, AccessPattern src) {
  b.Emit(Opcode::dma_transpose, Engine::kDma, {Simplified(dst), Simplified(src)});
}

void EmitContext::TensorCopy(AccessPattern dst, AccessPattern src) {
  b.Emit(Opcode::tensor_copy, Engine::kVector, {Simplified(dst), Simplified(src)});
}

void EmitContext::Memset(AccessPattern dst, double value) {
  b.Emit(Opcode::memset, Engine::kVector, {Simplified(dst), value});
}

void EmitContext::TensorTensor(AccessPattern dst, AccessPattern a, AccessPattern c, AluOp op) {
  b.Emit(Opcode::tensor_tensor, op == AluOp::kPower ? Engine::kGpSimd : Engine::kVector,
         {Simplified(dst), Simplified(a), Simplified(c), op});
}

void EmitContext::TensorScalar(AccessPattern dst, AccessPattern data, AluOp op0, Operand operand0,
                               bool reverse0) {
  b.Emit(Opcode::tensor_scalar, Engine::kVector,
         {Simplified(dst), Simplified(data), op0, std::move(operand0), int64_t{reverse0}});
}

void EmitContext::TensorScalar2(AccessPattern dst, AccessPattern data, AluOp op0, Operand operand0,
                                bool reverse0, AluOp op1, Operand operand1, bool reverse1) {
  b.Emit(Opcode::tensor_scalar, Engine::kVector,
         {Simplified(dst), Simplified(data), op0, std::move(operand0), int64_t{reverse0}, op1,
          std::move(operand1), int64_t{reverse1}});
}

void EmitContext::Unary(AccessPattern dst, AccessPattern data, AluOp op) {
  TensorScalar(dst, data, op, 0.0);
}

void EmitContext::ScalarTensorTensor(AccessPattern dst, AccessPattern data, AluOp op0,
                                     Operand operand0, bool reverse0, AluOp op1,
                                     AccessPattern tensor, bool reverse1) {
  b.Emit(Opcode::scalar_tensor_tensor, Engine::kVector,
         {Simplified(dst), Simplified(data), op0, std::move(operand0), op1, Simplified(tensor),
          int64_t{reverse0}, int64_t{reverse1}});
}

void EmitContext::Activation(AccessPattern dst, isa::ActivationFunction function,
                             AccessPattern data) {
  b.Emit(Opcode::activation, Engine::kScalar, {Simplified(dst), function, Simplified(data)});
}

void EmitContext::Activation(AccessPattern dst, isa::ActivationFunction function,
                             AccessPattern data, Operand bias, Operand scale) {
  b.Emit(Opcode::activation, Engine::kScalar,
         {Simplified(dst), function, Simplified(data), std::move(bias), std::move(scale)});
}

void EmitContext::CopyPredicated(AccessPattern dst, Operand src, AccessPattern predicate) {
  if (auto* tile = std::get_if<AccessPattern>(&src)) *tile = Simplified(*tile);
  b.Emit(Opcode::tensor_copy_predicated, Engine::kVector,
         {Simplified(dst), std::move(src), Simplified(predicate)});
}

void EmitContext::TensorReduce(AccessPattern dst, AluOp op, AccessPattern data, int axes) {
  // The reduced dimensions are kept apart from the others while both are simplified.
  AccessPattern kept = data;
  AccessPattern reduced = data;
  kept.num_dims = static_cast<uint8_t>(data.num_dims - axes);
  if (kept.num_dims == 0) kept.num_dims = 1, kept.dims[0] = {1, 1};
  reduced.num_dims = static_cast<uint8_t>(axes);
  for (int i = 0; i < axes; ++i)
    reduced.dims[static_cast<size_t>(i)] =
        data.dims[static_cast<size_t>(data.num_dims) - static_cast<size_t>(axes - i)];
  kept = Simplified(kept);
  reduced = Simplified(reduced);
  const bool has_kept =
      !(kept.num_dims == 1 && kept.dims[0].count.is_constant() && kept.dims[0].count.max == 1);
  AccessPattern joined = data;
  int n = 0;
  if (has_kept)
    for (int i = 0; i < kept.num_dims; ++i)
      joined.dims[static_cast<size_t>(n++)] = kept.dims[static_cast<size_t>(i)];
  for (int i = 0; i < reduced.num_dims; ++i)
    joined.dims[static_cast<size_t>(n++)] = reduced.dims[static_cast<size_t>(i)];
  joined.num_dims = static_cast<uint8_t>(n);
  b.Emit(Opcode::tensor_reduce, Engine::kVector,
         {Simplified(dst), op, joined, int64_t{reduced.num_dims}});
}

void EmitContext::Iota(AccessPattern dst, std::span<const Dim> pattern, Affine offset,
                       int64_t channel_multiplier) {
  std::vector<int64_t> flat;
  for (const Dim& d : pattern) {
    flat.push_back(d.step);
    flat.push_back(d.count.max);
  }
  b.Emit(Opcode::iota, Engine::kGpSimd, {dst, std::move(flat), offset, channel_multiplier});
}

void EmitContext::Matmul(AccessPattern dst_psum, AccessPattern stationary, AccessPattern moving,
                         bool accumulate) {
  b.Emit(Opcode::nc_matmul, Engine::kTensor,
         {Simplified(dst_psum), Simplified(stationary), Simplified(moving), int64_t{accumulate}});
}

void EmitContext::RegisterLoad(Register dst, AccessPattern src) {
  b.Emit(Opcode::register_load, Engine::kSync, {isa::RegisterOperand{dst}, Simplified(src)});
}

void EmitContext::RegisterAlu(Register dst, const char* op, Affine a, Affine operand) {
  b.Emit(Opcode::register_alu, Engine::kSync,
         {isa::RegisterOperand{dst}, std::string(op), a, operand});
}

Affine EmitContext::Sum(const Affine& a, const Affine& b) {
  if (a.num_terms + b.num_terms <= Affine::kMaxTerms) return a + b;
  isa::RegisterDecl range{.min = 0, .max = 0};
  for (const Affine* x : {&a, &b}) {
    range.min += x->base;
    range.max += x->base;
    for (int i = 0; i < x->num_terms; ++i) {
      const Affine::Term& term = x->terms[static_cast<size_t>(i)];
      const isa::RegisterDecl& reg = this->b.program().registers[term.reg];
      range.min += std::min(term.coefficient * reg.min, term.coefficient * reg.max);
      range.max += std::max(term.coefficient * reg.min, term.coefficient * reg.max);
    }
  }
  const Register sum = this->b.AddRegister(range);
  RegisterAlu(sum, "add", a, b);
  return Affine::Of(sum);
}

void EmitContext::GpSimdKernel(std::string name, int64_t num_outputs,
                               std::vector<Operand> arguments) {
  std::vector<Operand> operands = {std::move(name), num_outputs};
  for (Operand& o : arguments) operands.push_back(std::move(o));
  b.Emit(Opcode::gpsimd_kernel, Engine::kGpSimd, std::move(operands));
}

void EmitContext::TensorTensorScan(AccessPattern dst, AccessPattern data0, AccessPattern data1,
                                   Operand initial, AluOp op0, AluOp op1) {
  b.Emit(Opcode::tensor_tensor_scan, Engine::kVector,
         {Simplified(dst), Simplified(data0), Simplified(data1), std::move(initial), op0, op1});
}

Buffer EmitContext::TemporaryBuffer(int64_t bytes) {
  if (temporary_ == Buffer::kNone)
    temporary_ = b.AddTensor({.name = "temporary", .kind = isa::TensorKind::kScratch});
  const Buffer buffer{temporary_, temporary_used_};
  temporary_used_ += (bytes + 63) / 64 * 64;
  int64_t& size = b.program().tensors[temporary_].bytes;
  size = std::max(size, temporary_used_);
  return buffer;
}

Buffer EmitContext::ConstantBuffer(const std::string& bytes) {
  for (const auto& [have, buffer] : constants_)
    if (have == bytes) return buffer;
  const uint16_t tensor = b.AddConstant(StrCat("constant", constants_.size()), bytes);
  constants_.emplace_back(bytes, Buffer{tensor, 0});
  return constants_.back().second;
}

void EmitContext::SetSource(const hlo::Instruction* instruction) {
  const std::string& text =
      instruction->metadata().empty() ? instruction->name() : instruction->metadata();
  if (text == last_source_) return;
  last_source_ = text;
  b.SetSource(b.AddSource(text));
}

}  // namespace neuron::compiler
