#include "emulator/batch.h"

#include <algorithm>

#include "emulator/matmul_chain.h"
#include "emulator/parallel.h"
#include "emulator/program.h"
#include "emulator/region.h"
#include "emulator/strided_copy.h"
#include "emulator/transpose.h"

namespace neuron::emulator {
namespace {

constexpr uint32_t kLeastLoads = 4;  // else the threads would not be evenly busy
constexpr uint32_t kMostLoads = 64;  // each is compared with all before it

// A transfer from HBM onto the chip, whose shape is known.
bool IsLoad(const Operation& op) {
  if (!IsCopy(op) && !IsTranspose(op)) return false;
  return op.tiles.size() == 2 && !op.tiles[0].hbm && op.tiles[1].hbm && !op.tiles[0].dynamic &&
         !op.tiles[1].dynamic;
}

double LoadNs(const Operation& op) {
  const TileShape& shape = op.tiles[0].shape;
  return static_cast<double>(shape.rows * shape.elements * shape.element_bytes) * 0.1;
}

}  // namespace

std::vector<std::unique_ptr<Batch>> FindBatches(const isa::Program& program,
                                                const std::vector<Step>& steps) {
  std::vector<std::unique_ptr<Batch>> batches;
  const auto count = static_cast<uint32_t>(steps.size());
  const auto is_free = [&](uint32_t i) {
    return steps[i].control.kind == StepControl::Kind::kOperation && steps[i].group == nullptr;
  };
  for (uint32_t i = 0; i < count;) {
    if (steps[i].group != nullptr) {
      i = steps[i].group->last;
      continue;
    }
    Batch batch{.first = i, .last = i};
    if (is_free(i) && StartsChain(steps[i].operation)) {
      batch.matmuls = true;
      do {
        batch.estimated_ns += MatmulNs(steps[batch.last].operation);
        ++batch.last;
      } while (batch.last < count && is_free(batch.last) &&
               ContinuesChain(steps[i].operation, steps[batch.last].operation));
    } else {
      while (batch.last < count && is_free(batch.last) && batch.last - i < kMostLoads &&
             IsLoad(steps[batch.last].operation)) {
        const TileRef& to = steps[batch.last].operation.tiles[0];
        bool disjoint = true;
        for (uint32_t j = i; disjoint && j < batch.last; ++j)
          disjoint = Disjoint(program, steps[j].operation.tiles[0], to);
        if (!disjoint) break;
        batch.estimated_ns += LoadNs(steps[batch.last].operation);
        ++batch.last;
      }
    }
    const uint32_t length = batch.last - batch.first;
    if (length >= (batch.matmuls ? 2 : kLeastLoads) && batch.estimated_ns >= kWorthwhileNs)
      batches.push_back(std::make_unique<Batch>(batch));
    i = std::max(batch.last, i + 1);
  }
  return batches;
}

Status ExecuteBatch(const Batch& batch, const std::vector<Step>& steps, Execution& execution) {
  std::vector<const Operation*> operations;
  for (uint32_t i = batch.first; i < batch.last; ++i) operations.push_back(&steps[i].operation);
  if (batch.matmuls) return ExecuteChain(operations, batch.estimated_ns, execution);
  std::vector<Status> results(operations.size());
  ParallelFor(static_cast<int64_t>(operations.size()), 1, batch.estimated_ns,
              [&](int64_t from, int64_t to) {
                for (int64_t i = from; i < to; ++i) {
                  const auto k = static_cast<size_t>(i);
                  results[k] = operations[k]->execute(*operations[k], execution);
                }
              });
  for (Status& status : results) NEURON_RETURN_IF_ERROR(std::move(status));
  return OkStatus();
}

}  // namespace neuron::emulator
