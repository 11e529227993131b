// XLA's instruction set: (enumerator, HLO text name, arity; -1 is variadic).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace neuron::hlo {

#define NEURON_HLO_OPCODES(V)                               \
  V(Abs, "abs", 1)                                          \
  V(Add, "add", 2)                                          \
  V(AllGather, "all-gather", -1)                            \
  V(AllGatherStart, "all-gather-start", -1)                 \
  V(AllGatherDone, "all-gather-done", 1)                    \
  V(AllReduce, "all-reduce", -1)                            \
  V(AllReduceStart, "all-reduce-start", -1)                 \
  V(AllReduceDone, "all-reduce-done", 1)                    \
  V(AllToAll, "all-to-all", -1)                             \
  V(And, "and", 2)                                          \
  V(Atan2, "atan2", 2)                                      \
  V(BatchNormGrad, "batch-norm-grad", 5)                    \
  V(BatchNormInference, "batch-norm-inference", 5)          \
  V(BatchNormTraining, "batch-norm-training", 3)            \
  V(BitcastConvert, "bitcast-convert", 1)                   \
  V(Broadcast, "broadcast", 1)                              \
  V(Call, "call", -1)                                       \
  V(Cbrt, "cbrt", 1)                                        \
  V(Ceil, "ceil", 1)                                        \
  V(Cholesky, "cholesky", 1)                                \
  V(Clamp, "clamp", 3)                                      \
  V(Clz, "count-leading-zeros", 1)                          \
  V(CollectiveBroadcast, "collective-broadcast", -1)        \
  V(CollectivePermute, "collective-permute", -1)            \
  V(CollectivePermuteStart, "collective-permute-start", -1) \
  V(CollectivePermuteDone, "collective-permute-done", 1)    \
  V(Compare, "compare", 2)                                  \
  V(Complex, "complex", 2)                                  \
  V(Concatenate, "concatenate", -1)                         \
  V(Conditional, "conditional", -1)                         \
  V(Constant, "constant", 0)                                \
  V(Convert, "convert", 1)                                  \
  V(Convolution, "convolution", 2)                          \
  V(Copy, "copy", 1)                                        \
  V(Cos, "cosine", 1)                                       \
  V(CustomCall, "custom-call", -1)                          \
  V(Divide, "divide", 2)                                    \
  V(Dot, "dot", 2)                                          \
  V(DynamicReshape, "dynamic-reshape", -1)                  \
  V(DynamicSlice, "dynamic-slice", -1)                      \
  V(DynamicUpdateSlice, "dynamic-update-slice", -1)         \
  V(Erf, "erf", 1)                                          \
  V(Exp, "exponential", 1)                                  \
  V(Expm1, "exponential-minus-one", 1)                      \
  V(Fft, "fft", 1)                                          \
  V(Floor, "floor", 1)                                      \
  V(Fusion, "fusion", -1)                                   \
  V(Gather, "gather", 2)                                    \
  V(GetDimensionSize, "get-dimension-size", 1)              \
  V(GetTupleElement, "get-tuple-element", 1)                \
  V(Imag, "imag", 1)                                        \
  V(Iota, "iota", 0)                                        \
  V(IsFinite, "is-finite", 1)                               \
  V(Log, "log", 1)                                          \
  V(Log1p, "log-plus-one", 1)                               \
  V(Logistic, "logistic", 1)                                \
  V(Map, "map", -1)                                         \
  V(Maximum, "maximum", 2)                                  \
  V(Minimum, "minimum", 2)                                  \
  V(Multiply, "multiply", 2)                                \
  V(Negate, "negate", 1)                                    \
  V(Not, "not", 1)                                          \
  V(OptimizationBarrier, "opt-barrier", 1)                  \
  V(Or, "or", 2)                                            \
  V(Pad, "pad", 2)                                          \
  V(Parameter, "parameter", 0)                              \
  V(PartitionId, "partition-id", 0)                         \
  V(Popcnt, "popcnt", 1)                                    \
  V(Power, "power", 2)                                      \
  V(Real, "real", 1)                                        \
  V(Reduce, "reduce", -1)                                   \
  V(ReducePrecision, "reduce-precision", 1)                 \
  V(ReduceScatter, "reduce-scatter", -1)                    \
  V(ReduceWindow, "reduce-window", -1)                      \
  V(Remainder, "remainder", 2)                              \
  V(ReplicaId, "replica-id", 0)                             \
  V(Reshape, "reshape", 1)                                  \
  V(Reverse, "reverse", 1)                                  \
  V(Rng, "rng", -1)                                         \
  V(RngBitGenerator, "rng-bit-generator", 1)                \
  V(RoundNearestAfz, "round-nearest-afz", 1)                \
  V(RoundNearestEven, "round-nearest-even", 1)              \
  V(Rsqrt, "rsqrt", 1)                                      \
  V(Scatter, "scatter", -1)                                 \
  V(Select, "select", 3)                                    \
  V(SelectAndScatter, "select-and-scatter", 3)              \
  V(SetDimensionSize, "set-dimension-size", 2)              \
  V(ShiftLeft, "shift-left", 2)                             \
  V(ShiftRightArithmetic, "shift-right-arithmetic", 2)      \
  V(ShiftRightLogical, "shift-right-logical", 2)            \
  V(Sign, "sign", 1)                                        \
  V(Sin, "sine", 1)                                         \
  V(Slice, "slice", 1)                                      \
  V(Sort, "sort", -1)                                       \
  V(Sqrt, "sqrt", 1)                                        \
  V(Subtract, "subtract", 2)                                \
  V(Tan, "tan", 1)                                          \
  V(Tanh, "tanh", 1)                                        \
  V(TopK, "topk", 1)                                        \
  V(Transpose, "transpose", 1)                              \
  V(TriangularSolve,                                        \
    "triangular-"                                           \
    "solve",                                                \
    2)                                                      \
  V(Tuple, "tuple", -1)                                     \
  V(While, "while", 1)                                      \
  V(Xor, "xor", 2)

enum class Opcode : uint8_t {
#define V(name, text, arity) k##name,
  NEURON_HLO_OPCODES(V)
#undef V
};

std::vector<Opcode> AllOpcodes();
std::string_view OpcodeName(Opcode opcode);
std::string_view OpcodeBuilderName(Opcode opcode);  // as XlaBuilder spells it: "Add", "AllReduce"
int OpcodeArity(Opcode opcode);
std::optional<Opcode> OpcodeFromName(std::string_view name);
// Why XLA's opcode `name` is none of ours and what to do; "" if XLA has none of that name either.
std::string_view WhyNoOpcode(std::string_view name);
// Same dimensions in and out: convert, compare, select and clamp too. Not bitcast-convert, which
// changes the rank where the widths differ.
bool IsElementwise(Opcode opcode);

}  // namespace neuron::hlo
