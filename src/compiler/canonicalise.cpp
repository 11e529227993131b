#include "compiler/canonicalise.h"

#include <algorithm>
#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "compiler/called.h"
#include "compiler/disjoint_sum.h"
#include "compiler/index_values.h"
#include "compiler/recognise.h"
#include "compiler/reduction.h"
#include "compiler/stored_value.h"

namespace neuron::compiler {
namespace {

using hlo::Attributes;
using hlo::Computation;
using hlo::Instruction;
using hlo::Opcode;
using hlo::Shape;

bool IsElementwise(const Instruction& x) {
  return hlo::IsElementwise(x.opcode()) || ActivationOf(x).has_value();
}

bool IsIdentityPermutation(const std::vector<int64_t>& p) {
  for (size_t i = 0; i < p.size(); ++i)
    if (p[i] != static_cast<int64_t>(i)) return false;
  return true;
}

class Canonicaliser {
 public:
  Canonicaliser(const hlo::Module& module, bool relaxed)
      : module_(module), relaxed_(relaxed), out_(module.name()) {
    entry_ = out_.AddComputation("main");
    out_.set_entry(entry_);
  }

  StatusOr<CanonicalModule> Run() {
    const Computation& from = *module_.entry();
    for (Instruction* p : from.Parameters()) {
      Instruction* copy =
          entry_->Add(Opcode::kParameter, p->shape(), {}, p->attributes(), {}, p->name());
      parameters_.push_back(copy);
      values_[p] = {copy};
    }
    NEURON_RETURN_IF_ERROR(Walk(from));
    std::vector<Instruction*> roots = values_.at(from.root());
    std::vector<Shape> shapes;
    std::unordered_set<const Instruction*> seen;
    CanonicalModule canonical{.module = hlo::Module(""), .stores = {}};
    for (size_t j = 0; j < roots.size(); ++j) {
      Instruction* aliased = nullptr;
      for (const hlo::InputOutputAlias& alias : module_.aliases())
        if (alias.output == static_cast<int64_t>(j) && alias.parameter >= 0 &&
            alias.parameter < static_cast<int64_t>(parameters_.size()))
          aliased = parameters_[static_cast<size_t>(alias.parameter)];
      View place = View::Of(roots[j]);
      Instruction* value = StoredValue(roots[j], aliased, place);
      const bool dense = value->shape() == roots[j]->shape() && place == View::Of(roots[j]);
      // One writer per result; heroes write densely.
      if (!Computes(*value) || !seen.insert(value).second ||
          (!dense && (!IsElementwise(*value) || IsReadBeside(roots, j, *value)))) {
        value = entry_->Add(Opcode::kCopy, value->shape(), {value});
        seen.insert(value);
      }
      if (!dense) {
        place.base = aliased != nullptr ? aliased : value;
        canonical.stores[value] = place;
      }
      roots[j] = value;
      shapes.push_back(value->shape());
    }
    if (from.root()->shape().is_tuple())
      entry_->set_root(entry_->Add(Opcode::kTuple, Shape::Tuple(std::move(shapes)), roots));
    else
      entry_->set_root(roots.at(0));
    out_.aliases() = module_.aliases();
    canonical.module = std::move(out_);
    return canonical;
  }

 private:
  // True if somebody else reads the value under result j, or a view between: he would look for it
  // where it lies by itself, and not where the result has it.
  static bool IsReadBeside(const std::vector<Instruction*>& roots, size_t j,
                           const Instruction& value) {
    if (!roots[j]->users().empty()) return true;
    for (const Instruction* x = roots[j]; x != &value;) {
      x = x->operand(x->opcode() == Opcode::kDynamicUpdateSlice ? 1 : 0);
      if (x->users().size() > 1) return true;
      if (std::find(roots.begin(), roots.end(), x) != roots.end()) return true;
    }
    return std::count(roots.begin(), roots.end(), roots[j]) > 1;
  }

  // The instructions that the root of `from` needs, in order. Every value becomes a list: the
  // leaves of its shape.
  Status Walk(const Computation& from) {
    std::unordered_set<const Instruction*> live = {from.root()};
    for (auto it = from.instructions().rbegin(); it != from.instructions().rend(); ++it)
      if (live.contains(it->get()))
        for (const Instruction* operand : (*it)->operands()) live.insert(operand);
    for (const auto& x : from.instructions())
      if (live.contains(x.get()) && x->opcode() != Opcode::kParameter)
        NEURON_RETURN_IF_ERROR(Rewrite(*x));
    return OkStatus();
  }

