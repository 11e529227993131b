#include <unordered_map>
#include <unordered_set>

#include "hlo/module.h"
#include "hlo/shape_inference.h"

namespace neuron::hlo {
namespace {

template <typename... Parts>
Status Illegal(const Computation& c, const Instruction& i, const Parts&... parts) {
  return InvalidArgument(c.name(), "/", i.name(), ": ", parts...);
}

Status VerifyParameters(const Computation& c) {
  const std::vector<Instruction*> parameters = c.Parameters();
  for (size_t n = 0; n < parameters.size(); ++n)
    if (parameters[n]->attributes().parameter_number != static_cast<int64_t>(n))
      return Illegal(c, *parameters[n], "parameters must be numbered 0 to ", parameters.size() - 1,
                     ", this one is ", parameters[n]->attributes().parameter_number);
  return OkStatus();
}

Status VerifyInstruction(const Computation& c, const Instruction& i,
                         const std::unordered_set<const Computation*>& known) {
  std::vector<Shape> shapes;
  for (const Instruction* operand : i.operands()) shapes.push_back(operand->shape());
  for (const Computation* called : i.called())
    if (!known.contains(called)) return Illegal(c, i, "calls a computation of another module");
  const StatusOr<Shape> shape =
      InferShape(i.opcode(), shapes, i.attributes(), i.called(), &i.shape());
  if (!shape.ok()) return shape.status().WithPrefix(c.name() + "/" + i.name() + ": ");
  if (*shape != i.shape())
    return Illegal(c, i, OpcodeName(i.opcode()), " has shape ", i.shape().ToString(),
                   ", its rule gives ", shape->ToString());
  return OkStatus();
}

Status VerifyComputation(const Computation& c,
                         const std::unordered_set<const Computation*>& known) {
  if (c.root() == nullptr) return InvalidArgument(c.name(), ": has no root");
  NEURON_RETURN_IF_ERROR(VerifyParameters(c));
  std::unordered_set<const Instruction*> seen;
  for (const auto& i : c.instructions()) {
    for (const Instruction* operand : i->operands())
      if (!seen.contains(operand))
        return Illegal(c, *i, "operand ", operand->name(),
                       operand->parent() == &c ? " follows it; sort the computation"
                                               : " belongs to another computation");
    NEURON_RETURN_IF_ERROR(VerifyInstruction(c, *i, known));
    seen.insert(i.get());
  }
  if (!seen.contains(c.root()))
    return InvalidArgument(c.name(), ": its root is not one of its instructions");
  return OkStatus();
}

// Where a computation stands while the calls below it are walked.
enum class Walk : uint8_t { kNew, kOpen, kDone };

Status VerifyNoRecursion(const Module& module) {
  std::unordered_map<const Computation*, Walk> state;
  for (const auto& start : module.computations()) {
    std::vector<std::pair<const Computation*, bool>> stack = {{start.get(), false}};
    while (!stack.empty()) {
      const auto [c, done] = stack.back();
      stack.pop_back();
      if (done) {
        state[c] = Walk::kDone;
        continue;
      }
      if (state[c] == Walk::kDone) continue;
      if (state[c] == Walk::kOpen)
        return InvalidArgument(c->name(), ": computations must not call themselves");
      state[c] = Walk::kOpen;
      stack.emplace_back(c, true);
      for (const auto& i : c->instructions())
        for (const Computation* called : i->called()) {
          if (state[called] == Walk::kOpen)
            return InvalidArgument(called->name(), ": computations must not call themselves");
          if (state[called] == Walk::kNew) stack.emplace_back(called, false);
        }
    }
  }
  return OkStatus();
}

Status VerifyAliases(const Module& module) {
  const std::vector<Instruction*> parameters = module.entry()->Parameters();
  const Shape& result = module.entry()->root()->shape();
  const size_t outputs = result.is_tuple() ? result.elements.size() : 1;
  std::unordered_set<int64_t> used_outputs, used_parameters;
  for (const InputOutputAlias& alias : module.aliases()) {
    if (alias.output < 0 || alias.output >= static_cast<int64_t>(outputs) || alias.parameter < 0 ||
        alias.parameter >= static_cast<int64_t>(parameters.size()))
      return InvalidArgument(module.name(), ": alias of output ", alias.output, " and parameter ",
                             alias.parameter, "; there are ", outputs, " and ", parameters.size());
    const Shape& output =
        result.is_tuple() ? result.elements[static_cast<size_t>(alias.output)] : result;
    const Shape& parameter = parameters[static_cast<size_t>(alias.parameter)]->shape();
    if (output != parameter)
      return InvalidArgument(module.name(), ": output ", alias.output, " is ", output.ToString(),
                             ", its alias parameter ", alias.parameter, " ", parameter.ToString());
    if (!used_outputs.insert(alias.output).second ||
        !used_parameters.insert(alias.parameter).second)
      return InvalidArgument(module.name(), ": output ", alias.output, " or parameter ",
                             alias.parameter, " is aliased twice");
  }
  return OkStatus();
}

}  // namespace

Status Verify(const Module& module) {
  std::unordered_set<const Computation*> known;
  for (const auto& c : module.computations()) known.insert(c.get());
  if (!known.contains(module.entry()))
    return InvalidArgument(module.name(), ": the entry is not one of its computations");
  for (const auto& c : module.computations()) NEURON_RETURN_IF_ERROR(VerifyComputation(*c, known));
  NEURON_RETURN_IF_ERROR(VerifyNoRecursion(module));
  return VerifyAliases(module);
}

}  // namespace neuron::hlo
