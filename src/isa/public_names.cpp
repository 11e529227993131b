#include "isa/public_names.h"

#include <algorithm>

#include "base/status.h"
#include "isa/instruction.h"

namespace neuron::isa {
namespace {

constexpr PublicName kNames[] = {
    {"nc_matmul", "nc_matmul", "Tensor", "0.1"},
    {"nc_matmul_mx", "nc_matmul_mx", "Tensor", "0.2"},
    {"nc_transpose", "nc_transpose", "Tensor, Vector", "0.1"},
    {"activation", "activation", "Scalar", "0.1"},
    {"activation_reduce", "activation_reduce", "Scalar", "0.1"},
    {"activate2", "activate2", "Scalar", "0.5"},
    {"tensor_reduce", "tensor_reduce", "Vector", "0.1"},
    {"tensor_partition_reduce", "tensor_partition_reduce", "GpSimd", "0.1"},
    {"tensor_tensor", "tensor_tensor", "Vector, GpSimd", "0.1"},
    {"tensor_tensor_scan", "tensor_tensor_scan", "Vector", "0.1"},
    {"scalar_tensor_tensor", "scalar_tensor_tensor", "Vector", "0.1"},
    {"tensor_scalar", "tensor_scalar", "Vector, Scalar, GpSimd", "0.1"},
    {"tensor_scalar_reduce", "tensor_scalar_reduce", "Vector", "0.1"},
    {"tensor_scalar_cumulative", "tensor_scalar_cumulative", "Vector", "0.2"},
    {"tensor_copy", "tensor_copy", "Vector, Scalar, GpSimd", "0.1"},
    {"tensor_copy_predicated", "tensor_copy_predicated", "Vector", "0.1"},
    {"exponential", "exponential", "Vector", "0.2"},
    {"reciprocal", "reciprocal", "Vector", "0.1"},
    {"quantize_mx", "quantize_mx", "Vector", "0.2"},
    {"iota", "iota", "GpSimd", "0.1"},
    {"dropout", "dropout", "Vector", "0.1"},
    {"affine_select", "affine_select", "GpSimd", "0.1"},
    {"range_select", "range_select", "Vector", "0.1"},
    {"select_reduce", "select_reduce", "Vector", "0.1"},
    {"sequence_bounds", "sequence_bounds", "GpSimd", "0.1"},
    {"memset", "memset", "Vector, GpSimd", "0.1"},
    {"bn_stats", "bn_stats", "Vector", "0.1"},
    {"bn_aggr", "bn_aggr", "Vector", "0.1"},
    {"local_gather", "local_gather", "GpSimd", "0.1"},
    {"nc_n_gather", "nc_n_gather", "GpSimd", "0.2"},
    {"dma_copy", "dma_copy", "DMA", "0.1"},
    {"dma_transpose", "dma_transpose", "DMA", "0.1"},
    {"dma_compute", "dma_compute", "DMA", "0.2"},
    {"max8", "max8", "Vector", "0.1"},
    {"nc_find_index8", "nc_find_index8", "Vector", "0.1"},
    {"nc_match_replace8", "nc_match_replace8", "Vector", "0.1"},
    {"nc_stream_shuffle", "nc_stream_shuffle", "Vector", "0.1"},
    {"core_barrier", "core_barrier", "any", "0.2"},
    {"sendrecv", "sendrecv", "DMA", "0.2"},
    {"rng", "rng", "Vector, GpSimd", "0.2"},
    {"rand2", "rand2", "Vector", "0.2"},
    {"rand_set_state", "rand_set_state", "Vector, GpSimd", "0.2"},
    {"rand_get_state", "rand_get_state", "Vector, GpSimd", "0.2"},
    {"set_rng_seed", "set_rng_seed", "Vector", "0.2"},
    {"nonzero_with_count", "nonzero_with_count", "GpSimd", "0.2"},
    {"topk", "topk", "GpSimd", "0.6"},
    {"register_alloc", "register_alu", "sequencer", "0.2"},
    {"register_move", "register_alu", "sequencer", "0.2"},
    {"register_load", "register_load", "sequencer", "0.2"},
    {"register_store", "register_store", "sequencer", "0.2"},
    {"scalar_load", "register_load", "sequencer", "0.7"},
    {"scalar_store", "register_store", "sequencer", "0.7"},
};

}  // namespace

std::span<const PublicName> PublicNames() { return kNames; }

std::string CoveragePage() {
  size_t covered = 0;
  std::string rows;
  for (const PublicName& name : PublicNames()) {
    const auto opcode = OpcodeFromMnemonic(name.mnemonic);
    if (opcode) ++covered;
    const InstructionDef* row = opcode ? &DefOf(*opcode) : nullptr;
    rows += StrCat("| ", name.name, " | ", name.engines, " | ", name.since, " | ",
                   row != nullptr ? row->mnemonic : "**missing**", " | ",
                   row == nullptr                ? ""
                   : row->since == Target::kTrn2 ? "trn2, trn3"
                                                 : "trn3",
                   " | ", row != nullptr ? row->cost_doc : "", " |\n");
  }
  std::string ours;
  for (const InstructionDef* row : InstructionTable())
    if (std::none_of(std::begin(kNames), std::end(kNames),
                     [row](const PublicName& name) { return name.mnemonic == row->mnemonic; }))
      ours += StrCat(ours.empty() ? "" : ", ", row->mnemonic);
  return StrCat(
      "<!-- Generated from the tables of src/isa; edit there, run `make generate`. -->\n"
      "# Instruction coverage\n\nThe public instructions of `nki.isa` and the row of our table "
      "that stands behind each: ",
      covered, " of ", PublicNames().size(), ".\nSource of the names: ", kPublicNamesSource,
      ".\nWhat each row takes and computes: [instruction set](isa.md). Costs are cycles (N: "
      "elements per partition).\n\n| nki.isa | engines | NKI | row | chips | cost "
      "|\n|---|---|---|---|---|---|\n",
      rows, "\nRows that are no public instruction (control flow, our extensions): ", ours, ".\n");
}

}  // namespace neuron::isa
