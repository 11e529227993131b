#include "hlo/builder.h"

#include "hlo/builder_state.h"
#include "hlo/shape_inference.h"

namespace neuron::hlo {

const Shape& Value::shape() const {
  static const Shape* none = new Shape(Shape::Array(DType::kF32, {}));
  return instruction_ ? instruction_->shape() : *none;
}

int64_t Value::dim(int64_t i) const {
  const std::vector<int64_t>& dims = shape().dims;
  if (i < 0) i += rank();
  return i >= 0 && i < rank() ? dims[static_cast<size_t>(i)] : 1;
}

Builder::Builder(std::string name) : state_(std::make_unique<State>()) {
  state_->shared = std::make_shared<State::Shared>(std::move(name));
  state_->computation = state_->shared->module->AddComputation("main");
  state_->shared->module->set_entry(state_->computation);
}

Builder Builder::Into(Computation* computation) {
  auto state = std::make_unique<State>();
  state->shared = std::make_shared<State::Shared>("");
  state->shared->module = computation->parent();
  state->computation = computation;
  return Builder(std::move(state));
}
Builder::Builder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Builder::~Builder() = default;
Builder::Builder(Builder&&) noexcept = default;

void Builder::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

void Builder::SetMetadata(std::string op) { state_->metadata = std::move(op); }

void Builder::Alias(int64_t output, int64_t parameter) {
  state_->shared->module->aliases().push_back({output, parameter});
}

StatusOr<Module> Builder::Build(Value root) && {
  if (!root.valid()) Fail(InvalidArgument("hlo::Builder: the root is undefined"));
  if (!status_.ok()) return status_;
  state_->computation->set_root(root.instruction());
  NEURON_CHECK(state_->shared->module == &state_->shared->owned, "a builder into ",
               state_->computation->name(), " owns no module");
  NEURON_RETURN_IF_ERROR(Verify(state_->shared->owned));
  return std::move(state_->shared->owned);
}

StatusOr<Module> Builder::BuildTuple(std::span<const Value> roots) && {
  const Value root = Tuple(roots);
  return std::move(*this).Build(root);
}

Value Builder::Emit(Opcode opcode, std::vector<Value> operands, Attributes attributes,
                    std::vector<Computation*> called, const Shape* stated) {
  if (!status_.ok()) return {};
  std::vector<Instruction*> instructions;
  std::vector<Shape> shapes;
  instructions.reserve(operands.size());
  shapes.reserve(operands.size());
  for (const Value& operand : operands) {
    if (!operand.valid() || operand.instruction()->parent() != state_->computation) {
      Fail(InvalidArgument(OpcodeName(opcode), ": operand ", instructions.size(),
                           operand.valid() ? " belongs to another computation" : " is undefined"));
      return {};
    }
    instructions.push_back(operand.instruction());
    shapes.push_back(operand.shape());
  }
  StatusOr<Shape> shape = InferShape(opcode, shapes, attributes, called, stated);
  if (!shape.ok()) {
    Fail(state_->metadata.empty() ? shape.status()
                                  : shape.status().WithPrefix(state_->metadata + ": "));
    return {};
  }
  Instruction* instruction = state_->computation->Add(
      opcode, *std::move(shape), std::move(instructions), std::move(attributes), std::move(called));
  if (!state_->metadata.empty()) state_->computation->SetMetadata(instruction, state_->metadata);
  return Value(instruction);
}

Value Builder::Parameter(int64_t number, const Shape& shape, std::string name) {
  if (!status_.ok()) return {};
  Attributes attributes;
  attributes.parameter_number = number;
  return Value(state_->computation->Add(Opcode::kParameter, shape, {}, std::move(attributes), {},
                                        std::move(name)));
}

Computation* Builder::SubComputation(
    std::string name, const std::vector<Shape>& parameters,
    const std::function<Value(Builder&, std::span<const Value>)>& fill) {
  auto state = std::make_unique<State>();
  state->shared = state_->shared;
  state->metadata = state_->metadata;
  state->computation = state_->shared->module->AddComputation(std::move(name));
  Computation* computation = state->computation;
  Builder inner(std::move(state));
  inner.status_ = status_;
  std::vector<Value> values;
  for (size_t i = 0; i < parameters.size(); ++i)
    values.push_back(inner.Parameter(static_cast<int64_t>(i), parameters[i]));
  const Value root = fill(inner, values);
  if (inner.status_.ok() && (!root.valid() || root.instruction()->parent() != computation))
    inner.Fail(InvalidArgument(computation->name(),
                               ": its root is undefined or of another "
                               "computation"));
  if (!inner.status_.ok()) {
    Fail(inner.status_);
    return computation;
  }
  computation->set_root(root.instruction());
  return computation;
}

Computation* Builder::Combiner(Opcode opcode, DType dtype) {
  Computation*& known = state_->shared->combiners[{opcode, dtype}];
  if (known == nullptr) {
    const Shape scalar = Shape::Array(dtype, {});
    known = SubComputation(
        StrCat(OpcodeName(opcode), "_", DTypeName(dtype)), {scalar, scalar},
        [&](Builder& b, std::span<const Value> v) { return b.Binary(opcode, v[0], v[1]); });
  }
  return known;
}

}  // namespace neuron::hlo
