// What the fusion pass decides: which instructions are computed together, in which order, and which
// values get HBM buffers.
//
// A Kernel is a stretch of the program between HBM and HBM. Its members are the instructions that
// it computes; view operations are no members: whoever reads a value follows ViewOf(operand) to a
// buffer or to a member of the same kernel. Kernels stand in execution order; a member reads
// parameters, constants, results of earlier kernels and members of its own kernel, nothing else.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "compiler/canonicalise.h"
#include "compiler/views.h"

namespace neuron::compiler {

enum class KernelKind : uint8_t {
  kLoop,   // elementwise members over one iteration domain, with reductions along its rows
  kWide,   // elementwise members of which some compute on wide numbers: one GpSimd kernel
  kHero,   // what hero's opcode says (dot, convolution, pad, ...), then an elementwise epilogue
  kChain,  // several of the above whose values pass from one to the next on chip (chain.h)
};

struct Kernel {
  KernelKind kind = KernelKind::kLoop;
  const hlo::Instruction* hero = nullptr;        // kHero; the first member
  std::vector<const hlo::Instruction*> members;  // topological order, hero included
  std::vector<const hlo::Instruction*> results;  // members that are written to HBM
  // The iteration domain, row major: the dims of a full member's value, possibly finer than its
  // shape's. Row members have the dims that are not reduced; all others have one element.
  // kHero: exactly the dims of hero's result.
  Dims domain;
  std::vector<bool> reduced;
  std::vector<Kernel> stages;  // kChain: the kernels it was made of, in order; results as before
};

// A kernel was parted, since its tiles do not fit SBUF.
struct Spill {
  const hlo::Instruction* at = nullptr;         // opens the second part
  std::vector<const hlo::Instruction*> values;  // go to HBM and come back
  int64_t bytes_needed = 0, bytes_there = 0;    // per partition
};

struct Plan {
  std::vector<Kernel> kernels;
  std::vector<int> kernel_of;  // by instruction id: index of its kernel, -1: none
  std::vector<View> view_of;   // by instruction id; base == the instruction: not a view
  // Values that are stored in the buffer of another one, and where there (placement.h).
  std::unordered_map<const hlo::Instruction*, View> places;
  std::vector<Spill> spills;
  int64_t extent_bound = 0;  // of the run-time extent, 0 if there is none

  const View& ViewOf(const hlo::Instruction* x) const {
    return view_of[static_cast<size_t>(x->id())];
  }
  int KernelOf(const hlo::Instruction* x) const { return kernel_of[static_cast<size_t>(x->id())]; }
};

StatusOr<Plan> PlanKernels(const CanonicalModule& canonical);
std::string ToText(const Plan& plan);

}  // namespace neuron::compiler