  // An instruction that has a buffer of its own.
  static bool Computes(const Instruction& x) {
    switch (x.opcode()) {
      case Opcode::kParameter:
      case Opcode::kConstant:
      case Opcode::kIota:
      case Opcode::kReshape:
      case Opcode::kTranspose:
      case Opcode::kBroadcast:
      case Opcode::kSlice:
      case Opcode::kReverse:
      case Opcode::kConvert:
      case Opcode::kBitcastConvert:
      case Opcode::kReal:
      case Opcode::kImag:
      case Opcode::kGetTupleElement:
        return false;
      default:
        return true;
    }
  }

  Status Rewrite(const Instruction& x) {
    switch (x.opcode()) {
      case Opcode::kTuple: {
        std::vector<Instruction*> leaves;
        for (const Instruction* operand : x.operands()) {
          const auto& more = values_.at(operand);
          leaves.insert(leaves.end(), more.begin(), more.end());
        }
        values_[&x] = std::move(leaves);
        return OkStatus();
      }
      case Opcode::kGetTupleElement: {
        const auto& leaves = values_.at(x.operand(0));
        size_t begin = 0;
        const auto& elements = x.operand(0)->shape().elements;
        for (int64_t i = 0; i < x.attributes().tuple_index; ++i)
          begin += Leaves(elements[static_cast<size_t>(i)]).size();
        const size_t n = Leaves(x.shape()).size();
        values_[&x] = {leaves.begin() + static_cast<int64_t>(begin),
                       leaves.begin() + static_cast<int64_t>(begin + n)};
        return OkStatus();
      }
      case Opcode::kCall: {
        const Computation& callee = *x.called()[0];
        const auto parameters = callee.Parameters();
        for (size_t i = 0; i < parameters.size(); ++i)
          values_[parameters[i]] = values_.at(x.operand(static_cast<int64_t>(i)));
        NEURON_RETURN_IF_ERROR(Walk(callee));
        values_[&x] = values_.at(callee.root());
        return OkStatus();
      }
      case Opcode::kOptimizationBarrier:
        values_[&x] = values_.at(x.operand(0));
        return OkStatus();
      case Opcode::kMap:
        return Map(x);
      default:
        break;
    }
    std::vector<Instruction*> operands;
    for (const Instruction* operand : x.operands()) {
      const auto& leaves = values_.at(operand);
      operands.insert(operands.end(), leaves.begin(), leaves.end());
    }
    metadata_ = &x.metadata();
    if (x.opcode() == Opcode::kWhile) {
      values_[&x] = Loop(x, std::move(operands));
      return OkStatus();
    }
    if (x.opcode() == Opcode::kConditional) {
      values_[&x] = Elements(x, Shape::Tuple(Leaves(x.shape())), std::move(operands));
      return OkStatus();
    }
    if (x.shape().is_array()) {
      values_[&x] = {Simplify(x, operands)};
      return OkStatus();
    }
    if (x.opcode() == Opcode::kRngBitGenerator && x.shape().elements[1].num_elements() == 0) {
      values_[&x] = {operands[0],
                     Zeros(x.shape().elements[1])};  // nothing is drawn: the state stays
      return OkStatus();
    }
    values_[&x] = Elements(x, x.shape(), std::move(operands));
    return OkStatus();
  }

  // A function of numbers at each place: its instructions on the whole arrays.
  Status Map(const Instruction& x) {
    const Computation& function = *x.called()[0];
    const auto parameters = function.Parameters();
    for (size_t i = 0; i < parameters.size(); ++i)
      values_[parameters[i]] = values_.at(x.operand(static_cast<int64_t>(i)));
    metadata_ = &x.metadata();
    for (const auto& inner : function.instructions()) {
      if (inner->opcode() == Opcode::kParameter) continue;
      const Shape whole = Shape::Array(inner->shape().dtype, x.shape().dims);
      if (inner->opcode() == Opcode::kConstant) {
        Instruction* number = Emit(Opcode::kConstant, inner->shape(), {}, inner->attributes());
        values_[inner.get()] = {whole.is_scalar() ? number
                                                  : Emit(Opcode::kBroadcast, whole, {number})};
        continue;
      }
      if (!inner->shape().is_scalar() || !hlo::IsElementwise(inner->opcode()))
        return Unimplemented("compiler: ", x.name(), " maps ", hlo::OpcodeName(inner->opcode()),
                             ", which is not elementwise");
      std::vector<Instruction*> operands;
      for (const Instruction* operand : inner->operands())
        operands.push_back(values_.at(operand)[0]);
      values_[inner.get()] = {
          Emit(inner->opcode(), whole, std::move(operands), inner->attributes())};
    }
    values_[&x] = values_.at(function.root());
    return OkStatus();
  }

