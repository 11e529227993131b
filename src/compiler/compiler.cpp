#include "compiler/compiler.h"

#include <filesystem>
#include <fstream>

#include "compiler/buffers.h"
#include "compiler/canonicalise.h"
#include "compiler/chain.h"
#include "compiler/hero.h"
#include "compiler/kernel_plan.h"
#include "compiler/loop_body.h"
#include "compiler/movement.h"
#include "compiler/placement.h"
#include "compiler/wide_kernel.h"

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

}  // namespace

StatusOr<CompiledProgram> Compile(const hlo::Module& module, const Options& options) {
  const Dump dump(options, module.name());
  dump.Write("0-input", [&] { return module.ToText(); });
  NEURON_ASSIGN_OR_RETURN(const CanonicalModule canonical, Canonicalise(module, options.relaxed));
  dump.Write("1-canonical", [&] { return canonical.module.ToText(); });
  NEURON_ASSIGN_OR_RETURN(Plan plan, PlanKernels(canonical));
  PlacePieces(canonical, plan);
  FormChains(canonical, plan);
  dump.Write("2-plan", [&] { return ToText(plan); });

  CompiledProgram out;
  isa::ProgramBuilder builder(module.name(), options.target);
  EmitContext ctx(options, plan, builder);
  std::vector<LateCopy> late;
  NEURON_RETURN_IF_ERROR(AssignBuffers(canonical, ctx, out.signature, late));
  for (const Kernel& kernel : plan.kernels) {
    if (kernel.members.empty()) continue;
    ctx.BeginKernel();
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
    if (!status.ok()) return status.WithPrefix(module.name());
    NEURON_CHECK(ctx.sbuf.in_use() == 0 && ctx.psum.in_use() == 0, "kernel of ",
                 kernel.members[0]->name(), " kept on-chip memory");
  }
  for (const LateCopy& copy : late)
    NEURON_RETURN_IF_ERROR(EmitCopy(ctx, copy.to.sizes, HbmViewOf(ctx, copy.to),
                                    HbmViewOf(ctx, View::Of(copy.value))));
  NEURON_ASSIGN_OR_RETURN(out.program, std::move(builder).Build());
  dump.Write("3-program", [&] { return isa::Disassemble(out.program); });
  return out;
}

}  // namespace neuron::compiler
