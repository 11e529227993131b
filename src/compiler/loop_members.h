// LoopMembers: what a kernel's members read and write and where it lies, resolved over the kernel's
// iteration domain before anything is emitted.
#pragma once

#include <optional>
#include <vector>

#include "compiler/emitter.h"

namespace neuron::compiler {

// A value on chip. The tile has the free axes of `axes` only (a bit per free axis of the tile
// spec): the value does not vary along the others.
struct HeldValue {
  std::optional<Tile> tile;
  uint32_t axes = 0;
  bool owned = false;  // freed after its last use

  // The tile as the free axes `keep` of `spec` see it.
  AccessPattern On(const TileSpec& spec, uint32_t keep) const;
};
// The counts of these free axes of `spec`.
std::vector<Count> CountsOf(const TileSpec& spec, uint32_t axes);

// Where an operand comes from.
struct LoopSource {
  enum class Kind : uint8_t { kNumber, kRegister, kMember, kLoad };
  Kind kind = Kind::kNumber;
  double number = 0;
  Register reg = isa::kNoRegister;
  int index = -1;  // of the member or the load; of the register's load too
};

struct LoopLoad {  // an input in HBM, or an iota (view.base)
  View view;
  Dims strides;       // per domain dimension
  int last_use = -1;  // member index
  bool invariant = false;
  HeldValue held;
};

struct LoopMember {
  const hlo::Instruction* instruction = nullptr;
  std::vector<LoopSource> sources;
  int last_use = -1;  // member index; its own if it is only stored
  bool stored = false;
  View store;              // where it goes if it is stored
  Dims store_strides;      // of it, per domain dimension
  bool invariant = false;  // computed once, before the loops
  HeldValue held;
};

struct LoopMembers {
  Dims dims;  // kept dimensions, then reduced ones
  int num_kept = 0;
  int64_t num_elements = 0;  // of the domain
  std::vector<LoopLoad> loads;
  std::vector<LoopMember> members;
  std::vector<int> member_of;  // by instruction id; -1: none

  LoopMember& Of(const hlo::Instruction* x) {
    return members[static_cast<size_t>(member_of[static_cast<size_t>(x->id())])];
  }
  const LoopMember& Of(const hlo::Instruction* x) const {
    return members[static_cast<size_t>(member_of[static_cast<size_t>(x->id())])];
  }
  // True for values with an element at each place of the domain.
  bool IsFull(const hlo::Shape& shape) const { return shape.num_elements() == num_elements; }

  // True if some input's neighbours in HBM lie along dimension `d` rather than the innermost one.
  bool IsTransposed(int d) const;
  // Bytes per partition that one element of a full tile needs while the body runs, at most.
  int64_t PeakBytesPerElement() const;
  // Bytes of the widest element that moves between HBM and the chip, if all rows are whole there;
  // else 0.
  int64_t WidestDenseBytes() const;
};

// True if the instruction's tile is its operand's.
bool IsAlias(const hlo::Instruction& op);

// Collapses the domain as far as all strides allow; kHero kernels keep theirs.
StatusOr<LoopMembers> ResolveMembers(EmitContext& ctx, const Kernel& kernel);

}  // namespace neuron::compiler