  // An instruction with several results: one element each.
  std::vector<Instruction*> Elements(const Instruction& x, const Shape& tuple,
                                     std::vector<Instruction*> operands) {
    for (Instruction*& operand : operands) operand = Placed(operand);
    Instruction* all = Emit(x.opcode(), tuple, std::move(operands), x.attributes(), x.called());
    std::vector<Instruction*> elements;
    for (size_t i = 0; i < tuple.elements.size(); ++i) {
      Attributes a;
      a.tuple_index = static_cast<int64_t>(i);
      elements.push_back(Emit(Opcode::kGetTupleElement, tuple.elements[i], {all}, std::move(a)));
    }
    return elements;
  }

  // The results of a loop are the leaves of its state that its body changes.
  std::vector<Instruction*> Loop(const Instruction& x, std::vector<Instruction*> state) {
    const std::vector<int> changed = ChangedLeaves(*x.called()[1]);
    if (changed.empty()) return state;
    std::vector<Shape> shapes;
    for (const int leaf : changed) shapes.push_back(state[static_cast<size_t>(leaf)]->shape());
    const auto results = Elements(x, Shape::Tuple(std::move(shapes)), state);
    for (size_t i = 0; i < changed.size(); ++i) state[static_cast<size_t>(changed[i])] = results[i];
    return state;
  }

  Instruction* Simplify(const Instruction& x, const std::vector<Instruction*>& operands) {
    const Attributes& a = x.attributes();
    switch (x.opcode()) {
      case Opcode::kReshape:
      case Opcode::kConvert:
        if (operands[0]->shape() == x.shape()) return operands[0];
        if (operands[0]->opcode() == x.opcode() && x.opcode() == Opcode::kReshape)
          return Emit(Opcode::kReshape, x.shape(), {operands[0]->operand(0)});
        if (operands[0]->opcode() == Opcode::kConstant && x.opcode() == Opcode::kConvert)
          if (Instruction* folded = FoldConvert(x, *operands[0])) return folded;
        break;
      case Opcode::kMultiply:
        if (auto chain = RecogniseProduct(operands)) return Activation(x.shape(), *chain);
        break;
      case Opcode::kConvolution:
        if (operands[0]->shape().num_elements() == 0 || operands[1]->shape().num_elements() == 0)
          return Zeros(x.shape());  // a sum of nothing
        break;
      case Opcode::kTranspose:
        if (IsIdentityPermutation(a.dimensions)) return operands[0];
        break;
      case Opcode::kSelect:
        if (const auto chosen = KnownPredicate(*operands[0])) return operands[*chosen ? 1 : 2];
        break;
      case Opcode::kBroadcast:
        if (operands[0]->shape() == x.shape()) return operands[0];
        if (IsIndexValue(*operands[0])) return Spread(operands[0], x.shape(), a);
        break;
      case Opcode::kSlice:
      case Opcode::kCopy:
        if (operands[0]->shape() == x.shape()) return operands[0];
        break;
      case Opcode::kReverse:
        if (a.dimensions.empty()) return operands[0];
        break;
      case Opcode::kScatter:
        if (operands.size() == 3 && operands[2]->shape().num_elements() == 0) return operands[0];
        break;
      case Opcode::kDynamicSlice:
        if (Instruction* slice = StaticSlice(x, operands)) return slice;
        break;
      case Opcode::kConcatenate:
        if (operands.size() == 1) return operands[0];
        break;
      case Opcode::kAdd:
        if (auto chain = RecogniseSum(operands)) return Activation(x.shape(), *chain);
        if (relaxed_ && IsFloating(x.shape().dtype))
          if (const auto pieces = DisjointSum(*operands[0], *operands[1]))
            return Joined(*pieces, x.shape());
        break;
      case Opcode::kPad: {
        const bool nothing = std::all_of(a.padding.begin(), a.padding.end(), [](const auto& p) {
          return p == hlo::PaddingDimension{};
        });
        if (nothing) return operands[0];
        break;
      }
      case Opcode::kIota:
        return Iota(x.shape(), a.dimensions[0]);
      case Opcode::kPartitionId:  // a program runs alone
      case Opcode::kReplicaId:
        return Zeros(x.shape());
      case Opcode::kGetDimensionSize:
        if (!operands[0]->shape().is_dynamic()) {
          Attributes size;
          size.literal = hlo::Literal::Scalar(
              x.shape().dtype, operands[0]->shape().dims[static_cast<size_t>(a.dimensions[0])]);
          return Emit(Opcode::kConstant, x.shape(), {}, std::move(size));
        }
        break;
      case Opcode::kBitcastConvert:
        // Other widths are another view of the bytes, which a dense buffer always has.
        if (ByteSize(operands[0]->shape().dtype) != ByteSize(x.shape().dtype))
          return Emit(x.opcode(), x.shape(),
                      {Emit(Opcode::kCopy, operands[0]->shape(), {operands[0]})});
        break;
      case Opcode::kReduceWindow: {
        const bool single = x.operands().size() == 2 &&
                            std::all_of(a.window.begin(), a.window.end(),
                                        [](const auto& w) { return w == hlo::WindowDimension{}; });
        const auto op = single ? ReductionAlu(x) : std::nullopt;
        if (op && operands[1]->opcode() == Opcode::kConstant &&
            IsIdentity(*op, x.shape().dtype, operands[1]->attributes().literal.AsDouble()))
          return operands[0];
        break;
      }
      case Opcode::kReduce:
        if (operands[0]->shape().num_elements() == 0)
          return Emit(Opcode::kBroadcast, x.shape(), {operands[1]});
        if (a.dimensions.empty()) return operands[0];
        if (operands[0]->shape().num_elements() == x.shape().num_elements() && ReductionAlu(x))
          return CombineOnce(x, operands[0], operands[1]);
        if (relaxed_ && IsColumnSum(x, *operands[1])) return ColumnSum(x, operands[0]);
        break;
      default:
        break;
    }
    if (hlo::IsElementwise(x.opcode()) || !Computes(x) ||
        (x.opcode() == Opcode::kReduce && ReductionAlu(x)))
      return Emit(x.opcode(), x.shape(), operands, a, x.called());
    // Kernels of one instruction read buffers: an iota gets one.
    std::vector<Instruction*> placed = operands;
    for (Instruction*& operand : placed) operand = Placed(operand);
    return Emit(x.opcode(), x.shape(), placed, a, x.called());
  }

