#include "compiler/verify.h"

#include <algorithm>
#include <unordered_set>

#include "hlo/extent.h"
#include "hlo/shape_inference.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

template <typename... Parts>
Status Broken(std::string_view pass, const Instruction& x, const Parts&... parts) {
  return Internal("compiler: after ", pass, ", ", x.name(), " ", parts...);
}

class PlanVerifier {
 public:
  PlanVerifier(const CanonicalModule& canonical, const Plan& plan, std::string_view pass)
      : canonical_(canonical), plan_(plan), pass_(pass) {}

  Status Run() {
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      const Kernel& kernel = plan_.kernels[k];
      if (kernel.members.empty()) continue;
      const Instruction& first = *kernel.members[0];
      if (kernel.reduced.size() != kernel.domain.size())
        return Broken(pass_, first, "opens a kernel whose domain has ", kernel.domain.size(),
                      " dimensions and ", kernel.reduced.size(), " marks of reduction");
      if (kernel.kind == KernelKind::kHero && kernel.hero != &first)
        return Broken(pass_, first, "opens the kernel of another instruction");
      for (const Instruction* x : kernel.members)
        NEURON_RETURN_IF_ERROR(Member(*x, static_cast<int>(k)));
      for (const Instruction* x : kernel.results)
        if (plan_.KernelOf(x) != static_cast<int>(k) || !seen_.contains(x))
          return Broken(pass_, *x, "is a result of a kernel that does not compute it");
    }
    const Instruction* root = canonical_.module.entry()->root();
    if (root->opcode() != Opcode::kTuple) return Stored(*root, *root);
    for (const Instruction* x : root->operands()) NEURON_RETURN_IF_ERROR(Stored(*root, *x));
    return OkStatus();
  }

 private:
  Status Member(const Instruction& x, int kernel) {
    if (plan_.KernelOf(&x) != kernel)
      return Broken(pass_, x, "is a member of kernel ", kernel, ", the table says ",
                    plan_.KernelOf(&x));
    for (const Instruction* operand : x.operands()) {
      if (!operand->shape().is_array()) continue;  // the tuple of which x is an element
      const Instruction& base = *plan_.ViewOf(operand).base;
      if (plan_.KernelOf(&base) == kernel) {
        if (!seen_.contains(&base))
          return Broken(pass_, x, "reads ", base.name(), ", which follows it in its kernel");
        continue;
      }
      if (plan_.KernelOf(&base) > kernel)
        return Broken(pass_, x, "reads ", base.name(), " of a later kernel");
      NEURON_RETURN_IF_ERROR(Stored(x, base));
      NEURON_RETURN_IF_ERROR(Inside(x, plan_.ViewOf(operand)));
    }
    if (!seen_.insert(&x).second) return Broken(pass_, x, "is computed twice");
    return OkStatus();
  }

  // The reader finds `base` in memory.
  Status Stored(const Instruction& reader, const Instruction& base) const {
    switch (base.opcode()) {
      case Opcode::kParameter:
      case Opcode::kConstant:
      case Opcode::kIota:
        return OkStatus();
      default:
        break;
    }
    const int k = plan_.KernelOf(&base);
    if (k < 0) return Broken(pass_, reader, "reads ", base.name(), ", which no kernel computes");
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(k)];
    if (kernel.members.empty()) return OkStatus();  // its pieces are stored where they go
    if (std::find(kernel.results.begin(), kernel.results.end(), &base) == kernel.results.end())
      return Broken(pass_, reader, "reads ", base.name(), ", which its kernel does not store");
    return OkStatus();
  }

  // A flat value with padding after its end is read inside of its elements only; the planner knows.
  Status Inside(const Instruction& x, const View& view) const {
    if (plan_.extent_bound > 0 || view.base->opcode() == Opcode::kIota) return OkStatus();
    int64_t low = view.offset, high = view.offset;
    for (size_t d = 0; d < view.sizes.size(); ++d) {
      if (view.sizes[d] == 0) return OkStatus();
      (view.strides[d] < 0 ? low : high) += (view.sizes[d] - 1) * view.strides[d];
    }
    const int64_t end = view.base->shape().num_bytes();
    if (low < 0 || (high >= 0 && low * ByteSize(view.dtype) >= std::max<int64_t>(end, 1)))
      return Broken(pass_, x, "reads ", view.base->name(), " from element ", low, " to ", high,
                    " of ", end, " bytes");
    return OkStatus();
  }

  const CanonicalModule& canonical_;
  const Plan& plan_;
  const std::string_view pass_;
  std::unordered_set<const Instruction*> seen_;
};

}  // namespace

Status VerifyCanonical(const CanonicalModule& canonical) {
  constexpr std::string_view kPass = "canonicalise";
  std::unordered_set<const Instruction*> seen;
  for (const auto& x : canonical.module.entry()->instructions()) {
    std::vector<hlo::Shape> shapes;
    for (const Instruction* operand : x->operands()) {
      if (!seen.contains(operand)) return Broken(kPass, *x, "precedes ", operand->name());
      shapes.push_back(operand->shape());
    }
    seen.insert(x.get());
    if (x->opcode() == Opcode::kWhile || x->opcode() == Opcode::kConditional) continue;
    const StatusOr<hlo::Shape> shape =
        hlo::InferShape(x->opcode(), shapes, x->attributes(), x->called(), &x->shape());
    if (!shape.ok()) return Broken(kPass, *x, "is illegal: ", shape.status().message());
    if (*shape != x->shape())
      return Broken(kPass, *x, "has shape ", x->shape().ToString(), ", its rule gives ",
                    shape->ToString());
  }
  return OkStatus();
}

Status VerifyPlan(const CanonicalModule& canonical, const Plan& plan, std::string_view pass) {
  return PlanVerifier(canonical, plan, pass).Run();
}

}  // namespace neuron::compiler
