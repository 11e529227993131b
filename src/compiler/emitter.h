// EmitContext: what every kernel emitter needs. The program being built, where values live in HBM,
// the on-chip memories, and one helper per instruction, so that operand order stands in one place.
//
//   NEURON_ASSIGN_OR_RETURN(Tile x, ctx.AllocateTile(DType::kF32, rows, {columns}));
//   ctx.DmaCopy(x.pattern, ctx.HbmPattern(view, spec));
//   ctx.Activation(x.pattern, isa::ActivationFunction::kExp, x.pattern);
//   ctx.Free(x);
// Emission order is program order. A kernel frees what it allocates.
#pragma once

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/kernel_plan.h"
#include "compiler/sbuf_allocator.h"
#include "isa/program_builder.h"

namespace neuron::compiler {

using isa::AccessPattern;
using isa::Affine;
using isa::Count;
using isa::Register;

// Where a value's bytes start in HBM.
struct Buffer {
  static constexpr uint16_t kNone = 0xffff;
  uint16_t tensor = kNone;
  int64_t byte_offset = 0;
  bool valid() const { return tensor != kNone; }
};

// A tile of an iteration domain with dims (d0, d1, ...): partition p and free indices f_j name the
// domain index start + sum over axes. An axis walks one domain dimension; several axes may walk the
// same one (a flat dimension split into partitions of F elements: multiples F and 1).
struct TileAxis {
  int dim = 0;
  int64_t multiple = 1;
  Count count = 1;
};
struct TileSpec {
  std::vector<Affine> start;  // per domain dimension
  TileAxis partition;
  std::vector<TileAxis> free;  // outermost first, at most 4
  int64_t FreeElements() const;
};

// On-chip storage of one value. `pattern` has one dimension per free axis of the spec it was made
// for (step 0 where the value does not vary).
struct Tile {
  AccessPattern pattern;
  int64_t address = -1;  // of the allocation, for Free
};

// isa's dtype for an HLO dtype: pred is stored and computed as u8.
DType TileDType(DType dtype);
// Neighbouring free dimensions that one (step, count) can say are merged: the engines' limits on
// free dimensions are on what remains.
AccessPattern Simplified(AccessPattern pattern);

class EmitContext {
 public:
  EmitContext(const Options& options, const Plan& plan, isa::ProgramBuilder& builder);

  const Options& options;
  const Plan& plan;
  isa::ProgramBuilder& b;
  ColumnAllocator sbuf, psum;

  // ---- HBM -----------------------------------------------------------------------------------
  Buffer BufferOf(const hlo::Instruction* value) const;  // aborts if it has none
  bool HasBuffer(const hlo::Instruction* value) const;
  void SetBuffer(const hlo::Instruction* value, Buffer buffer);
  // Where a result's elements go: all of its own buffer, or a view of a parameter's.
  View StoreOf(const hlo::Instruction* value) const;
  void SetStore(const hlo::Instruction* value, View view);
  // Rank-0 run-time scalar in the scalar block: its register, or kNoRegister.
  Register ScalarRegister(const hlo::Instruction* value) const;
  void SetScalar(const hlo::Instruction* value, Register reg, int64_t slot);

  // The elements of `view`'s buffer at a tile; `strides` per domain dimension (elements of
  // view.dtype). Axes along which all strides are 0 are dropped from the free dims if `compact`.
  AccessPattern HbmPattern(const View& view, const Dims& strides, const TileSpec& spec,
                           bool compact = false);

  // ---- The run-time extent (hlo/extent.h) ------------------------------------------------------
  // Sizes, counts and addresses that depend on it come from registers that the program computes
  // before anything else. Static numbers stay constants.
  Register extent() const { return extent_; }
  void SetExtent(Register reg) { extent_ = reg; }
  bool IsRunTime(int64_t n) const;
  int64_t AtBound(int64_t n) const;
  Affine ValueOf(int64_t n);
  Count CountOf(int64_t n);
  Register RegisterOf(int64_t n);
  // Of the tiles that n splits into: n / tile * tile, the end of the whole ones.
  Affine EndOfWhole(int64_t n, int64_t tile);
  // A register computed in the prologue, in [0, most]; equal ones are one.
  Register Computed(const char* op, const Affine& a, const Affine& b, int64_t most);
  // index * stride, which may depend on the extent.
  Affine Times(const Affine& index, int64_t stride);
  // From there on: body runs once, or not at all where `count` is 0.
  template <typename Body>
  Status IfAny(Register count, const Body& body) {
    b.LoopBegin(Affine(0), Affine::Of(Computed("min", Affine::Of(count), Affine(1), 1)), 1, 0);
    NEURON_RETURN_IF_ERROR(body());
    b.LoopEnd();
    return OkStatus();
  }
  void SetPartitionStep(AccessPattern& pattern, int64_t step);
  isa::Dim DimOf(int64_t step, Count count);
  // What register arithmetic was needed for; puts the prologue before the program. Unimplemented if
  // a number was met that no extent gives.
  Status FinishExtents();

