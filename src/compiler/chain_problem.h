// A chain in the terms of the engines: which dimension of its body lies on partitions, which along
// the free axis, and how each of its dots walks them.
//
// The body is what the producers' results, the elementwise instructions and the row reductions
// share: a domain [outer..., row, column]. A block of rows, all columns of it, is on chip at once.
// Products come into it from producers, and leave it into consumers:
//
//   producer         x[row, column]    = stationary[k, row]^T moving[k, column]
//   row consumer     out[row, width]    = x^T[column, row]^T moving[column, width]
//   column consumer  out[column, width] = sum of row blocks: x[row, column]^T moving[row, width]
#pragma once

#include <functional>

#include "compiler/dot_problem.h"

namespace neuron::compiler {

// Of a consumer's result: what one PSUM bank holds in fp32.
inline constexpr int64_t kWidthAtOnce = 512;

struct ChainProducer {
  const Kernel* stage = nullptr;
  Dims k;
  DotOperand stationary, moving;  // domain: the body's dimensions
};

struct ChainConsumer {
  const Kernel* stage = nullptr;
  const hlo::Instruction* taken = nullptr;  // member of the body, one operand of the dot
  bool contracts_rows = false;              // a column consumer
  int64_t width = 0;
  DotOperand moving;  // domain: the body's dimensions, then the width; k: the contracted one
  // The result: its dimensions, and which of the body's each is; -1: the width.
  Kernel shaped;  // the stage, with that domain
  std::vector<int> body_dim;
  int row = 0, column = 0;  // dimensions of the result on partitions and along the free axis
};

struct ChainProblem {
  Kernel body;  // kHero without a hero: dots among its members are computed by the chain
  std::vector<ChainProducer> producers;
  std::vector<ChainConsumer> consumers;
  int row() const { return static_cast<int>(body.domain.size()) - 2; }
  int column() const { return static_cast<int>(body.domain.size()) - 1; }
  int64_t rows() const { return body.domain[body.domain.size() - 2]; }
  int64_t columns() const { return body.domain.back(); }
};

// Where a value is stored (placement.h, canonicalise.h).
using StoreOf = std::function<View(const hlo::Instruction*)>;

// nullopt if the stages do not fit together so. `results`: members that are written to HBM.
// Pointers go to `stages`, which must outlive the answer.
std::optional<ChainProblem> MakeChainProblem(const Plan& plan, std::span<const Kernel> stages,
                                             std::span<const hlo::Instruction* const> results,
                                             const StoreOf& store_of);

}  // namespace neuron::compiler
