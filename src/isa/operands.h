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

NEURON_OPERANDS(activation, kDst, kOp, kData, kBias, kScale, kReduceOp, kReduceRes, kReduceCmd,
                kAlpha)
NEURON_OPERANDS(activation_reduce, kDst, kOp, kData, kReduceOp, kReduceRes, kBias, kScale)
NEURON_OPERANDS(affine_select, kDst, kPattern, kChannelMultiplier, kOnTrueTile, kOnFalseValue,
                kCmpOp, kOffset)
NEURON_OPERANDS(bn_aggr, kDst, kData)
NEURON_OPERANDS(bn_stats, kDst, kData)
NEURON_OPERANDS(dma_compute, kDst, kOp, kIndex, kIndexSide, kIndexStep, kIndexBound, kOobMode,
                kSrcs)
NEURON_OPERANDS(dma_copy, kDst, kSrc, kIndex, kIndexSide, kIndexStep, kIndexBound, kOobMode)
NEURON_OPERANDS(dma_transpose, kDst, kSrc)
NEURON_OPERANDS(gpsimd_kernel, kName, kNumOutputs, kArguments)
NEURON_OPERANDS(iota, kDst, kPattern, kOffset, kChannelMultiplier)
NEURON_OPERANDS(loop_begin, kRegister, kBegin, kEnd, kStep)
NEURON_OPERANDS(max8, kDst, kSrc)
NEURON_OPERANDS(memset, kDst, kValue)
NEURON_OPERANDS(nc_find_index8, kDst, kData, kVals)
NEURON_OPERANDS(nc_matmul, kDst, kStationary, kMoving, kAccumulate, kIsTranspose, kPerfMode)
NEURON_OPERANDS(nc_transpose, kDst, kData)
NEURON_OPERANDS(reciprocal, kDst, kData)
NEURON_OPERANDS(register_alu, kDst, kOp, kA, kB)
NEURON_OPERANDS(register_load, kDst, kSrc)
NEURON_OPERANDS(scalar_tensor_tensor, kDst, kData, kOp0, kOperand0, kOp1, kOperand1, kReverse0,
                kReverse1)
NEURON_OPERANDS(tensor_copy, kDst, kSrc)
NEURON_OPERANDS(tensor_copy_predicated, kDst, kSrc, kPredicate, kReversePred)
NEURON_OPERANDS(tensor_partition_reduce, kDst, kOp, kData)
NEURON_OPERANDS(tensor_reduce, kDst, kOp, kData, kNumReduced, kNegate)
NEURON_OPERANDS(tensor_scalar, kDst, kData, kOp0, kOperand0, kReverse0, kOp1, kOperand1, kReverse1)
NEURON_OPERANDS(tensor_scalar_reduce, kDst, kData, kOp0, kOperand0, kReduceOp, kReduceRes,
                kReverse0, kReduceCmd, kReduceInit, kReduceResNegate)
NEURON_OPERANDS(tensor_tensor, kDst, kData1, kData2, kOp)
NEURON_OPERANDS(tensor_tensor_scan, kDst, kData0, kData1, kInitial, kOp0, kOp1, kReverse0,
                kReverse1)
#undef NEURON_OPERANDS

// Values of enumerant operands (NKI's numbers).
enum class ReduceCmd { kIdle = 0, kReset = 1, kReduce = 2, kResetReduce = 3, kLoadReduce = 4 };
enum class OobMode { kError = 0, kSkip = 1 };
enum class IndexSide { kSrc = 0, kDst = 1 };
enum class PerfMode { kNone = 0, kDoubleRow = 1 };

}  // namespace neuron::isa
