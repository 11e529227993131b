// Fusion: a plan's kernels under construction, and which instructions can be members of which.
//
// An instruction can join a kernel whose iteration domain, refined if need be, holds it and all
// that is there already. Values that are deferred are computed by each kernel that reads them
// first.
#pragma once

#include <set>
#include <vector>

#include "compiler/kernel_plan.h"
#include "compiler/reduction.h"

namespace neuron::compiler {

class Fusion {
 public:
  // `breaks`: ids of instructions that open a kernel. Kernels are added to `plan`.
  Fusion(Plan& plan, const CanonicalModule& canonical, const std::set<int64_t>& breaks)
      : plan_(plan), canonical_(canonical), breaks_(breaks), deferred_(plan.kernel_of.size()) {}

  void Defer(const hlo::Instruction& x) { deferred_[static_cast<size_t>(x.id())] = true; }
  // True from there on, until a kernel computes it.
  bool IsDeferred(const hlo::Instruction* x) const {
    return deferred_[static_cast<size_t>(x->id())] && plan_.KernelOf(x) < 0;
  }

  // A kernel for `x`.
  void Open(const hlo::Instruction& x, KernelKind kind);
  // Kernels for the deferred values that `x` reads.
  void OpenScalars(const hlo::Instruction& x);
  // `x` becomes a member of kernel `index`; false, and nothing has changed, if it cannot.
  bool Join(const hlo::Instruction& x, int index, KernelKind kind);
  // Kernels of x's other operands become a part of its own, `index`, where they can: a sum of two
  // products is one kernel, though the products have nothing in common.
  void TakeIn(const hlo::Instruction& x, int index);

 private:
  int64_t AtBound(int64_t n) const;
  bool ReadsDeferred(const hlo::Instruction& x) const;
  void TakeScalars(const hlo::Instruction& x, int index, Kernel& kernel);
  void Add(const hlo::Instruction& x, int index, Kernel kernel);
  bool JoinEpilogue(const hlo::Instruction& x, int index);
  bool OperandsLieOn(const hlo::Instruction& x, int index, const Kernel& k) const;
  bool OthersStillFit(const Kernel& k) const;
  void Merge(int from, int to);

  Plan& plan_;
  const CanonicalModule& canonical_;
  const std::set<int64_t>& breaks_;
  std::set<int> sealed_;        // kernels that a break opened
  std::vector<bool> deferred_;  // by instruction id
};

}  // namespace neuron::compiler