  // ---- On-chip memory ------------------------------------------------------------------------
  // Row-major [partitions][free...] in SBUF. PSUM: 2 KiB banks, f32.
  StatusOr<Tile> AllocateTile(DType dtype, Count partitions, const std::vector<Count>& free);
  StatusOr<Tile> AllocatePsum(DType dtype, Count partitions, const std::vector<Count>& free);
  void Free(const Tile& tile);

  // ---- Instructions --------------------------------------------------------------------------
  void DmaCopy(AccessPattern dst, AccessPattern src);
  void DmaTranspose(AccessPattern dst, AccessPattern src);  // dst[f, p] = src[p, f]
  void TensorCopy(AccessPattern dst, AccessPattern src);
  void Memset(AccessPattern dst, double value);
  void TensorTensor(AccessPattern dst, AccessPattern a, AccessPattern b, isa::AluOp op);
  // dst = (data op0 operand0) op1 operand1; reverse swaps an operator's sides.
  void TensorScalar(AccessPattern dst, AccessPattern data, isa::AluOp op0, isa::Operand operand0,
                    bool reverse0 = false);
  void TensorScalar2(AccessPattern dst, AccessPattern data, isa::AluOp op0, isa::Operand operand0,
                     bool reverse0, isa::AluOp op1, isa::Operand operand1, bool reverse1);
  void Unary(AccessPattern dst, AccessPattern data, isa::AluOp op);  // unary ALU operator
  // dst = (data op0 operand0) op1 tensor
  void ScalarTensorTensor(AccessPattern dst, AccessPattern data, isa::AluOp op0,
                          isa::Operand operand0, bool reverse0, isa::AluOp op1,
                          AccessPattern tensor, bool reverse1);
  void Activation(AccessPattern dst, isa::ActivationFunction function, AccessPattern data);
  void Activation(AccessPattern dst, isa::ActivationFunction function, AccessPattern data,
                  isa::Operand bias, isa::Operand scale);
  // Where predicate is not 0: dst = src. src: a tile, or a number.
  void CopyPredicated(AccessPattern dst, isa::Operand src, AccessPattern predicate);
  // Reduces the innermost `axes` free dimensions of data.
  void TensorReduce(AccessPattern dst, isa::AluOp op, AccessPattern data, int axes);
  // r[i] = (data0[i] op0 r[i - 1]) op1 data1[i] along the free dimension.
  void TensorTensorScan(AccessPattern dst, AccessPattern data0, AccessPattern data1,
                        isa::Operand initial, isa::AluOp op0, isa::AluOp op1);
  // value = offset + partition * multiplier + sum of index * dims[j].step, over dst's elements.
  void Iota(AccessPattern dst, std::span<const isa::Dim> pattern, Affine offset,
            int64_t channel_multiplier);
  void Matmul(AccessPattern dst_psum, AccessPattern stationary, AccessPattern moving,
              bool accumulate);
  void RegisterLoad(Register dst, AccessPattern src);
  // "add", "sub", "mul", "min", "max", "floordiv", "mod"
  void RegisterAlu(Register dst, const char* op, Affine a, Affine operand);
  // a + b; through a register where the expression would have too many terms.
  Affine Sum(const Affine& a, const Affine& b);
  // Arguments: the kernel's output tiles first, then inputs and integers (gpsimd.h).
  void GpSimdKernel(std::string name, int64_t num_outputs, std::vector<isa::Operand> arguments);

  // HBM for one kernel's intermediates: gone when the next kernel begins.
  Buffer TemporaryBuffer(int64_t bytes);
  void BeginKernel() { temporary_used_ = 0; }
  // A constant tensor in the container; equal bytes share one.
  Buffer ConstantBuffer(const std::string& bytes);
  void SetSource(const hlo::Instruction* instruction);  // of the instructions that follow

 private:
  struct ScalarPlace {
    Register reg = isa::kNoRegister;
    int64_t slot = -1;
  };
  std::vector<Buffer> buffers_;       // by instruction id
  std::vector<ScalarPlace> scalars_;  // by instruction id
  std::unordered_map<const hlo::Instruction*, View> stores_;
  std::vector<std::pair<std::string, Buffer>> constants_;
  std::string last_source_;
  struct ComputedRegister {
    std::string op;
    Affine a, b;
    Register reg;
  };
  Register extent_ = isa::kNoRegister;
  std::vector<ComputedRegister> computed_;
  std::vector<isa::Instruction> prologue_;
  bool meaningless_ = false;  // a number was no size at all
  uint16_t temporary_ = Buffer::kNone;
  int64_t temporary_used_ = 0;
};

}  // namespace neuron::compiler
