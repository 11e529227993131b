// LoopBody: the members of a kernel computed on one tile of its iteration domain.
//
//   NEURON_ASSIGN_OR_RETURN(LoopBody body, LoopBody::Create(ctx, kernel));
//   NEURON_RETURN_IF_ERROR(body.Begin(spec_with_largest_counts));   // loads that no loop changes
//   loops: NEURON_RETURN_IF_ERROR(body.Emit(spec));
//   body.End();
// Loads what the members read, computes them in order and stores the kernel's results. Kernels
// with a hero give its value as a tile (`given`) and use the rest as their epilogue; so do chains
// with all their dots.
#pragma once

#include <functional>
#include <map>
#include <optional>

#include "compiler/elementwise.h"
#include "compiler/emitter.h"

namespace neuron::compiler {

class LoopBody {
 public:
  // Collapses the domain as far as all strides allow; kHero kernels keep theirs.
  static StatusOr<LoopBody> Create(EmitContext& ctx, const Kernel& kernel);

  // The domain that specs are about: kept dimensions, then reduced ones.
  const Dims& dims() const { return dims_; }
  int num_kept() const { return num_kept_; }
  // True if some input's neighbours in HBM lie along dimension `d` rather than the innermost one.
  bool IsTransposed(int d) const;
  // Bytes per partition that one element of a full tile needs while the body runs, at most.
  int64_t PeakBytesPerElement() const;

  // Bytes of the widest element that moves between HBM and the chip, if all rows are whole there;
  // else 0.
  int64_t WidestDenseBytes() const;

  // Loads what stays the same over the loops: `spec` has the largest counts of all specs, `looped`
  // says which dimensions start at different places.
  Status Begin(const TileSpec& spec, const std::vector<bool>& looped);
  // Loads, ahead of Emit, what has one element per partition, and computes indices: then nothing of
  // the kind stands between the instructions that work on whole rows.
  Status LoadRowValues(const TileSpec& spec);
  // `given`: tiles of members that the caller computed. Free axes that walk reduced dimensions
  // stand last and cover them whole.
  Status Emit(const TileSpec& spec,
              const std::vector<std::pair<const hlo::Instruction*, Tile>>& given = {});
  void End();
  // The tile of this member outlives Emit, for the caller to read, until ReleaseKept.
  void Keep(const hlo::Instruction* member);
  AccessPattern Kept(const hlo::Instruction* member, const TileSpec& spec) const;
  void ReleaseKept();

 private:
  // Where an operand comes from.
  struct Source {
    enum class Kind : uint8_t { kNumber, kRegister, kMember, kLoad };
    Kind kind = Kind::kNumber;
    double number = 0;
    Register reg = isa::kNoRegister;
    int index = -1;  // of the member or the load; of the register's load too
  };
  // A value on chip during Emit. The tile has the free axes of `axes` only (a bit per free axis):
  // the value does not vary along the others.
  struct Held {
    std::optional<Tile> tile;
    uint32_t axes = 0;
    bool owned = false;  // freed after its last use
  };
  struct Load {  // an input in HBM, or an iota (view.base)
    View view;
    Dims strides;       // per domain dimension
    int last_use = -1;  // member index
    bool invariant = false;
    Held held;
  };
  struct Member {
    const hlo::Instruction* instruction = nullptr;
    std::vector<Source> sources;
    int last_use = -1;  // member index; its own if it is only stored
    bool stored = false;
    View store;              // where it goes if it is stored
    Dims store_strides;      // of it, per domain dimension
    bool invariant = false;  // computed once, before the loops
    Held held;
  };

  LoopBody(EmitContext& ctx, const Kernel& kernel) : ctx_(&ctx), kernel_(&kernel) {}
  Status Resolve();
  void Collapse();
  StatusOr<Source> SourceOf(const hlo::Instruction* operand);
  StatusOr<Dims> DomainStrides(const View& view) const;
  bool IsFull(const hlo::Shape& shape) const;
  Status LoadTile(Load& load, const TileSpec& spec);
  // One element per partition, which a step of zero spreads over the free axes.
  StatusOr<Tile> TileOfNumber(DType dtype, double number, const TileSpec& spec);
  StatusOr<Held*> HeldOf(const Source& source, const TileSpec& spec);
  Status EmitMember(int index, const TileSpec& spec);
  bool IsInvariant(const Member& member) const;
  Status EmitReduce(Member& member, const TileSpec& spec);
  Status Store(const Member& member, const TileSpec& spec);
  void Release(int index);

  EmitContext* ctx_;
  const Kernel* kernel_;
  Dims dims_;
  int num_kept_ = 0;
  Dims kept_;                  // the domain's kept dims, before collapsing
  std::vector<int> position_;  // of each domain dim in dims_, before collapsing
  std::vector<Load> loads_;
  std::vector<Member> members_;
  std::vector<int> member_of_;  // by instruction id
};

// Emits a kLoop kernel: geometry, loops and tails around a LoopBody.
Status EmitLoopKernel(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
