#include "compiler/buffers.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/sbuf_allocator.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;

constexpr int64_t kAlignment = 64;

ParameterPlace PlaceOf(const Options& options, int64_t parameter) {
  const auto i = static_cast<size_t>(parameter);
  return i < options.parameters.size() ? options.parameters[i] : ParameterPlace::kBuffer;
}

std::vector<const Instruction*> Results(const hlo::Module& module) {
  const Instruction* root = module.entry()->root();
  if (root->opcode() != Opcode::kTuple) return {root};
  return {root->operands().begin(), root->operands().end()};
}

// True if the view is all of its base, in order.
bool ReadsInPlace(const View& view) {
  return view.offset == 0 && view.IsDense() && view.dtype == view.base->shape().dtype &&
         Product(view.sizes) == view.base->shape().num_elements();
}

class Assigner {
 public:
  Assigner(const CanonicalModule& canonical, EmitContext& ctx, std::vector<LateCopy>& late)
      : module_(canonical.module),
        stores_(canonical.stores),
        ctx_(ctx),
        plan_(ctx.plan),
        parameters_(module_.entry()->Parameters()),
        results_(Results(module_)),
        late_(late) {}

  Status Run(Signature& signature) {
    NEURON_RETURN_IF_ERROR(ReadAliases());
    NEURON_RETURN_IF_ERROR(Declare(signature));
    Place();
    return OkStatus();
  }

  Status Run(const Binding& binding) {
    NEURON_RETURN_IF_ERROR(ReadAliases());
    for (size_t i = 0; i < parameters_.size(); ++i)
      ctx_.SetBuffer(parameters_[i], binding.parameters[i]);
    for (size_t j = 0; j < results_.size(); ++j) {
      const auto aliased = parameter_of_.find(static_cast<int64_t>(j));
      output_buffers_.push_back(aliased != parameter_of_.end() ? ctx_.BufferOf(aliased->second)
                                                               : binding.results[j]);
    }
    Place();
    return OkStatus();
  }

 private:
  void Place() {
    FindLifetimes();
    PlaceResults();
    PlaceScratch();
  }

  Status ReadAliases() {
    for (const hlo::InputOutputAlias& alias : module_.aliases()) {
      if (alias.parameter < 0 || alias.parameter >= static_cast<int64_t>(parameters_.size()) ||
          alias.output < 0 || alias.output >= static_cast<int64_t>(results_.size()))
        return InvalidArgument("compiler: alias of output ", alias.output, " and parameter ",
                               alias.parameter, " names neither");
      if (PlaceOf(ctx_.options, alias.parameter) == ParameterPlace::kScalarBlock)
        return InvalidArgument("compiler: output ", alias.output, " is aliased to parameter ",
                               alias.parameter, ", which is a run-time scalar");
      const int64_t have = parameters_[static_cast<size_t>(alias.parameter)]->shape().num_bytes();
      const int64_t want = results_[static_cast<size_t>(alias.output)]->shape().num_bytes();
      if (have < want)
        return InvalidArgument("compiler: output ", alias.output, " has ", want,
                               " bytes, the parameter ", alias.parameter, " it aliases ", have);
      output_of_[alias.parameter] = alias.output;
      parameter_of_[alias.output] = parameters_[static_cast<size_t>(alias.parameter)];
    }
    return OkStatus();
  }