  Instruction* Activation(const Shape& shape, const ActivationChain& chain) {
    Attributes call;
    call.custom_call_target = chain.target;
    return Emit(Opcode::kCustomCall, shape, {chain.operand}, std::move(call));
  }

  // An index value is computed on the broadcast indices, by an instruction of its own for every
  // reader (index_values.h).
  Instruction* Spread(Instruction* x, const Shape& shape, const Attributes& broadcast) {
    const Shape whole = Shape::Array(x->shape().dtype, shape.dims);
    if (!IsIndexValue(*x)) return Emit(Opcode::kBroadcast, whole, {x}, broadcast);
    std::vector<Instruction*> operands;
    for (Instruction* operand : x->operands())
      operands.push_back(Spread(operand, shape, broadcast));
    return entry_->Add(x->opcode(), whole, std::move(operands), x->attributes(), x->called());
  }

  Instruction* Joined(const std::vector<FlatPiece>& pieces, const Shape& shape) {
    // Along the outermost dimension if the pieces are slices of it: then the sum may be transposed
    // without a copy.
    const int64_t slice = shape.num_elements() / std::max<int64_t>(shape.dims[0], 1);
    const bool sliced = std::all_of(pieces.begin(), pieces.end(), [&](const FlatPiece& piece) {
      return piece.elements % slice == 0;
    });
    Shape whole = sliced ? shape : Shape::Array(shape.dtype, {shape.num_elements()});
    std::vector<Instruction*> parts;
    for (const FlatPiece& piece : pieces) {
      Shape part = whole;
      part.dims[0] = sliced ? piece.elements / slice : piece.elements;
      if (piece.value != nullptr) {
        Instruction* value = piece.value;
        while (value->opcode() == Opcode::kReshape) value = value->operand(0);
        parts.push_back(value->shape() == part ? value : Emit(Opcode::kReshape, part, {value}));
        continue;
      }
      parts.push_back(Zeros(part));
    }
    Attributes along;
    along.dimensions = {0};
    Instruction* sum =
        parts.size() == 1 ? parts[0] : Emit(Opcode::kConcatenate, whole, parts, along);
    return sum->shape() == shape ? sum : Emit(Opcode::kReshape, shape, {sum});
  }

