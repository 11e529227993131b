#include <ATen/core/Tensor.h>
#include <c10/core/DefaultDtype.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <sstream>

#include "hlo/builder.h"
#include "lowering/strided.h"
#include "lowering/table.h"
#include "torch/argument_checks.h"
#include "torch/arguments.h"
#include "torch/cpu_probe.h"
#include "torch/device.h"
#include "torch/dtype.h"
#include "torch/layout.h"
#include "torch/memory_formats.h"
#include "torch/meta.h"
#include "torch/options.h"
#include "torch/plan.h"

namespace neuron::pytorch {
namespace {

using Kind = PlanResult::Kind;

// A tensor of the call while its plan is being built.
struct Operand {
  const at::Tensor* tensor = nullptr;
  bool input = false;   // the row reads it
  Dims sizes, strides;  // after resizing, for out= tensors
  DType dtype = DType::kInvalid;
  int64_t parameter = -1;
  hlo::Value flat;   // the parameter, if it is the flat span
  hlo::Value value;  // dense, in logical (or common memory) order
  int64_t begin() const { return tensor->storage_offset() * ByteSize(dtype); }
  int64_t end() const {
    return begin() +
           (CountElements(sizes) == 0 ? 0 : lowering::FlatExtent(sizes, strides)) * ByteSize(dtype);
  }
};

class PlanBuilder {
 public:
  // `assumed`: empty, or sizes of the device tensors to build for instead of their own.
  PlanBuilder(OpEntry& entry, const c10::OperatorHandle& op, std::span<const c10::IValue> arguments,
              const Call& call, std::span<const AssumedSizes> assumed = {})
      : entry_(entry),
        op_(op),
        arguments_(arguments),
        call_(call),
        assumed_(assumed),
        b_(entry.name) {}

  // The module for the assumed sizes, of a row whose results' sizes no data decide.
  StatusOr<hlo::Module> BuildModuleForSizes() {
    if (DependsOnData()) return Unimplemented("sizes depend on data");
    if ((entry_.row->flags & lowering::kOwnShapes) == 0)
      meta_ = InferMeta(op_, arguments_, assumed_);
    if (meta_.has_value()) SetMemoryFormats(entry_, arguments_, *meta_);
    CollectOperands();
    NEURON_RETURN_IF_ERROR(Lower());
    if (roots_.empty()) return Unimplemented("there is nothing to compute");
    if (philox_parameter_ >= 0 || !counted_.empty())
      return Unimplemented("random numbers and counted results");
    return BuildModule();
  }

  // After BuildModuleForSizes with sizes in kExtent: the plan of `module`, where those constants
  // have become parameters.
  StatusOr<std::unique_ptr<Plan>> CompileForAllLengths(hlo::Module module,
                                                       std::span<const ExtentConstant> constants,
                                                       const ExtentKey& extent, int64_t bound) {
    ReplaceConstants(module, constants, num_parameters_);
    for (size_t i = 0; i < constants.size(); ++i) {
      extent_scalars_.push_back({{.dtype = constants[i].dtype,
                                  .hlo_parameter = num_parameters_ + static_cast<int64_t>(i)},
                                 constants[i].value});
    }
    num_parameters_ += static_cast<int64_t>(constants.size());
    plan_->key.assign(call_.key.begin(), call_.key.end());
    plan_->extent_key = extent;
    plan_->extent_bound = bound;
    NEURON_RETURN_IF_ERROR(Compile(module));
    return std::move(plan_);
  }

