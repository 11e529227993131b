#include "hlo/module.h"

#include <unordered_map>

namespace neuron::hlo {

Module::Module(std::string name) : name_(std::move(name)) {}
Module::~Module() = default;

Module::Module(Module&& other) noexcept { *this = std::move(other); }

Module& Module::operator=(Module&& other) noexcept {
  name_ = std::move(other.name_);
  computations_ = std::move(other.computations_);
  entry_ = std::exchange(other.entry_, nullptr);
  aliases_ = std::move(other.aliases_);
  next_id_ = other.next_id_;
  names_ = std::move(other.names_);
  for (const auto& computation : computations_) computation->parent_ = this;
  return *this;
}

std::string Module::UniqueName(std::string name, int64_t id) {
  while (!names_.insert(name).second) name += "." + std::to_string(id);
  return name;
}

Computation* Module::AddComputation(std::string name) {
  auto computation = std::make_unique<Computation>();
  computation->id_ = next_id_++;
  computation->name_ = UniqueName(std::move(name), computation->id_);
  computation->parent_ = this;
  computations_.push_back(std::move(computation));
  return computations_.back().get();
}

std::vector<Computation*> Module::PostOrder() const {
  std::vector<Computation*> order;
  std::unordered_set<const Computation*> entered;
  // A stack of (computation, done): callees are pushed above and finish first.
  std::vector<std::pair<Computation*, bool>> stack;
  if (entry_ != nullptr) stack.emplace_back(entry_, false);
  while (!stack.empty()) {
    const auto [computation, done] = stack.back();
    stack.pop_back();
    if (done) {
      order.push_back(computation);
      continue;
    }
    if (!entered.insert(computation).second) continue;
    stack.emplace_back(computation, true);
    const auto& instructions = computation->instructions();
    for (auto i = instructions.rbegin(); i != instructions.rend(); ++i)
      for (auto c = (*i)->called().rbegin(); c != (*i)->called().rend(); ++c)
        if (*c != nullptr && !entered.contains(*c)) stack.emplace_back(*c, false);
  }
  return order;
}

void Module::RemoveUnusedComputations() {
  const std::vector<Computation*> order = PostOrder();
  const std::unordered_set<const Computation*> used(order.begin(), order.end());
  std::erase_if(computations_, [&](const auto& c) { return !used.contains(c.get()); });
}

Module Module::Clone() const {
  Module copy(name_);
  std::unordered_map<const Computation*, Computation*> computations;
  std::unordered_map<const Instruction*, Instruction*> instructions;
  for (const auto& from : computations_) {
    auto to = std::make_unique<Computation>();
    to->name_ = from->name_;
    to->id_ = from->id_;
    to->parent_ = &copy;
    computations[from.get()] = to.get();
    copy.computations_.push_back(std::move(to));
  }
  for (const auto& from : computations_) {
    Computation* to = computations[from.get()];
    for (const auto& i : from->instructions()) {
      to->instructions_.push_back(std::make_unique<Instruction>(*i));
      instructions[i.get()] = to->instructions_.back().get();
    }
    for (const auto& i : to->instructions_) {
      i->parent_ = to;
      for (Instruction*& operand : i->operands_) operand = instructions[operand];
      for (Instruction*& user : i->users_) user = instructions[user];
      for (Computation*& called : i->called_) called = computations[called];
    }
    if (from->root_ != nullptr) to->root_ = instructions[from->root_];
  }
  if (entry_ != nullptr) copy.entry_ = computations[entry_];
  copy.aliases_ = aliases_;
  copy.next_id_ = next_id_;
  copy.names_ = names_;
  return copy;
}

}  // namespace neuron::hlo
