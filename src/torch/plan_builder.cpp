#include "torch/plan_builder.h"

#include <c10/core/DefaultDtype.h>

#include <sstream>

#include "lowering/table.h"
#include "torch/argument_checks.h"
#include "torch/arguments.h"
#include "torch/cpu_probe.h"
#include "torch/device.h"
#include "torch/dtype.h"
#include "torch/memory_formats.h"
#include "torch/options.h"

namespace neuron::pytorch {

using Kind = PlanResult::Kind;

PlanBuilder::PlanBuilder(OpEntry& entry, const c10::OperatorHandle& op,
                         std::span<const c10::IValue> arguments, const Call& call,
                         std::span<const AssumedSizes> assumed)
    : entry_(entry),
      op_(op),
      arguments_(arguments),
      call_(call),
      assumed_(assumed),
      b_(entry.name),
      operands_(entry, arguments, assumed),
      results_(entry, b_, operands_, meta_, !assumed.empty()) {}

std::unique_ptr<Plan> PlanBuilder::Build() {
  std::string refusal;
  try {
    return BuildChecked();
  } catch (const c10::Error& error) {
    refusal = error.what_without_backtrace();
  } catch (const std::exception& error) {
    refusal = TakePythonError();
    if (refusal.empty()) refusal = error.what();
  }
  return Refuse(refusal.empty() ? "wrong arguments" : refusal, true);
}

StatusOr<hlo::Module> PlanBuilder::BuildModuleForSizes() {
  if (DependsOnData()) return Unimplemented("sizes depend on data");
  if ((entry_.row->flags & lowering::kOwnShapes) == 0) meta_ = InferMeta(op_, arguments_, assumed_);
  if (meta_.has_value()) SetMemoryFormats(entry_, arguments_, *meta_);
  operands_.Collect(meta_);
  NEURON_RETURN_IF_ERROR(Lower());
  if (results_.roots().empty()) return Unimplemented("there is nothing to compute");
  if (philox_parameter_ >= 0 || results_.has_counted())
    return Unimplemented("random numbers and counted results");
  return BuildModule();
}

StatusOr<std::unique_ptr<Plan>> PlanBuilder::CompileForAllLengths(
    hlo::Module module, std::span<const ExtentConstant> constants, const ExtentKey& extent,
    int64_t bound) {
  ReplaceConstants(module, constants, num_parameters_);
  for (size_t i = 0; i < constants.size(); ++i) {
    extent_scalars_.push_back(
        {{.dtype = constants[i].dtype, .hlo_parameter = num_parameters_ + static_cast<int64_t>(i)},
         constants[i].value});
  }
  num_parameters_ += static_cast<int64_t>(constants.size());
  plan_->key.assign(call_.key.begin(), call_.key.end());
  plan_->extent_key = extent;
  plan_->extent_bound = bound;
  NEURON_RETURN_IF_ERROR(Compile(module));
  return std::move(plan_);
}

std::unique_ptr<Plan> PlanBuilder::BuildChecked() {
  plan_->key.assign(call_.key.begin(), call_.key.end());
  if (call_.mixed_devices) {
    return Refuse("it mixes devices");  // an error there, unless the op takes host tensors
  }
  if (call_.unsupported) return Refuse("no program for " + TensorsInWords());
  CheckArguments(entry_, arguments_, call_.tensors);
  if (!DependsOnData() && (entry_.row->flags & lowering::kOwnShapes) == 0)
    meta_ = InferMeta(op_, arguments_);
  AskCpuAboutOverlap(entry_, arguments_);
  AskCpuAboutDtypes(entry_, arguments_);
  if (meta_.has_value()) SetMemoryFormats(entry_, arguments_, *meta_);
  operands_.Collect(meta_);
  CheckConstants();
  if (const Status status = Lower(); !status.ok())
    return IsInvalidArgument(status) ? Refuse(std::string(status.message()), true)
                                     : RefuseProgram(status);
  if (results_.roots().empty()) return std::move(plan_);
  StatusOr<hlo::Module> module = BuildModule();
  if (const Status status = module.ok() ? Compile(*module) : module.status(); !status.ok()) {
    if (status.code() == StatusCode::kResourceExhausted) ThrowIfError(status);
    return RefuseProgram(status);
  }
  return std::move(plan_);
}

// The status speaks of HLO; the user knows dtypes and shapes.
std::unique_ptr<Plan> PlanBuilder::RefuseProgram(const Status& status) {
  return Refuse(StrCat("no program for ", TensorsInWords(), "\n", status.ToString()));
}

// "float32[2, 3], int64[3]"
std::string PlanBuilder::TensorsInWords() const {
  std::string words;
  for (const c10::IValue& argument : arguments_)
    ForEachTensor(argument, [&](const at::Tensor& tensor) {
      std::ostringstream sizes;
      sizes << tensor.sizes();
      words += StrCat(words.empty() ? "" : ", ", c10::getDtypeNames(tensor.scalar_type()).first,
                      sizes.str());
      if (tensor.layout() != c10::kStrided) words += " of a sparse layout";
    });
  return words.empty() ? "these arguments" : "tensors " + words;
}

std::unique_ptr<Plan> PlanBuilder::Refuse(std::string why, bool wrong_arguments) {
  plan_ = std::make_unique<Plan>();
  plan_->key.assign(call_.key.begin(), call_.key.end());
  plan_->fallback_reason = std::move(why);
  plan_->wrong_arguments = wrong_arguments;
  return std::move(plan_);
}

// No meta kernel knows the result's sizes: of a row that says so, and where a mask is an index.
bool PlanBuilder::DependsOnData() const {
  if ((entry_.row->flags & lowering::kDataDependent) != 0) return true;
  for (const c10::IValue& value : arguments_) {
    if (!value.isOptionalTensorList()) continue;
    for (const c10::IValue& element : value.toListRef())
      if (element.isTensor() && element.toTensor().defined() &&
          (element.toTensor().scalar_type() == at::kBool ||
           element.toTensor().scalar_type() == at::kByte))
        return true;
  }
  return false;
}

// What a number may have to fit besides its slot's dtype, which may be wider.
DType PlanBuilder::NumberDtype() const {
  if (!operands_.empty()) return operands_[0].dtype;
  return meta_.has_value() && !meta_->returns.empty() ? ToDType(meta_->returns[0].dtype)
                                                      : DType::kInvalid;
}

// Numbers that are part of the key are looked at here, run-time ones at each call.
void PlanBuilder::CheckConstants() const {
  for (size_t i = 0; i < entry_.args.size(); ++i)
    if (entry_.args[i].kind == ArgKind::kScalar && arguments_[i].isScalar() &&
        !Fits(arguments_[i].toScalar(), NumberDtype()))
      return AskCpuAboutNumbers(entry_, arguments_);
}

// All inputs become parameters before the row runs: what it adds are scalars.
Status PlanBuilder::Lower() {
  operands_.AddParameters(b_);
  lowering::Args args(
      b_, entry_.row->overload,
      ToArgValues(entry_, arguments_, [this](size_t i) { return operands_[i].value; }),
      static_cast<int64_t>(operands_.num_parameters()), entry_.row_index,
      ToDType(c10::get_default_dtype_as_scalartype()));
  const lowering::Values values = entry_.row->lower(b_, args);
  NEURON_RETURN_IF_ERROR(b_.status());
  NEURON_RETURN_IF_ERROR(results_.Place(values, args.counted_results()));
  if (args.row_count().has_value())
    results_.Add(*args.row_count(),
                 {.kind = Kind::kRowCount, .sizes = {}, .strides = {}, .dtype = at::kInt});
  if (const auto record = args.error_record(); record.has_value() && !results_.roots().empty()) {
    PlanResult result{.kind = Kind::kErrorRecord,
                      .sizes = {lowering::kErrorWords},
                      .strides = {1},
                      .dtype = at::kInt};
    results_.Add(*record, std::move(result));
  }
  plan_->results = results_.results();
  plan_->returned = results_.returned();
  scalar_parameters_ = args.scalar_parameters();
  philox_parameter_ = args.philox_parameter();
  plan_->philox_numbers = args.philox_numbers();
  num_parameters_ = args.next_parameter();
  return b_.status();
}

StatusOr<hlo::Module> PlanBuilder::BuildModule() {
  for (const auto& [output, parameter] : results_.aliases()) b_.Alias(output, parameter);
  const std::vector<hlo::Value>& roots = results_.roots();
  return roots.size() == 1 ? std::move(b_).Build(roots[0]) : std::move(b_).BuildTuple(roots);
}

Status PlanBuilder::Compile(const hlo::Module& module) {
  compiler::Options options = CompilerOptions(call_.device);
  options.extent_bound = plan_->extent_bound;
  options.strides = operands_.strides();
  options.parameters.assign(static_cast<size_t>(num_parameters_),
                            compiler::ParameterPlace::kBuffer);
  for (const lowering::ScalarParameter& p : scalar_parameters_)
    options.parameters[static_cast<size_t>(p.hlo_parameter)] =
        compiler::ParameterPlace::kScalarBlock;
  for (const PlanScalar& scalar : extent_scalars_)
    options.parameters[static_cast<size_t>(scalar.parameter.hlo_parameter)] =
        compiler::ParameterPlace::kScalarBlock;
  NEURON_ASSIGN_OR_RETURN(plan_->executable,
                          runtime::GetExecutable(call_.device, module, options, entry_.name));
  Bind(plan_->executable->signature());
  return OkStatus();
}

void PlanBuilder::Bind(const compiler::Signature& signature) {
  for (const auto& buffer : signature.buffers) {
    PlanBuffer bound;
    if (buffer.parameter >= 0 && buffer.parameter == philox_parameter_) {
      bound.source = PlanBuffer::Source::kPhilox;
    } else if (buffer.parameter >= 0) {
      bound.index = operands_.operand_of_parameter(buffer.parameter);
    } else {
      bound.source = PlanBuffer::Source::kResult;
      bound.index = results_.result_of_root(buffer.output);
    }
    plan_->buffers.push_back(bound);
  }
  for (const int64_t parameter : signature.scalar_parameters) {
    for (lowering::ScalarParameter p : scalar_parameters_) {
      if (p.hlo_parameter != parameter) continue;
      p.argument = CallPosition(p.argument);
      plan_->number_dtype = NumberDtype();
      plan_->scalars.push_back({p, std::nullopt});
    }
    for (const PlanScalar& scalar : extent_scalars_)
      if (scalar.parameter.hlo_parameter == parameter) plan_->scalars.push_back(scalar);
  }
}

int64_t PlanBuilder::CallPosition(int64_t row_position) const {
  for (size_t i = 0; i < entry_.args.size(); ++i)
    if (entry_.args[i].row_position == row_position) return static_cast<int64_t>(i);
  NEURON_CHECK(false, "no argument at row position ", row_position, " of ", entry_.name);
  return -1;
}

std::unique_ptr<Plan> BuildPlan(OpEntry& entry, const c10::OperatorHandle& op,
                                std::span<const c10::IValue> arguments, const Call& call) {
  return PlanBuilder(entry, op, arguments, call).Build();
}

}  // namespace neuron::pytorch