  Status Declare(Signature& signature) {
    int64_t slot = 0;
    const auto add = [&](const std::string& name, isa::TensorKind kind, int64_t bytes,
                         int64_t parameter, int64_t output) {
      const Register offset = ctx_.b.AddRegister(
          {.min = 0, .max = int64_t{1} << 46, .scalar_slot = static_cast<int32_t>(slot)});
      const uint16_t tensor =
          ctx_.b.AddTensor({.name = name, .kind = kind, .bytes = bytes, .byte_offset = offset});
      signature.buffers.push_back({.name = name,
                                   .bytes = bytes,
                                   .parameter = parameter,
                                   .output = output,
                                   .offset_slot = slot++});
      return tensor;
    };
    for (const Instruction* p : parameters_) {
      const int64_t number = p->attributes().parameter_number;
      if (PlaceOf(ctx_.options, number) == ParameterPlace::kScalarBlock) continue;
      const auto aliased = output_of_.find(number);
      const bool is_aliased = aliased != output_of_.end();
      const uint16_t tensor = add(StrCat("input", number),
                                  is_aliased ? isa::TensorKind::kInOut : isa::TensorKind::kInput,
                                  BytesOf(*p), number, is_aliased ? aliased->second : -1);
      ctx_.SetBuffer(p, {tensor, 0});
    }
    for (size_t j = 0; j < results_.size(); ++j) {
      const auto output = static_cast<int64_t>(j);
      if (parameter_of_.contains(output)) {
        output_buffers_.push_back(ctx_.BufferOf(parameter_of_.at(output)));
        continue;
      }
      output_buffers_.push_back({add(StrCat("output", output), isa::TensorKind::kOutput,
                                     ctx_.AtBound(results_[j]->shape().num_bytes()), -1, output),
                                 0});
    }
    signature.first_scalar_slot = slot;
    // The block is always there: buffers' offsets are preloaded from it too.
    const uint16_t scalars =
        ctx_.b.AddTensor({.name = "scalars", .kind = isa::TensorKind::kScalars});
    for (const Instruction* p : parameters_) {
      const int64_t number = p->attributes().parameter_number;
      if (PlaceOf(ctx_.options, number) != ParameterPlace::kScalarBlock) continue;
      if (!p->shape().is_scalar())
        return InvalidArgument("compiler: parameter ", number, " ", p->shape().ToString(),
                               " cannot be a run-time scalar; only rank 0 can");
      const Register reg = ctx_.b.AddRegister({.scalar_slot = static_cast<int32_t>(slot)});
      ctx_.SetScalar(p, reg, slot);
      const bool narrow = IsFloating(p->shape().dtype) && ByteSize(p->shape().dtype) < 4;
      ctx_.SetBuffer(p, {scalars, 8 * slot + (narrow ? 4 : 0)});
      signature.scalar_parameters.push_back(number);
      ++slot;
    }
    if (const int64_t bound = ctx_.options.extent_bound; bound > 0)
      ctx_.SetExtent(ctx_.b.AddRegister(
          {.min = 1, .max = bound, .scalar_slot = static_cast<int32_t>(slot++)}));
    signature.num_slots = slot;
    ctx_.b.program().tensors[scalars].bytes = 8 * slot;
    return OkStatus();
  }

  void FindLifetimes() {
    last_read_.assign(plan_.kernel_of.size(), -1);
    for (size_t k = 0; k < plan_.kernels.size(); ++k)
      for (const Instruction* member : plan_.kernels[k].members)
        for (const Instruction* operand : member->operands()) {
          if (!operand->shape().is_array()) continue;
          int& last = last_read_[static_cast<size_t>(plan_.ViewOf(operand).base->id())];
          last = std::max(last, static_cast<int>(k));
        }
  }

  // Where `view` walks a kernel's domain; empty if it does not cover it.
  static Dims Walk(const View& view, const Kernel& kernel) {
    if (Product(view.sizes) != Product(kernel.domain)) return {};
    return ReshapeStrides(view.sizes, view.strides, kernel.domain).value_or(Dims());
  }

  // True if writing result `value` to `place`, a view of `parameter`, in its kernel may destroy
  // bytes that are still to be read.
  bool Destroys(const Instruction* parameter, const Instruction* value, const View& place) const {
    const int k = plan_.KernelOf(value);
    if (last_read_[static_cast<size_t>(parameter->id())] > k) return true;
    const Kernel& kernel = plan_.kernels[static_cast<size_t>(k)];
    const Dims writes = Walk(place, kernel);
    for (const Instruction* member : kernel.members)
      for (size_t i = 0; i < member->operands().size(); ++i) {
        const Instruction* operand = member->operand(static_cast<int64_t>(i));
        if (!operand->shape().is_array()) continue;
        const View& view = plan_.ViewOf(operand);
        if (view.base != parameter) continue;
        if (kernel.kind == KernelKind::kChain) return true;
        if (kernel.kind == KernelKind::kHero && member == kernel.hero) {
          if (member->opcode() == Opcode::kDynamicUpdateSlice && i == 0 && ReadsInPlace(view) &&
              value == member)
            continue;
          return true;
        }
        // The tile that is read must be the tile that is written.
        const Dims reads = Walk(view, kernel);
        if (reads.empty() || writes.empty() || view.offset != place.offset ||
            view.dtype != value->shape().dtype)
          return true;
        for (size_t d = 0; d < reads.size(); ++d)
          if (kernel.domain[d] != 1 && reads[d] != writes[d]) return true;
      }
    return false;
  }

  void PlaceResults() {
    for (size_t j = 0; j < results_.size(); ++j) {
      const Instruction* value = results_[j];
      const auto store = stores_.find(value);
      View place = store != stores_.end() ? store->second : View::Of(value);
      const auto aliased = parameter_of_.find(static_cast<int64_t>(j));
      if (aliased == parameter_of_.end()) {
        ctx_.SetBuffer(value, output_buffers_[j]);
        if (store != stores_.end()) ctx_.SetStore(value, place);
        continue;
      }
      place.base = aliased->second;
      if (Destroys(aliased->second, value, place)) {
        late_.push_back({value, place});
        late_values_.insert(value);
        continue;
      }
      if (store != stores_.end()) ctx_.SetStore(value, place);  // it has no buffer of its own
      ctx_.SetBuffer(value, output_buffers_[j]);
    }
  }

