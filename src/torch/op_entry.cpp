#include "torch/op_entry.h"

#include <ATen/core/jit_type.h>

#include <algorithm>

#include "torch/plan.h"

namespace neuron::pytorch {
namespace {

using c10::TypeKind;

ArgKind ListKind(const c10::Type& element) {
  switch (element.kind()) {
    case TypeKind::TensorType:
      return ArgKind::kTensorList;
    case TypeKind::OptionalType:
      return ListKind(*element.expectRef<c10::OptionalType>().getElementType());
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgKind::kIntList;
    case TypeKind::FloatType:
      return ArgKind::kFloatList;
    case TypeKind::BoolType:
      return ArgKind::kBoolList;
    case TypeKind::NumberType:
      return ArgKind::kScalarList;
    default:
      return ArgKind::kUnsupported;
  }
}

ArgKind KindOf(const c10::Type& type) {
  switch (type.kind()) {
    case TypeKind::TensorType:
      return ArgKind::kTensor;
    case TypeKind::OptionalType:
      return KindOf(*type.expectRef<c10::OptionalType>().getElementType());
    case TypeKind::ListType:
      return ListKind(*type.expectRef<c10::ListType>().getElementType());
    case TypeKind::NumberType:
      return ArgKind::kScalar;
    case TypeKind::IntType:
    case TypeKind::SymIntType:
      return ArgKind::kInt;
    case TypeKind::FloatType:
      return ArgKind::kFloat;
    case TypeKind::BoolType:
      return ArgKind::kBool;
    case TypeKind::StringType:
      return ArgKind::kString;
    case TypeKind::ScalarTypeType:
      return ArgKind::kDtype;
    case TypeKind::LayoutType:
    case TypeKind::MemoryFormatType:
      return ArgKind::kResolved;
    case TypeKind::DeviceObjType:
      return ArgKind::kDevice;
    case TypeKind::GeneratorType:
      return ArgKind::kGenerator;
    default:
      return ArgKind::kUnsupported;
  }
}

// PyTorch says which integers are lengths: SymInt. An `int` may be a mode (reductions, paddings,
// norms), which takes the places of a length by chance only. A factory has its end as a Scalar.
bool HoldsLengths(const c10::Type& type, bool factory) {
  switch (type.kind()) {
    case TypeKind::OptionalType:
      return HoldsLengths(*type.expectRef<c10::OptionalType>().getElementType(), factory);
    case TypeKind::ListType:
      return HoldsLengths(*type.expectRef<c10::ListType>().getElementType(), false);
    case TypeKind::SymIntType:
      return true;
    case TypeKind::NumberType:
      return factory;
    default:
      return false;
  }
}

bool IsFactory(const std::vector<c10::Argument>& row_arguments) {
  return std::ranges::none_of(row_arguments, [](const c10::Argument& argument) {
    const ArgKind kind = KindOf(*argument.real_type());
    return kind == ArgKind::kTensor || kind == ArgKind::kTensorList;
  });
}

// The schema that the row's positions refer to.
std::optional<c10::OperatorHandle> RowOperator(const lowering::Row& row) {
  const std::string full(row.overload);
  const size_t dot = full.find('.');
  const std::string overload = dot == std::string::npos ? "" : full.substr(dot + 1);
  return c10::Dispatcher::singleton().findSchema({full.substr(0, dot), overload});
}

int PositionOf(const std::vector<c10::Argument>& arguments, const std::string& name) {
  for (size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].name() == name) return static_cast<int>(i);
  return -1;
}

}  // namespace

OpEntry::OpEntry(c10::OperatorHandle handle) : op(std::move(handle)) {}
OpEntry::~OpEntry() = default;

std::vector<ArgKind> RowArgumentKinds(const lowering::Row& row) {
  std::vector<ArgKind> out;
  const auto op = RowOperator(row);
  if (!op.has_value()) return out;
  for (const c10::Argument& argument : op->schema().arguments())
    out.push_back(KindOf(*argument.real_type()));
  return out;
}

std::unique_ptr<OpEntry> MakeEntry(const c10::OperatorHandle& op, const lowering::Row& row,
                                   Form form, std::string* why) {
  const auto row_op = RowOperator(row);
  if (!row_op.has_value()) {
    *why = "this PyTorch has no such overload";
    return nullptr;
  }
  auto entry = std::make_unique<OpEntry>(op);
  const c10::FunctionSchema& schema = op.schema();
  const std::vector<c10::Argument>& row_arguments = row_op->schema().arguments();
  entry->row = &row;
  entry->row_index = static_cast<int32_t>(&row - lowering::Rows().data());
  entry->form = form;
  entry->name =
      schema.overload_name().empty() ? schema.name() : schema.name() + "." + schema.overload_name();
  entry->row_arguments = row_arguments.size();
  const bool factory = IsFactory(row_arguments);
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    const c10::Argument& argument = schema.arguments()[i];
    ArgInfo info;
    info.kind = KindOf(*argument.real_type());
    info.length = HoldsLengths(*argument.real_type(), factory);
    info.row_position = PositionOf(row_arguments, argument.name());
    const bool aliased_write = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    if (form == Form::kOut && aliased_write) info.row_position = -1;
    if (argument.name() == "pin_memory") info.kind = ArgKind::kResolved;
    if (info.kind == ArgKind::kUnsupported) {
      *why = "argument " + argument.name() + " has type " + argument.real_type()->str();
      return nullptr;
    }
    if (info.kind == ArgKind::kGenerator) entry->generator = static_cast<int>(i);
    if (info.row_position >= 0) {
      const uint32_t bit = 1u << info.row_position;
      info.run_time = (row.run_time_scalars & bit) != 0;
      info.written = form != Form::kOut && (row.mutates & bit) != 0;
    }
    if ((form == Form::kOut || form == Form::kInPlace) && aliased_write) {
      info.written = true;
      entry->destinations.push_back(static_cast<int>(i));
    }
    entry->args.push_back(info);
  }
  for (size_t i = 0; i < entry->args.size(); ++i) {
    const int position = entry->args[i].row_position;
    if (position >= 0 && (row.mutates & (1u << position)) != 0) {
      entry->args[i].written = true;
      entry->destinations.push_back(static_cast<int>(i));
    }
  }
  return entry;
}

}  // namespace neuron::pytorch