  // A sum over leading dimensions: by reduction, its operand would have to be transposed so that
  // columns become rows. The Tensor engine sums over partitions as they are.
  static bool IsColumnSum(const Instruction& x, const Instruction& init) {
    constexpr int64_t kLeastRows = 64, kLeastColumns = 16;
    const std::vector<int64_t>& reduced = x.attributes().dimensions;
    for (size_t i = 0; i < reduced.size(); ++i)
      if (reduced[i] != static_cast<int64_t>(i)) return false;
    const int64_t columns = x.shape().num_elements();
    return x.shape().dtype == DType::kF32 && ReductionAlu(x) == isa::AluOp::kAdd &&
           init.opcode() == Opcode::kConstant && init.attributes().literal.AsDouble() == 0 &&
           columns >= kLeastColumns && x.operand(0)->shape().num_elements() >= kLeastRows * columns;
  }

  Instruction* ColumnSum(const Instruction& x, Instruction* operand) {
    // Products with one are exact: a narrow float needs no conversion before.
    if (operand->opcode() == Opcode::kConvert && IsFloating(operand->operand(0)->shape().dtype) &&
        ByteSize(operand->operand(0)->shape().dtype) == 2)
      operand = operand->operand(0);
    const Shape& shape = operand->shape();
    Attributes one;
    one.literal = hlo::Literal::Scalar(shape.dtype, 1.0);
    Instruction* number = Emit(Opcode::kConstant, one.literal.shape(), {}, one);
    Attributes dot;
    Shape ones = Shape::Array(shape.dtype, {});
    for (size_t d = 0; d < x.attributes().dimensions.size(); ++d) {
      ones.dims.push_back(shape.dims[d]);
      dot.dot.lhs_contracting.push_back(static_cast<int64_t>(d));
    }
    dot.dot.rhs_contracting = dot.dot.lhs_contracting;
    return Emit(Opcode::kDot, x.shape(), {Emit(Opcode::kBroadcast, ones, {number}), operand},
                std::move(dot));
  }

  // A reduction over extents of one: no row is left that a kernel could reduce. The combination
  // with the initial value stays, since -0 + 0 is +0.
  Instruction* CombineOnce(const Instruction& x, Instruction* data, Instruction* init) {
    Instruction* element = Emit(Opcode::kReshape, x.shape(), {data});
    Instruction* initial = Emit(Opcode::kBroadcast, x.shape(), {init});
    return Emit(x.called()[0]->root()->opcode(), x.shape(), {initial, element});
  }

  Instruction* Zeros(const Shape& shape) {
    Attributes zero;
    zero.literal = hlo::Literal::Scalar(shape.dtype, int64_t{0});
    Instruction* none = Emit(Opcode::kConstant, zero.literal.shape(), {}, zero);
    return shape.is_scalar() ? none : Emit(Opcode::kBroadcast, shape, {none});
  }

  Instruction* Iota(const Shape& shape, int64_t dimension) {
    const int64_t n = shape.dims[static_cast<size_t>(dimension)];
    // A view's addresses are integers: wide numbers that are none are converted.
    const bool converted = IsWide(shape.dtype) && !IsInteger(shape.dtype);
    const Shape line = Shape::Array(shape.dtype, {n});
    Attributes first;
    first.dimensions = {0};
    Instruction* values =
        Emit(Opcode::kIota, Shape::Array(converted ? DType::kS64 : shape.dtype, {n}), {},
             std::move(first));
    if (converted) values = Emit(Opcode::kConvert, line, {values});
    if (shape.rank() == 1) return values;
    Attributes along;
    along.dimensions = {dimension};
    return Emit(Opcode::kBroadcast, shape, {values}, std::move(along));
  }

  Instruction* Placed(Instruction* operand) {
    const Instruction* base = operand;
    while (!Computes(*base) && !base->operands().empty()) base = base->operand(0);
    if (base->opcode() != Opcode::kIota) return operand;
    return Emit(Opcode::kCopy, operand->shape(), {operand});
  }

