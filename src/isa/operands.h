// Positions of each instruction's operands: for code that reads or writes one by index. The row
// file of the instruction says what each means; its operand list has these positions (asserted).
//
//   const AccessPattern& dst = TileAt(instruction, nc_matmul_operands::kDst);
//   Emit(Opcode::tensor_copy, Engine::kVector, {dst, src});
// `kCount` is the number of declared operands; a variadic tail begins at its last one.
#pragma once

#include <cstddef>

namespace neuron::isa {

#define NEURON_OPERANDS(mnemonic, ...)                \
  namespace mnemonic##_operands {                     \
    enum Index : std::size_t { __VA_ARGS__, kCount }; \
  }

NEURON_OPERANDS(activate2, kDst, kOp, kData, kImm0, kImm1, kOp0, kOp1, kReluParam, kReverse0,
                kReverse1, kReduceOp, kReduceRes, kReduceCmd)
NEURON_OPERANDS(activation, kDst, kOp, kData, kBias, kScale, kReduceOp, kReduceRes, kReduceCmd,
                kAlpha)
NEURON_OPERANDS(activation_reduce, kDst, kOp, kData, kReduceOp, kReduceRes, kBias, kScale)
NEURON_OPERANDS(affine_select, kDst, kPattern, kChannelMultiplier, kOnTrueTile, kOnFalseValue,
                kCmpOp, kOffset)
NEURON_OPERANDS(bn_aggr, kDst, kData)
NEURON_OPERANDS(bn_stats, kDst, kData)
NEURON_OPERANDS(core_barrier, kData, kCores)
NEURON_OPERANDS(dma_compute, kDst, kOp, kIndex, kIndexSide, kIndexStep, kIndexBound, kOobMode,
                kSrcs)
NEURON_OPERANDS(dma_copy, kDst, kSrc, kIndex, kIndexSide, kIndexStep, kIndexBound, kOobMode,
                kPriority, kDgeMode, kTriggerEngine)
NEURON_OPERANDS(dma_transpose, kDst, kSrc, kIndex, kIndexSide, kIndexStep, kIndexBound, kOobMode,
                kPriority, kDgeMode)
NEURON_OPERANDS(dropout, kDst, kData, kProb)
NEURON_OPERANDS(exponential, kDst, kSrc, kMaxValue, kReduceRes, kReduceCmd, kReduceInit)
NEURON_OPERANDS(gpsimd_kernel, kName, kNumOutputs, kArguments)
NEURON_OPERANDS(iota, kDst, kPattern, kOffset, kChannelMultiplier)
NEURON_OPERANDS(local_gather, kDst, kSrcBuffer, kIndex, kNumElemPerIdx, kNumValidIndices)
NEURON_OPERANDS(loop_begin, kRegister, kBegin, kEnd, kStep)
NEURON_OPERANDS(max8, kDst, kSrc)
NEURON_OPERANDS(memset, kDst, kValue)
NEURON_OPERANDS(nc_find_index8, kDst, kData, kVals)
NEURON_OPERANDS(nc_match_replace8, kDst, kData, kVals, kImm, kDstIdx)
NEURON_OPERANDS(nc_matmul, kDst, kStationary, kMoving, kAccumulate, kIsTranspose, kPerfMode,
                kIsStationaryOnezero, kIsMovingOnezero, kTilePosition, kTileSize)
NEURON_OPERANDS(nc_matmul_mx, kDst, kStationary, kMoving, kStationaryScale, kMovingScale,
                kAccumulate, kTilePosition, kTileSize)
NEURON_OPERANDS(nc_n_gather, kDst, kData, kIndices)
NEURON_OPERANDS(nc_stream_shuffle, kDst, kSrc, kShuffleMask)
NEURON_OPERANDS(nc_transpose, kDst, kData)
NEURON_OPERANDS(nonzero_with_count, kDst, kSrc, kIndexOffset, kPaddingVal)
NEURON_OPERANDS(quantize_mx, kDst, kSrc, kDstScale)
NEURON_OPERANDS(rand2, kDst, kMin, kMax)
NEURON_OPERANDS(rand_get_state, kDst)
NEURON_OPERANDS(rand_set_state, kSrcSeeds)
NEURON_OPERANDS(range_select, kDst, kOnTrueTile, kCompOp0, kCompOp1, kBound0, kBound1, kReduceCmd,
                kReduceRes, kReduceOp, kRangeStart, kOnFalseValue)
NEURON_OPERANDS(reciprocal, kDst, kData)
NEURON_OPERANDS(register_alu, kDst, kOp, kA, kB)
NEURON_OPERANDS(register_load, kDst, kSrc)
NEURON_OPERANDS(register_store, kDst, kSrc)
NEURON_OPERANDS(rng, kDst)
NEURON_OPERANDS(scalar_tensor_tensor, kDst, kData, kOp0, kOperand0, kOp1, kOperand1, kReverse0,
                kReverse1)
NEURON_OPERANDS(select_reduce, kDst, kPredicate, kOnTrue, kOnFalse, kReduceRes, kReduceCmd,
                kReduceOp, kReversePred)
NEURON_OPERANDS(sendrecv, kSrc, kDst, kSendToRank, kRecvFromRank, kPipeId, kDmaEngine)
NEURON_OPERANDS(sequence_bounds, kDst, kSegmentIds)
NEURON_OPERANDS(set_rng_seed, kSrcSeeds)
NEURON_OPERANDS(tensor_copy, kDst, kSrc)
NEURON_OPERANDS(tensor_copy_predicated, kDst, kSrc, kPredicate, kReversePred)
NEURON_OPERANDS(tensor_partition_reduce, kDst, kOp, kData)
NEURON_OPERANDS(tensor_reduce, kDst, kOp, kData, kNumReduced, kNegate)
NEURON_OPERANDS(tensor_scalar, kDst, kData, kOp0, kOperand0, kReverse0, kOp1, kOperand1, kReverse1)
NEURON_OPERANDS(tensor_scalar_cumulative, kDst, kSrc, kOp0, kOp1, kImm0, kImm1, kReduceCmd)
NEURON_OPERANDS(tensor_scalar_reduce, kDst, kData, kOp0, kOperand0, kReduceOp, kReduceRes,
                kReverse0, kReduceCmd, kReduceInit, kReduceResNegate)
NEURON_OPERANDS(tensor_tensor, kDst, kData1, kData2, kOp)
NEURON_OPERANDS(tensor_tensor_scan, kDst, kData0, kData1, kInitial, kOp0, kOp1, kReverse0,
                kReverse1)
NEURON_OPERANDS(topk, kValDst, kIdxDst, kSrc, kN, kSorted)
NEURON_OPERANDS(while_begin, kCondition)
#undef NEURON_OPERANDS

// Values of enumerant operands (NKI's numbers).
enum class ReduceCmd { kIdle = 0, kReset = 1, kReduce = 2, kResetReduce = 3, kLoadReduce = 4 };
enum class OobMode { kError = 0, kSkip = 1 };
enum class DgeMode { kUnknown = 0, kSwdge = 1, kHwdge = 2, kNone = 3 };
enum class IndexSide { kSrc = 0, kDst = 1 };
enum class PerfMode { kNone = 0, kDoubleRow = 1 };
enum class DmaEngine { kDma = 1, kGpSimdDma = 2 };

}  // namespace neuron::isa
