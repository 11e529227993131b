#include "torch/forms.h"

#include <map>
#include <set>
#include <string>

namespace neuron::pytorch {
namespace {

using c10::FunctionSchema;

bool Writes(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

const std::multimap<std::string, c10::OperatorName>& OpsByName() {
  static const auto* ops = [] {
    auto* map = new std::multimap<std::string, c10::OperatorName>;
    for (const c10::OperatorName& name : c10::Dispatcher::singleton().getAllOpNames())
      if (name.name.starts_with("aten::")) map->emplace(name.name, name);
    return map;
  }();
  return *ops;
}

std::string Display(const c10::OperatorName& name) {
  return name.overload_name.empty() ? name.name : name.name + "." + name.overload_name;
}

// Same arguments by name and type, out= arguments aside. Factories' out= forms lack the options.
bool IsOutFormOf(const FunctionSchema& out, const FunctionSchema& functional) {
  static const std::set<std::string> kOptions = {"dtype", "layout", "device", "pin_memory"};
  std::map<std::string, c10::TypePtr> wanted;
  for (const c10::Argument& argument : functional.arguments())
    wanted.emplace(argument.name(), argument.type());
  size_t written = 0;
  for (const c10::Argument& argument : out.arguments()) {
    if (Writes(argument)) {
      if (!argument.is_out()) return false;
      ++written;
      continue;
    }
    const auto it = wanted.find(argument.name());
    if (it == wanted.end() || *it->second != *argument.type()) return false;
    wanted.erase(it);
  }
  for (const auto& [name, type] : wanted)
    if (!kOptions.contains(name)) return false;
  return written > 0;
}

// Same arguments by name and type, the first of them written. Overloads may be named otherwise:
// aten::floor_divide has the in-place form aten::floor_divide_.Tensor.
bool IsInPlaceFormOf(const FunctionSchema& in_place, const FunctionSchema& functional) {
  const auto& ours = functional.arguments();
  const auto& theirs = in_place.arguments();
  if (theirs.empty() || theirs.size() != ours.size() || !Writes(theirs[0])) return false;
  for (size_t i = 0; i < ours.size(); ++i)
    if (theirs[i].name() != ours[i].name() || *theirs[i].type() != *ours[i].type()) return false;
  return true;
}

}  // namespace

std::vector<DerivedForm> FormsOf(const lowering::Row& row) {
  std::vector<DerivedForm> forms;
  c10::Dispatcher& dispatcher = c10::Dispatcher::singleton();
  const std::string full(row.overload);
  const size_t dot = full.find('.');
  const std::string base = full.substr(0, dot);
  const std::string overload = dot == std::string::npos ? "" : full.substr(dot + 1);
  const auto own = dispatcher.findSchema({base, overload});
  if (!own.has_value()) return forms;
  const FunctionSchema& schema = own->schema();
  bool writes = false;
  for (const c10::Argument& argument : schema.arguments()) writes |= Writes(argument);
  if (writes) return {{*own, Form::kMutating}};
  forms.push_back({*own, Form::kFunctional});

  const auto [first, last] = OpsByName().equal_range(base + "_");
  for (auto it = first; it != last; ++it) {
    const auto op = dispatcher.findSchema(it->second);
    if (op.has_value() && lowering::FindRow(Display(it->second)) == nullptr &&
        IsInPlaceFormOf(op->schema(), schema))
      forms.push_back({*op, Form::kInPlace});
  }
  const auto [begin, end] = OpsByName().equal_range(base);
  for (auto it = begin; it != end; ++it) {
    const auto op = dispatcher.findSchema(it->second);
    if (op.has_value() && lowering::FindRow(Display(it->second)) == nullptr &&
        IsOutFormOf(op->schema(), schema))
      forms.push_back({*op, Form::kOut});
  }
  return forms;
}

}  // namespace neuron::pytorch
