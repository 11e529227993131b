// Builds a Module instruction by instruction.
//
//   Builder b("relu");
//   Value x = b.Parameter(0, Shape::Array(DType::kF32, {2, 3}), "x");
//   StatusOr<Module> module = std::move(b).Build(b.Maximum(x, b.ZerosLike(x)));
//
// An illegal call does not return a Status: the first failure is kept, what follows yields values
// that are ignored, and Build() returns it. So lowerings read like formulas.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hlo/module.h"

namespace neuron::hlo {

class Builder;

class Value {
 public:
  Value() = default;
  bool valid() const { return instruction_ != nullptr; }
  const Shape& shape() const;  // an empty f32 scalar shape if not valid
  DType dtype() const { return shape().dtype; }
  int64_t rank() const { return shape().rank(); }
  int64_t dim(int64_t i) const;  // negative counts from the end; 1 if not valid
  Instruction* instruction() const { return instruction_; }

 private:
  friend class Builder;
  explicit Value(Instruction* instruction) : instruction_(instruction) {}
  Instruction* instruction_ = nullptr;
};

class Builder {
 public:
  explicit Builder(std::string name);
  ~Builder();
  Builder(Builder&&) noexcept;

  // Appends to a computation that exists, behind its root: for passes, which replace uses, then
  // sort and verify. Build is not for such a builder.
  static Builder Into(Computation* computation);
  static Value Of(Instruction* instruction) { return Value(instruction); }

  const Status& status() const { return status_; }
  void Fail(Status status);          // the first wins
  void SetMetadata(std::string op);  // of the instructions that follow
  // Verified module whose root is `root` (or the tuple of `roots`).
  StatusOr<Module> Build(Value root) &&;
  StatusOr<Module> BuildTuple(std::span<const Value> roots) &&;
  void Alias(int64_t output, int64_t parameter);

  // Sources.
  Value Parameter(int64_t number, const Shape& shape, std::string name = "");
  Value Constant(Literal literal);
  Value Constant(DType dtype, double value);      // scalar
  Value ConstantInt(DType dtype, int64_t value);  // scalar, exact for 64-bit integers
  Value Full(const Shape& shape, double value);   // broadcast scalar
  Value ZerosLike(Value x) { return Full(x.shape(), 0); }
  Value Iota(const Shape& shape, int64_t dimension);