  void PlaceScratch() {
    // Expiring values by last reader.
    std::map<int, std::vector<int64_t>> expiring;
    ColumnAllocator arena(int64_t{1} << 60, kAlignment);
    std::vector<const Instruction*> placed;
    uint16_t scratch = Buffer::kNone;
    for (size_t k = 0; k < plan_.kernels.size(); ++k) {
      for (const Instruction* value : plan_.kernels[k].results) {
        if (ctx_.HasBuffer(value)) continue;
        if (scratch == Buffer::kNone)
          scratch = ctx_.b.AddTensor({.name = "scratch", .kind = isa::TensorKind::kScratch});
        const int last =
            late_values_.contains(value)
                ? static_cast<int>(plan_.kernels.size())
                : std::max(static_cast<int>(k), last_read_[static_cast<size_t>(value->id())]);
        if (const auto placed = plan_.places.find(value); placed != plan_.places.end()) {
          const Instruction* whole = placed->second.base;
          if (!ctx_.HasBuffer(whole)) {
            const int64_t address = arena.Allocate(BytesOf(*whole)).value();
            ctx_.SetBuffer(whole, {scratch, address});
            expiring[last_read_[static_cast<size_t>(whole->id())]].push_back(address);
          }
          ctx_.SetBuffer(value, ctx_.BufferOf(whole));
          ctx_.SetStore(value, placed->second);
          continue;
        }
        if (const int64_t reused = UpdatedInPlace(plan_.kernels[k], value, scratch); reused >= 0) {
          std::erase(expiring[static_cast<int>(k)], reused);
          ctx_.SetBuffer(value, {scratch, reused});
          expiring[last].push_back(reused);
          continue;
        }
        const int64_t address = arena.Allocate(BytesOf(*value)).value();
        ctx_.SetBuffer(value, {scratch, address});
        expiring[last].push_back(address);
      }
      const auto done = expiring.find(static_cast<int>(k));
      if (done == expiring.end()) continue;
      for (int64_t address : done->second) arena.Free(address);
    }
    if (scratch != Buffer::kNone) ctx_.b.program().tensors[scratch].bytes = arena.high_water();
  }

  int64_t BytesOf(const Instruction& x) const {
    if (x.opcode() != Opcode::kParameter || plan_.ViewOf(&x).IsDense())
      return ctx_.AtBound(x.shape().num_bytes());
    const View& view = plan_.ViewOf(&x);
    int64_t elements = 1;
    for (size_t d = 0; d < view.sizes.size(); ++d)
      elements += ctx_.AtBound((view.sizes[d] - 1) * view.strides[d]);
    return elements * ByteSize(view.dtype);
  }

  // The scratch address of an update's operand if nothing else reads it any more; -1: none.
  int64_t UpdatedInPlace(const Kernel& kernel, const Instruction* value, uint16_t scratch) const {
    if (kernel.hero != value || value->opcode() != Opcode::kDynamicUpdateSlice) return -1;
    const View& view = plan_.ViewOf(value->operand(0));
    if (!ReadsInPlace(view) || plan_.KernelOf(view.base) < 0) return -1;
    if (plan_.ViewOf(value->operand(1)).base == view.base) return -1;
    if (last_read_[static_cast<size_t>(view.base->id())] != plan_.KernelOf(value)) return -1;
    const Buffer buffer = ctx_.BufferOf(view.base);
    return buffer.tensor == scratch && !late_values_.contains(view.base) ? buffer.byte_offset : -1;
  }

  const hlo::Module& module_;
  const std::unordered_map<const Instruction*, View>& stores_;
  EmitContext& ctx_;
  const Plan& plan_;
  const std::vector<Instruction*> parameters_;
  const std::vector<const Instruction*> results_;
  std::vector<LateCopy>& late_;
  std::vector<Buffer> output_buffers_;
  std::map<int64_t, const Instruction*> parameter_of_;  // output -> aliased parameter
  std::map<int64_t, int64_t> output_of_;                // aliased parameter -> output
  std::set<const Instruction*> late_values_;
  std::vector<int> last_read_;  // by instruction id: last kernel
};

}  // namespace

Status AssignBuffers(const CanonicalModule& canonical, EmitContext& ctx, Signature& signature,
                     std::vector<LateCopy>& late_copies) {
  return Assigner(canonical, ctx, late_copies).Run(signature);
}

Status AssignBuffers(const CanonicalModule& canonical, EmitContext& ctx, const Binding& binding,
                     std::vector<LateCopy>& late_copies) {
  return Assigner(canonical, ctx, late_copies).Run(binding);
}

}  // namespace neuron::compiler
