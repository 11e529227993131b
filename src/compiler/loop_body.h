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

#include <utility>
#include <vector>

#include "compiler/elementwise.h"
#include "compiler/emitter.h"
#include "compiler/loop_members.h"

namespace neuron::compiler {

class LoopBody {
 public:
  // Collapses the domain as far as all strides allow; kHero kernels keep theirs.
  static StatusOr<LoopBody> Create(EmitContext& ctx, const Kernel& kernel);

  // The domain that specs are about, and what its size costs.
  const LoopMembers& members() const { return all_; }

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
  LoopBody(EmitContext& ctx, const Kernel& kernel, LoopMembers all)
      : ctx_(&ctx), kernel_(&kernel), all_(std::move(all)) {}
  // One element per partition, which a step of zero spreads over the free axes.
  StatusOr<Tile> TileOfNumber(DType dtype, double number, const TileSpec& spec);
  StatusOr<HeldValue*> HeldOf(const LoopSource& source, const TileSpec& spec);
  Status EmitMember(int index, const TileSpec& spec);
  bool IsInvariant(const LoopMember& member) const;
  Status EmitReduce(LoopMember& member, const TileSpec& spec);
  Status Store(const LoopMember& member, const TileSpec& spec);
  void Release(int index);

  EmitContext* ctx_;
  const Kernel* kernel_;
  LoopMembers all_;
};

// Emits a kLoop kernel: geometry, loops and tails around a LoopBody.
Status EmitLoopKernel(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
