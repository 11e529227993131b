#include "compiler/compiler.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "compiler/auto_cast.h"
#include "compiler/buffers.h"
#include "compiler/canonicalise.h"
#include "compiler/chain.h"
#include "compiler/control_flow.h"
#include "compiler/expand.h"
#include "compiler/hero.h"
#include "compiler/kernel_plan.h"
#include "compiler/loop_body.h"
#include "compiler/movement.h"
#include "compiler/placement.h"
#include "compiler/verify.h"
#include "compiler/wide_kernel.h"
#include "hlo/extent.h"

namespace neuron::compiler {
namespace {

class Dump {
 public:
  Dump(const Options& options, const std::string& name) : directory_(options.dump_directory) {
    if (directory_.empty()) return;
    std::error_code ignored;
    std::filesystem::create_directories(directory_, ignored);
    prefix_ = directory_ + "/" + name;
  }
  // `text` is only called if there is a directory.
  template <typename Text>
  void Write(const char* pass, const Text& text) const {
    if (directory_.empty()) return;
    std::ofstream(prefix_ + "." + pass + ".txt") << text();
  }

 private:
  std::string directory_, prefix_;
};

bool DependsOnExtent(const hlo::Shape& shape) {
  return hlo::AnyRunTime(shape.dims) || hlo::IsRunTime(shape.num_elements()) ||
         std::any_of(shape.elements.begin(), shape.elements.end(), DependsOnExtent);
}

// Whether the kernel's emitter knows sizes that depend on the run-time extent, if there are any.
Status CheckExtents(const Kernel& kernel) {
  const auto depends = [](const hlo::Instruction* x) {
    return DependsOnExtent(x->shape()) ||
           std::any_of(x->operands().begin(), x->operands().end(),
                       [](const hlo::Instruction* y) { return DependsOnExtent(y->shape()); });
  };
  const auto& members = kernel.members;
  const auto first = std::find_if(members.begin(), members.end(), depends);
  if (first == members.end()) return OkStatus();
  if (kernel.kind == KernelKind::kLoop) return OkStatus();
  if (kernel.kind == KernelKind::kHero && TakesExtents(*kernel.hero)) return OkStatus();
  return Unimplemented("compiler: no kernel with a run-time extent for ", (*first)->name(), " = ",
                       (*first)->shape().ToString(), " ", hlo::OpcodeName((*first)->opcode()));
}

// Memory between kernels is there for the largest extent, however small this one is.
Status CheckScratch(const EmitContext& ctx) {
  constexpr int64_t kMostScratch = int64_t{64} << 20;
  for (const isa::TensorDecl& tensor : ctx.b.program().tensors)
    if (tensor.kind == isa::TensorKind::kScratch && tensor.bytes > kMostScratch)
      return Unimplemented("compiler: ", tensor.bytes, " bytes between kernels at an extent of ",
                           ctx.options.extent_bound);
  return OkStatus();
}

Status EmitKernels(EmitContext& ctx, const std::string& name, const std::vector<LateCopy>& late) {
  for (const Kernel& kernel : ctx.plan.kernels) {
    if (kernel.members.empty()) continue;
    ctx.BeginKernel();
    if (ctx.options.extent_bound > 0) NEURON_RETURN_IF_ERROR(CheckExtents(kernel));
    Status status;
    switch (kernel.kind) {
      case KernelKind::kLoop:
        status = EmitLoopKernel(ctx, kernel);
        break;
      case KernelKind::kWide:
        status = EmitWideKernel(ctx, kernel);
        break;
      case KernelKind::kHero:
        status = EmitHero(ctx, kernel);
        break;
      case KernelKind::kChain:
        status = EmitChain(ctx, kernel);
        break;
    }
    if (!status.ok()) return status.WithPrefix(name + ": ");
    NEURON_CHECK(ctx.sbuf.in_use() == 0 && ctx.psum.in_use() == 0, "kernel of ",
                 kernel.members[0]->name(), " kept on-chip memory");
  }
  for (const LateCopy& copy : late)
    NEURON_RETURN_IF_ERROR(EmitCopy(ctx, copy.to.sizes, HbmViewOf(ctx, copy.to),
                                    HbmViewOf(ctx, View::Of(copy.value))));
  return OkStatus();
}

struct Planned {
  CanonicalModule canonical;
  Plan plan;
};

StatusOr<Planned> PlanModule(const hlo::Module& module, const Options& options, const Dump& dump) {
  dump.Write("0-input", [&] { return module.ToText(); });
  NEURON_ASSIGN_OR_RETURN(CanonicalModule canonical, Canonicalise(module, options.relaxed));
  canonical.extent_bound = options.extent_bound;
  canonical.strides = options.strides;
  dump.Write("1-canonical", [&] { return canonical.module.ToText(); });
  if (options.verify) NEURON_RETURN_IF_ERROR(VerifyCanonical(canonical));
  NEURON_ASSIGN_OR_RETURN(Plan plan, PlanKernels(canonical));
  const auto done = [&](const char* pass) {
    dump.Write(pass, [&] { return ToText(plan); });
    return options.verify ? VerifyPlan(canonical, plan, pass) : OkStatus();
  };
  NEURON_RETURN_IF_ERROR(done("2-plan"));
  PlacePieces(canonical, plan);
  NEURON_RETURN_IF_ERROR(done("3-placed"));
  if (options.extent_bound == 0) FormChains(canonical, plan);
  NEURON_RETURN_IF_ERROR(done("4-chains"));
  return Planned{std::move(canonical), std::move(plan)};
}

}  // namespace

StatusOr<CompiledProgram> Compile(const hlo::Module& module, const Options& options) {
  const Dump dump(options, module.name());
  const std::optional<hlo::Module> cast = AutoCastModule(module, options);
  NEURON_ASSIGN_OR_RETURN(std::optional<hlo::Module> expanded, Expand(cast ? *cast : module));
  if (!expanded && cast) expanded = cast->Clone();
  if (expanded) {
    dump.Write("0-expanded", [&] { return expanded->ToText(); });
    if (options.verify) NEURON_RETURN_IF_ERROR(hlo::Verify(*expanded));
  }
  NEURON_ASSIGN_OR_RETURN(const Planned planned,
                          PlanModule(expanded ? *expanded : module, options, dump));
  CompiledProgram out;
  isa::ProgramBuilder builder(module.name(), options.target);
  EmitContext ctx(options, planned.plan, builder);
  std::vector<LateCopy> late;
  NEURON_RETURN_IF_ERROR(AssignBuffers(planned.canonical, ctx, out.signature, late));
  NEURON_RETURN_IF_ERROR(EmitKernels(ctx, module.name(), late));
  if (options.extent_bound > 0) NEURON_RETURN_IF_ERROR(CheckScratch(ctx));
  NEURON_RETURN_IF_ERROR(ctx.FinishExtents());
  NEURON_ASSIGN_OR_RETURN(out.program, std::move(builder).Build());
  dump.Write("5-program", [&] { return isa::Disassemble(out.program); });
  return out;
}

Status EmitCalled(EmitContext& caller, const hlo::Module& module, const Binding& binding) {
  if (caller.options.extent_bound > 0)
    return Unimplemented("compiler: ", module.name(), " is called with a run-time extent");
  const Dump dump(caller.options, module.name());
  NEURON_ASSIGN_OR_RETURN(const Planned planned, PlanModule(module, caller.options, dump));
  EmitContext ctx(caller.options, planned.plan, caller.b);
  std::vector<LateCopy> late;
  NEURON_RETURN_IF_ERROR(AssignBuffers(planned.canonical, ctx, binding, late));
  return EmitKernels(ctx, module.name(), late);
}

}  // namespace neuron::compiler