  // A slice if all starts are constants.
  Instruction* StaticSlice(const Instruction& x, const std::vector<Instruction*>& operands) {
    Attributes a;
    for (size_t d = 0; d < x.shape().dims.size(); ++d) {
      const Instruction* start = operands[d + 1];
      if (start->opcode() != Opcode::kConstant) return nullptr;
      const int64_t at = std::clamp<int64_t>(start->attributes().literal.AsInt64(), 0,
                                             operands[0]->shape().dims[d] - x.shape().dims[d]);
      a.slice_starts.push_back(at);
      a.slice_limits.push_back(at + x.shape().dims[d]);
      a.slice_strides.push_back(1);
    }
    return Emit(Opcode::kSlice, x.shape(), {operands[0]}, std::move(a));
  }

  static std::optional<bool> KnownPredicate(const Instruction& predicate) {
    const Instruction* x = &predicate;
    while (x->opcode() == Opcode::kBroadcast || x->opcode() == Opcode::kReshape) x = x->operand(0);
    if (x->opcode() != Opcode::kConstant || !x->attributes().literal.IsSplat() ||
        x->shape().num_elements() == 0)
      return std::nullopt;
    return x->attributes().literal.AsInt64() != 0;
  }

  Instruction* FoldConvert(const Instruction& x, const Instruction& constant) {
    const hlo::Literal& literal = constant.attributes().literal;
    if (!literal.IsSplat() || !literal.shape().is_scalar()) return nullptr;
    if (IsComplex(literal.shape().dtype) || IsComplex(x.shape().dtype)) return nullptr;
    Attributes a;
    const DType from = literal.shape().dtype;
    const DType to = x.shape().dtype;
    if (IsFloating(from) && !IsFloating(to)) {
      if (to == DType::kPred) {
        a.literal = hlo::Literal::Scalar(to, static_cast<int64_t>(literal.AsDouble() != 0));
      } else {
        return nullptr;
      }
    } else if (IsFloating(from)) {
      a.literal = hlo::Literal::Scalar(to, literal.AsDouble());
    } else if (IsFloating(to)) {
      constexpr int64_t kExact = int64_t{1} << 53;  // then only the last step rounds
      const int64_t v = literal.AsInt64();
      if (v < -kExact || v > kExact) return nullptr;
      a.literal = hlo::Literal::Scalar(to, static_cast<double>(v));
    } else {
      const int64_t v = literal.AsInt64();
      a.literal = hlo::Literal::Scalar(to, to == DType::kPred ? static_cast<int64_t>(v != 0) : v);
    }
    return Emit(Opcode::kConstant, x.shape(), {}, std::move(a));
  }

  // Adds an instruction, or finds an equal one.
  Instruction* Emit(Opcode opcode, const Shape& shape, std::vector<Instruction*> operands,
                    Attributes attributes = {}, std::vector<Computation*> called = {}) {
    size_t hash = static_cast<size_t>(opcode) * 0x9e3779b97f4a7c15u;
    for (const Instruction* operand : operands)
      hash = (hash ^ static_cast<size_t>(operand->id())) * 0x100000001b3u;
    for (int64_t d : shape.dims) hash = (hash ^ static_cast<size_t>(d)) * 0x100000001b3u;
    hash = (hash ^ static_cast<size_t>(shape.dtype)) * 0x100000001b3u;
    if (opcode == Opcode::kConstant) hash ^= std::hash<std::string>()(attributes.literal.bytes());
    for (int64_t d : attributes.slice_starts) hash = (hash ^ static_cast<size_t>(d)) * 31;
    auto& bucket = table_[hash];
    for (Instruction* have : bucket)
      if (have->opcode() == opcode && have->shape() == shape && have->operands() == operands &&
          have->called() == called && have->attributes() == attributes)
        return have;
    Instruction* added =
        entry_->Add(opcode, shape, std::move(operands), std::move(attributes), std::move(called));
    if (metadata_ != nullptr && !metadata_->empty()) entry_->SetMetadata(added, *metadata_);
    bucket.push_back(added);
    return added;
  }

  const hlo::Module& module_;
  const bool relaxed_;
  hlo::Module out_;
  Computation* entry_ = nullptr;
  std::vector<Instruction*> parameters_;  // by number
  const std::string* metadata_ = nullptr;
  std::unordered_map<const Instruction*, std::vector<Instruction*>> values_;
  std::unordered_map<size_t, std::vector<Instruction*>> table_;
};

}  // namespace

StatusOr<CanonicalModule> Canonicalise(const hlo::Module& module, bool relaxed) {
  return Canonicaliser(module, relaxed).Run();
}

}  // namespace neuron::compiler