  // Meta kernels, many of them Python's, word a refusal in their own way and class. CPU's counts.
  std::unique_ptr<Plan> Build() {
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

 private:
  std::unique_ptr<Plan> BuildChecked() {
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
    CollectOperands();
    CheckConstants();
    if (const Status status = Lower(); !status.ok())
      return IsInvalidArgument(status) ? Refuse(std::string(status.message()), true)
                                       : RefuseProgram(status);
    if (roots_.empty()) return std::move(plan_);
    StatusOr<hlo::Module> module = BuildModule();
    if (const Status status = module.ok() ? Compile(*module) : module.status(); !status.ok()) {
      if (status.code() == StatusCode::kResourceExhausted) ThrowIfError(status);
      return RefuseProgram(status);
    }
    return std::move(plan_);
  }

  // The status speaks of HLO; the user knows dtypes and shapes.
  std::unique_ptr<Plan> RefuseProgram(const Status& status) {
    return Refuse(StrCat("no program for ", TensorsInWords(), "\n", status.ToString()));
  }

  // "float32[2, 3], int64[3]"
  std::string TensorsInWords() const {
    std::string words;
    for (const c10::IValue& argument : arguments_)
      ForEachTensor(argument, [&](const at::Tensor& tensor) {
        if (!tensor.defined()) return;
        std::ostringstream sizes;
        sizes << tensor.sizes();
        words += StrCat(words.empty() ? "" : ", ", c10::getDtypeNames(tensor.scalar_type()).first,
                        sizes.str());
        if (tensor.layout() != c10::kStrided) words += " of a sparse layout";
      });
    return words.empty() ? "these arguments" : "tensors " + words;
  }

  std::unique_ptr<Plan> Refuse(std::string why, bool wrong_arguments = false) {
    plan_ = std::make_unique<Plan>();
    plan_->key.assign(call_.key.begin(), call_.key.end());
    plan_->fallback_reason = std::move(why);
    plan_->wrong_arguments = wrong_arguments;
    return std::move(plan_);
  }

  // No meta kernel knows the result's sizes: of a row that says so, and where a mask is an index.
  bool DependsOnData() const {
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

  void CollectOperands() {
    first_operand_.resize(entry_.args.size() + 1);
    for (size_t i = 0; i < entry_.args.size(); ++i) {
      first_operand_[i] = operands_.size();
      ForEachTensor(arguments_[i], [&](const at::Tensor& tensor) {
        if (!tensor.defined() || tensor.device().type() != kDeviceType) return;
        Operand operand;
        operand.tensor = &tensor;
        operand.input = entry_.args[i].row_position >= 0;
        const size_t index = operands_.size();
        operand.sizes = assumed_.empty() ? tensor.sizes().vec() : assumed_[index].sizes;
        operand.strides = assumed_.empty() ? tensor.strides().vec() : assumed_[index].strides;
        operand.dtype = ToDType(tensor.scalar_type());
        if (meta_.has_value() && entry_.args[i].written && index < meta_->arguments.size() &&
            meta_->arguments[index].sizes != operand.sizes) {
          TORCH_CHECK(entry_.form == Form::kOut, "output with shape ", tensor.sizes(),
                      " doesn't match the broadcast shape ",
                      at::IntArrayRef(meta_->arguments[index].sizes));
          operand.sizes = meta_->arguments[index].sizes;
          operand.strides = meta_->arguments[index].strides;
        }
        operands_.push_back(std::move(operand));
      });
    }
    first_operand_.back() = operands_.size();
    FindCommonOrder();
  }

  // What a number may have to fit besides its slot's dtype, which may be wider.
  DType NumberDtype() const {
    if (!operands_.empty()) return operands_[0].dtype;
    return meta_.has_value() && !meta_->returns.empty() ? ToDType(meta_->returns[0].dtype)
                                                        : DType::kInvalid;
  }

  // Numbers that are part of the key are looked at here, run-time ones at each call.
  void CheckConstants() const {
    for (size_t i = 0; i < entry_.args.size(); ++i)
      if (entry_.args[i].kind == ArgKind::kScalar && arguments_[i].isScalar() &&
          !Fits(arguments_[i].toScalar(), NumberDtype()))
        return AskCpuAboutNumbers(entry_, arguments_);
  }

  template <typename F>
  static void ForEachTensor(const c10::IValue& value, F&& visit) {
    if (value.isTensor()) visit(value.toTensor());
    if (value.isList())
      for (const c10::IValue& element : value.toListRef())
        if (element.isTensor()) visit(element.toTensor());
  }

  // Elementwise over operands that are all dense in one and the same order of dimensions: the
  // program works in that order, and nothing is transposed.
  void FindCommonOrder() {
    if ((entry_.row->flags & lowering::kElementwise) == 0) return;
    const Operand* first = nullptr;
    for (const Operand& operand : operands_) {
      if (operand.sizes.empty()) continue;
      if (first == nullptr) first = &operand;
      if (operand.sizes != first->sizes) return;
      const Dims order = MemoryOrder(operand.sizes, operand.strides);
      if (order != MemoryOrder(first->sizes, first->strides)) return;
      if (!lowering::IsDense(Permuted(operand.sizes, order), Permuted(operand.strides, order)))
        return;
    }
    if (first == nullptr) return;
    const Dims order = MemoryOrder(first->sizes, first->strides);
    if (IsIdentity(order)) return;
    common_order_ = order;
    for (Operand& operand : operands_) {
      if (operand.sizes.empty()) continue;
      operand.sizes = Permuted(operand.sizes, order);
      operand.strides = Permuted(operand.strides, order);
    }
  }

  hlo::Value Input(size_t index) {
    Operand& operand = operands_[index];
    if (operand.value.valid()) return operand.value;
    const hlo::Shape shape = hlo::Shape::Array(operand.dtype, operand.sizes);
    if (shape.num_elements() == 0) return operand.value = b_.Full(shape, 0);
    if (lowering::IsDense(operand.sizes, operand.strides)) {
      operand.value = NewParameter(operand, shape);
    } else if (!assumed_.empty()) {  // no slice of a static size is as long as any length
      operand.value = NewParameter(operand, shape);
      strides_.resize(parameter_operand_.size());
      strides_.back() = operand.strides;
    } else {
      operand.flat = NewParameter(operand, FlatShape(operand));
      operand.value = lowering::FromStrided(b_, operand.flat, operand.sizes, operand.strides);
    }
    return operand.value = Resolved(operand.value, *operand.tensor);
  }

  // What a lazily conjugated or negated tensor stands for.
  hlo::Value Resolved(hlo::Value stored, const at::Tensor& tensor) {
    hlo::Value value = stored;
    if (tensor.is_conj()) value = b_.Complex(b_.Real(value), b_.Negate(b_.Imag(value)));
    if (tensor.is_neg()) value = b_.Negate(value);
    return value;
  }

  static hlo::Shape FlatShape(const Operand& operand) {
    return hlo::Shape::Array(operand.dtype, {lowering::FlatExtent(operand.sizes, operand.strides)});
  }

  hlo::Value NewParameter(Operand& operand, const hlo::Shape& shape) {
    operand.parameter = static_cast<int64_t>(parameter_operand_.size());
    parameter_operand_.push_back(static_cast<int>(&operand - operands_.data()));
    return b_.Parameter(operand.parameter, shape);
  }

  Status Lower() {
    // All inputs become parameters before the row runs: what it adds are scalars.
    for (size_t i = 0; i < operands_.size(); ++i)
      if (operands_[i].input) Input(i);
    AddDestinationParameters();
    lowering::Args args(
        b_, entry_.row->overload,
        ToArgValues(entry_, arguments_, [this](size_t i) { return operands_[i].value; }),
        static_cast<int64_t>(parameter_operand_.size()), entry_.row_index,
        ToDType(c10::get_default_dtype_as_scalartype()));
    const lowering::Values values = entry_.row->lower(b_, args);
    NEURON_RETURN_IF_ERROR(b_.status());
    counted_ = args.counted_results();
    NEURON_RETURN_IF_ERROR(PlaceResults(values));
    if (args.row_count().has_value())
      AddRoot(*args.row_count(),
              {.kind = Kind::kRowCount, .sizes = {}, .strides = {}, .dtype = at::kInt});
    if (const auto record = args.error_record(); record.has_value() && !roots_.empty()) {
      PlanResult result{.kind = Kind::kErrorRecord,
                        .sizes = {lowering::kErrorWords},
                        .strides = {1},
                        .dtype = at::kInt};
      AddRoot(*record, std::move(result));
    }
    scalar_parameters_ = args.scalar_parameters();
    philox_parameter_ = args.philox_parameter();
    plan_->philox_numbers = args.philox_numbers();
    num_parameters_ = args.next_parameter();
    return b_.status();
  }

  // Operands that take results, in result order; -1 for one that was not given.
  std::vector<int> Destinations() const {
    std::vector<int> out;
    for (const int argument : entry_.destinations) {
      const auto i = static_cast<size_t>(argument);
      const size_t begin = first_operand_[i], end = first_operand_[i + 1];
      if (begin == end && !arguments_[i].isList()) out.push_back(-1);
      for (size_t operand = begin; operand < end; ++operand)
        out.push_back(static_cast<int>(operand));
    }
    return out;
  }

  // Written tensors that are strided need their other elements: their flat span is a parameter.
  void AddDestinationParameters() {
    for (const int index : Destinations()) {
      if (index < 0) continue;
      Operand& operand = operands_[static_cast<size_t>(index)];
      if (operand.input || CountElements(operand.sizes) == 0 || Conflicts(operand)) continue;
      if (lowering::IsDense(operand.sizes, operand.strides)) continue;
      if (!assumed_.empty()) continue;  // refused when results are placed
      if (const Operand* same = SameInput(operand); same != nullptr && same->flat.valid()) {
        operand.flat = same->flat;
        operand.parameter = same->parameter;
      } else {
        operand.flat = NewParameter(operand, FlatShape(operand));
      }
    }
  }

  bool SharesStorage(const Operand& a, const Operand& b) const {
    return a.tensor->storage().is_alias_of(b.tensor->storage());
  }
  bool IsSame(const Operand& a, const Operand& b) const {
    return SharesStorage(a, b) && a.begin() == b.begin() && a.sizes == b.sizes &&
           a.strides == b.strides && a.dtype == b.dtype;
  }
  // An input with exactly this memory and layout (the tensor itself, for in-place ops).
  const Operand* SameInput(const Operand& destination) const {
    for (const Operand& other : operands_)
      if (other.input && other.parameter >= 0 && IsSame(destination, other)) return &other;
    return nullptr;
  }
  // Another input reads part of the memory in another way: results may not go there directly.
  bool Conflicts(const Operand& destination) const {
    for (const Operand& other : operands_)
      if (&other != &destination && other.input && SharesStorage(destination, other) &&
          !IsSame(destination, other) && other.begin() < destination.end() &&
          destination.begin() < other.end())
        return true;
    return false;
  }

  void AddRoot(hlo::Value value, PlanResult result) {
    if (result.kind != Kind::kUndefined && value.valid() && value.shape().num_elements() > 0) {
      roots_.push_back(value);
      root_result_.push_back(static_cast<int>(plan_->results.size()));
    }
    plan_->results.push_back(std::move(result));
  }

  Status PlaceResults(const lowering::Values& values) {
    const std::vector<int> destinations = Destinations();
    if (values.size() < destinations.size())
      return Internal(entry_.name, ": the lowering gave ", values.size(), " results for ",
                      destinations.size(), " written tensors");
    const size_t fresh = values.size() - destinations.size();
    for (size_t i = 0; i < fresh; ++i) NEURON_RETURN_IF_ERROR(PlaceNew(values[i], i));
    plan_->returned = fresh;
    for (size_t i = 0; i < destinations.size(); ++i)
      if (destinations[i] >= 0 && values[fresh + i].valid())
        NEURON_RETURN_IF_ERROR(
            CountedDimension(fresh + i) >= 0
                ? PlaceCounted(values[fresh + i], CountedDimension(fresh + i), destinations[i])
                : PlaceInto(values[fresh + i], static_cast<size_t>(destinations[i])));
    return OkStatus();
  }

  int CountedDimension(size_t result) const {
    for (const lowering::CountedResult& counted : counted_)
      if (counted.result == result) return static_cast<int>(counted.dimension);
    return -1;
  }

  // An out= tensor takes as many rows as data decide: computed beside it, cut, copied.
  Status PlaceCounted(hlo::Value value, int dimension, int operand) {
    const at::ScalarType type = operands_[static_cast<size_t>(operand)].tensor->scalar_type();
    PlanResult result{.kind = Kind::kCopyInto,
                      .tensor = operand,
                      .counted = dimension,
                      .sizes = value.shape().dims,
                      .strides = RowMajorStrides(value.shape().dims),
                      .dtype = type};
    AddRoot(b_.Convert(value, ToDType(type)), std::move(result));
    return OkStatus();
  }

  Status PlaceNew(hlo::Value value, size_t index) {
    PlanResult result;
    result.counted = CountedDimension(index);
    if (!value.valid()) {
      result.kind = Kind::kUndefined;
      if (meta_.has_value() && index < meta_->returns.size())
        result.integer = meta_->returns[index].integer;
      AddRoot(value, std::move(result));
      return OkStatus();
    }
    // Statistics that an op leaves empty (batch norm in evaluation) have an extent for some meta
    // kernels; the lowering says what CPU does.
    const bool left_empty = value.shape().num_elements() == 0;
    if (meta_.has_value() && index < meta_->returns.size() && meta_->returns[index].defined &&
        (!left_empty || meta_->returns[index].sizes == value.shape().dims)) {
      const TensorMeta& meta = meta_->returns[index];
      result.sizes = meta.sizes;
      result.strides = meta.strides;
      result.dtype = meta.dtype;
    } else {
      result.sizes = value.shape().dims;
      result.strides = RowMajorStrides(result.sizes);
      result.dtype = ToScalarType(value.dtype());
    }
    value = b_.Convert(value, ToDType(result.dtype));
    Dims order = MemoryOrder(result.sizes, result.strides);
    if (!lowering::IsDense(Permuted(result.sizes, order), Permuted(result.strides, order))) {
      result.strides = RowMajorStrides(result.sizes);
      order = MemoryOrder(result.sizes, result.strides);
    }
    const bool permuted = !common_order_.empty() && result.sizes.size() == common_order_.size();
    const Dims logical = permuted ? Permuted(result.sizes, common_order_) : result.sizes;
    if (value.shape().dims != logical)
      return Internal(entry_.name, ": the lowering gives ", value.shape().ToString(),
                      ", PyTorch's meta kernel ",
                      hlo::Shape::Array(value.dtype(), logical).ToString());
    if (permuted && order != common_order_) {
      // The result's own order (a memory format was asked for): from the operands' to that one.
      Dims permutation;
      for (const int64_t d : order)
        permutation.push_back(std::ranges::find(common_order_, d) - common_order_.begin());
      value = b_.Transpose(value, permutation);
    } else if (!permuted && !IsIdentity(order)) {
      value = b_.Transpose(value, order);
    }
    AddRoot(value, std::move(result));
    return OkStatus();
  }

  Status PlaceInto(hlo::Value value, size_t index) {
    Operand& operand = operands_[index];
    if ((entry_.row->flags & lowering::kElementwise) != 0)
      TORCH_CHECK(c10::canCast(ToScalarType(value.dtype()), operand.tensor->scalar_type()),
                  "result type ", ToScalarType(value.dtype()),
                  " can't be cast to the desired output type ", operand.tensor->scalar_type());
    value = b_.Convert(value, operand.dtype);
    PlanResult result{.kind = Kind::kInto,
                      .tensor = static_cast<int>(index),
                      .sizes = operand.sizes,
                      .strides = operand.strides,
                      .dtype = operand.tensor->scalar_type()};
    if (!meta_.has_value() && value.shape().dims != operand.sizes) {
      if (operand.input) return Internal(entry_.name, ": in place, but of another shape");
      operand.sizes = result.sizes = value.shape().dims;  // an out= tensor without meta: resized
      operand.strides = result.strides = RowMajorStrides(operand.sizes);
    }
    if (value.shape().dims != operand.sizes)
      return Internal(entry_.name, ": the lowering gives ", value.shape().ToString(), " for ",
                      hlo::Shape::Array(operand.dtype, operand.sizes).ToString());
    if (!common_order_.empty() && !operand.sizes.empty()) {
      result.sizes = operand.tensor->sizes().vec();
      result.strides = operand.tensor->strides().vec();
      // With a length for all, the operand's are as the calls to come have them.
      for (size_t i = 0; !assumed_.empty() && i < common_order_.size(); ++i) {
        const auto d = static_cast<size_t>(common_order_[i]);
        result.sizes[d] = operand.sizes[i];
        result.strides[d] = operand.strides[i];
      }
    }
    if (CountElements(operand.sizes) == 0) {
      AddRoot({}, std::move(result));
      return OkStatus();
    }
    const Operand* same = SameInput(operand);
    if (!assumed_.empty() &&
        (Conflicts(operand) || !lowering::IsDense(operand.sizes, operand.strides)))
      return Unimplemented("a result goes into strided memory, or into an operand's");
    if (Conflicts(operand)) {
      result.kind = Kind::kCopyInto;
      if (common_order_.empty()) result.strides = RowMajorStrides(result.sizes);
      AddRoot(value, std::move(result));
    } else if (lowering::IsDense(operand.sizes, operand.strides)) {
      if (same != nullptr) Alias(same->parameter);
      AddRoot(value, std::move(result));
    } else {
      CheckNoOverlap(operand);
      const hlo::Value flat = operand.flat.valid() ? operand.flat : same->flat;
      Alias(operand.flat.valid() ? operand.parameter : same->parameter);
      AddRoot(lowering::ToStrided(b_, flat, value, operand.strides), std::move(result));
    }
    return OkStatus();
  }

  void Alias(int64_t parameter) {
    aliases_.emplace_back(static_cast<int64_t>(roots_.size()), parameter);
  }

  void CheckNoOverlap(const Operand& operand) const {
    for (size_t i = 0; i < operand.sizes.size(); ++i)
      TORCH_CHECK(operand.sizes[i] <= 1 || operand.strides[i] != 0,
                  "unsupported operation: more than one element of the written-to tensor refers to "
                  "a single memory location. Please clone() the tensor before performing the "
                  "operation.");
  }

  StatusOr<hlo::Module> BuildModule() {
    for (const auto& [output, parameter] : aliases_) b_.Alias(output, parameter);
    return roots_.size() == 1 ? std::move(b_).Build(roots_[0]) : std::move(b_).BuildTuple(roots_);
  }

  Status Compile(const hlo::Module& module) {
    compiler::Options options = CompilerOptions(call_.device);
    options.extent_bound = plan_->extent_bound;
    options.strides = strides_;
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

  void Bind(const compiler::Signature& signature) {
    for (const auto& buffer : signature.buffers) {
      PlanBuffer bound;
      if (buffer.parameter >= 0 && buffer.parameter == philox_parameter_) {
        bound.source = PlanBuffer::Source::kPhilox;
      } else if (buffer.parameter >= 0) {
        bound.index = parameter_operand_[static_cast<size_t>(buffer.parameter)];
      } else {
        bound.source = PlanBuffer::Source::kResult;
        bound.index = root_result_[static_cast<size_t>(buffer.output)];
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

  int64_t CallPosition(int64_t row_position) const {
    for (size_t i = 0; i < entry_.args.size(); ++i)
      if (entry_.args[i].row_position == row_position) return static_cast<int64_t>(i);
    NEURON_CHECK(false, "no argument at row position ", row_position, " of ", entry_.name);
    return -1;
  }

  OpEntry& entry_;
  const c10::OperatorHandle& op_;
  std::span<const c10::IValue> arguments_;
  const Call& call_;
  const std::span<const AssumedSizes> assumed_;
  hlo::Builder b_;
  std::unique_ptr<Plan> plan_ = std::make_unique<Plan>();
  std::optional<MetaResult> meta_;
  std::vector<Operand> operands_;
  std::vector<size_t> first_operand_;  // of each argument, and the end
  Dims common_order_;
  std::vector<int> parameter_operand_;  // of each buffer parameter
  std::vector<lowering::CountedResult> counted_;
  std::vector<hlo::Value> roots_;
  std::vector<int> root_result_;
  std::vector<std::pair<int64_t, int64_t>> aliases_;
  std::vector<lowering::ScalarParameter> scalar_parameters_;
  std::vector<PlanScalar> extent_scalars_;
  std::vector<Dims> strides_;  // of parameters that are not dense
  int64_t philox_parameter_ = -1;
  int64_t num_parameters_ = 0;
};

}  // namespace

std::unique_ptr<Plan> BuildPlan(OpEntry& entry, const c10::OperatorHandle& op,
                                std::span<const c10::IValue> arguments, const Call& call) {
  return PlanBuilder(entry, op, arguments, call).Build();
}

namespace {

// A call whose extent is another: kExtent, or a sample.
struct AssumedCall {
  std::vector<AssumedSizes> sizes;
  std::vector<c10::IValue> arguments;
};

// False: the memory that strides reach over is too large for sizes of 64 bits.
bool Reaches(const AssumedSizes& tensor) {
  __int128 reach = 1;
  for (size_t d = 0; d < tensor.sizes.size(); ++d)
    reach += static_cast<__int128>(tensor.sizes[d]) * tensor.strides[d];
  return reach < __int128{1} << 58;
}

std::optional<AssumedCall> Assume(std::span<const c10::IValue> arguments, const Call& call,
                                  std::span<const KeyField> fields, const ExtentKey& key,
                                  int64_t extent) {
  AssumedCall out;
  out.arguments.assign(arguments.begin(), arguments.end());
  for (const at::Tensor* tensor : call.tensors)
    out.sizes.push_back({tensor->sizes().vec(), tensor->strides().vec()});
  std::vector<bool> strided(out.sizes.size());
  const auto set = [&](const KeyField& field, int64_t value) {
    const auto owner = static_cast<size_t>(field.owner);
    const auto element = static_cast<size_t>(field.element);
    switch (field.kind) {
      case KeyField::Kind::kSize:
        out.sizes[owner].sizes[element] = value;
        break;
      case KeyField::Kind::kStride:
        out.sizes[owner].strides[element] = value;
        break;
      case KeyField::Kind::kInteger: {
        if (field.element < 0) {
          out.arguments[owner] = value;
          break;
        }
        std::vector<int64_t> list = out.arguments[owner].toIntVector();
        list[element] = value;
        out.arguments[owner] = list;
        break;
      }
    }
  };
  for (const KeyField& field : fields)
    if (field.kind == KeyField::Kind::kStride) strided[static_cast<size_t>(field.owner)] = true;
  for (const auto& [word, line] : key.words)
    for (const KeyField& field : fields)
      if (field.word == word) set(field, line.At(extent));
  for (size_t i = 0; i < out.sizes.size(); ++i) {
    if (!strided[i]) out.sizes[i].strides = RowMajorStrides(out.sizes[i].sizes);
    if (!Reaches(out.sizes[i])) return std::nullopt;
  }
  return out;
}

// Extents that a plan for all lengths is built for, the first that compiles: rows that are reduced
// whole have an end (compiler/planner.cpp), and so has memory for what lies between two kernels.
std::vector<int64_t> Bounds(int64_t extent) {
  const auto doubled = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent) + 1));
  std::vector<int64_t> bounds;
  for (const int64_t bound : {hlo::kMostExtent, int64_t{8192}, int64_t{4096}, 4 * doubled, doubled})
    if (bound > extent && (bounds.empty() || bound < bounds.back())) bounds.push_back(bound);
  return bounds;
}

}  // namespace

std::unique_ptr<Plan> BuildRunTimePlan(OpEntry& entry, const c10::OperatorHandle& op,
                                       std::span<const c10::IValue> arguments, const Call& call,
                                       std::span<const KeyField> fields, const ExtentKey& extent,
                                       std::string* why) {
  try {
    std::vector<hlo::Module> samples;
    for (const int64_t sample : kSampleExtents) {
      const auto assumed = Assume(arguments, call, fields, extent, sample);
      if (!assumed) return *why = "sizes are too large", nullptr;
      PlanBuilder builder(entry, op, assumed->arguments, call, assumed->sizes);
      StatusOr<hlo::Module> module = builder.BuildModuleForSizes();
      if (!module.ok()) return *why = module.status().ToString(), nullptr;
      samples.push_back(*std::move(module));
    }
    const auto assumed = Assume(arguments, call, fields, extent, hlo::kExtent);
    if (!assumed) return *why = "sizes are too large", nullptr;
    const int64_t now = static_cast<int64_t>(call.key[extent.words[extent.leading].first]);
    for (const int64_t bound : Bounds(now)) {
      PlanBuilder builder(entry, op, assumed->arguments, call, assumed->sizes);
      StatusOr<hlo::Module> module = builder.BuildModuleForSizes();
      if (!module.ok()) return *why = module.status().ToString(), nullptr;
      const auto constants = CompareModules(*module, samples);
      if (!constants.ok()) return *why = constants.status().ToString(), nullptr;
      auto plan = builder.CompileForAllLengths(*std::move(module), *constants, extent, bound);
      if (plan.ok()) return *std::move(plan);
      *why = plan.status().ToString();
    }
  } catch (const c10::Error& error) {
    *why = error.what_without_backtrace();
  } catch (const std::exception& error) {
    const std::string text = TakePythonError();
    *why = text.empty() ? error.what() : text;
  }
  return nullptr;
}

}  // namespace neuron::pytorch