  // Elementwise. Binary forms accept a rank-0 operand beside a shaped one and broadcast it;
  // dtypes must agree.
  Value Unary(Opcode opcode, Value x);
  Value Binary(Opcode opcode, Value a, Value b);
  Value Compare(Comparison comparison, Value a, Value b);
  Value Select(Value predicate, Value on_true, Value on_false);
  Value Clamp(Value low, Value x, Value high);
  Value Convert(Value x, DType dtype);  // no-op if it has that dtype
  Value BitcastConvert(Value x, DType dtype);
  Value ReducePrecision(Value x, int exponent_bits, int mantissa_bits);
  Value Complex(Value real, Value imag);
#define NEURON_HLO_UNARY(V) \
  V(Abs)                    \
  V(Cbrt)                   \
  V(Ceil)                   \
  V(Clz)                    \
  V(Cos)                    \
  V(Erf)                    \
  V(Exp)                    \
  V(Expm1)                  \
  V(Floor)                  \
  V(Imag)                   \
  V(IsFinite)               \
  V(Log)                    \
  V(Log1p)                  \
  V(Logistic)               \
  V(Negate)                 \
  V(Not)                    \
  V(Popcnt)                 \
  V(Real)                   \
  V(RoundNearestAfz)        \
  V(RoundNearestEven)       \
  V(Rsqrt)                  \
  V(Sign)                   \
  V(Sin)                    \
  V(Sqrt)                   \
  V(Tan)                    \
  V(Tanh)
#define V(name) \
  Value name(Value x) { return Unary(Opcode::k##name, x); }
  NEURON_HLO_UNARY(V)
#undef V
#define NEURON_HLO_BINARY(V) \
  V(Add)                     \
  V(And)                     \
  V(Atan2)                   \
  V(Divide)                  \
  V(Maximum)                 \
  V(Minimum)                 \
  V(Multiply)                \
  V(Or)                      \
  V(Power)                   \
  V(Remainder)               \
  V(ShiftLeft)               \
  V(ShiftRightArithmetic)    \
  V(ShiftRightLogical)       \
  V(Subtract)                \
  V(Xor)
#define V(name) \
  Value name(Value a, Value b) { return Binary(Opcode::k##name, a, b); }
  NEURON_HLO_BINARY(V)
#undef V

  // Movement.
  Value Broadcast(Value x, const std::vector<int64_t>& dims,
                  const std::vector<int64_t>& broadcast_dimensions);
  // NumPy rule: x's dims align with the trailing ones of `dims`, extent 1 stretches.
  Value BroadcastTo(Value x, const std::vector<int64_t>& dims);
  Value Reshape(Value x, const std::vector<int64_t>& dims);
  Value Transpose(Value x, const std::vector<int64_t>& permutation);
  Value Reverse(Value x, const std::vector<int64_t>& dimensions);
  Value Slice(Value x, const std::vector<int64_t>& starts, const std::vector<int64_t>& limits,
              const std::vector<int64_t>& strides);
  Value SliceInDim(Value x, int64_t start, int64_t limit, int64_t stride, int64_t dimension);
  Value Pad(Value x, Value value, const std::vector<PaddingDimension>& padding);
  Value Concatenate(std::span<const Value> parts, int64_t dimension);
  Value DynamicSlice(Value x, std::span<const Value> starts, const std::vector<int64_t>& sizes);
  Value DynamicUpdateSlice(Value x, Value update, std::span<const Value> starts);
  Value Gather(Value operand, Value indices, const GatherDimensions& dims);
  // combiner(old, update) -> new
  Value Scatter(Value operand, Value indices, Value updates, const ScatterDimensions& dims,
                Computation* combiner);

  // Reductions. Reduce over `dimensions`; combiner(accumulator, element).
  Value Reduce(Value x, Value init, const std::vector<int64_t>& dimensions, Computation* combiner);
  std::vector<Value> ReduceMany(std::span<const Value> xs, std::span<const Value> inits,
                                const std::vector<int64_t>& dimensions, Computation* combiner);
  Value ReduceSum(Value x, const std::vector<int64_t>& dimensions);  // init 0, x's dtype
  Value ReduceProduct(Value x, const std::vector<int64_t>& dimensions);
  Value ReduceMax(Value x, const std::vector<int64_t>& dimensions);  // init -inf / lowest
  Value ReduceMin(Value x, const std::vector<int64_t>& dimensions);
  Value ReduceAnd(Value x, const std::vector<int64_t>& dimensions);  // pred
  Value ReduceOr(Value x, const std::vector<int64_t>& dimensions);
  Value ReduceWindow(Value x, Value init, const std::vector<WindowDimension>& window,
                     Computation* combiner);
  Value SelectAndScatter(Value x, Value source, Value init,
                         const std::vector<WindowDimension>& window, Computation* select,
                         Computation* scatter);

  // Contractions.
  Value Dot(Value a, Value b, const DotDimensions& dims, DType result = DType::kInvalid);
  Value Convolution(Value x, Value kernel, const std::vector<WindowDimension>& window,
                    const ConvolutionDimensions& dims, int64_t feature_group_count = 1,
                    int64_t batch_group_count = 1, DType result = DType::kInvalid);

  // Irregular.
  std::vector<Value> Sort(std::span<const Value> xs, int64_t dimension, bool stable,
                          Computation* comparator);
  // {new state u64[..], bits}; algorithm 2 is Philox.
  std::vector<Value> RngBitGenerator(Value state, const Shape& bits, int algorithm);
  Value CustomCall(std::string target, std::span<const Value> operands, const Shape& shape,
                   std::string backend_config = "");
  Value Fft(Value x, int fft_type, const std::vector<int64_t>& fft_length);
  Value TriangularSolve(Value a, Value b, bool left_side, bool lower, bool unit_diagonal,
                        bool transpose_a);
  Value Cholesky(Value a, bool lower);

  // Structure.
  Value Tuple(std::span<const Value> values);
  Value GetTupleElement(Value tuple, int64_t index);
  std::vector<Value> Untuple(Value tuple);
  Value While(Computation* condition, Computation* body, Value init);
  Value Conditional(Value index_or_predicate, std::span<Computation* const> branches,
                    std::span<const Value> arguments);
  Value Call(Computation* callee, std::span<const Value> operands);

  // A computation of this module, filled by `fill`, which gets one value per parameter shape.
  Computation* SubComputation(std::string name, const std::vector<Shape>& parameters,
                              const std::function<Value(Builder&, std::span<const Value>)>& fill);
  // opcode over two scalars of dtype: the usual combiner. Made once per module.
  Computation* Combiner(Opcode opcode, DType dtype);

 private:
  Value Emit(Opcode opcode, std::vector<Value> operands, Attributes attributes = {},
             std::vector<Computation*> called = {}, const Shape* stated = nullptr);
  Value ReduceWith(Opcode opcode, Value x, double init, const std::vector<int64_t>& dimensions);
  struct State;
  explicit Builder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
  Status status_;
};

}  // namespace neuron::hlo
