#include <algorithm>
#include <unordered_map>

#include "hlo/module.h"

namespace neuron::hlo {
namespace {

void AddUser(std::vector<Instruction*>& users, Instruction* user) {
  // The newest user is by far the likeliest to be there already (x + x).
  if (std::find(users.rbegin(), users.rend(), user) == users.rend()) users.push_back(user);
}

}  // namespace

std::vector<Instruction*> Computation::Parameters() const {
  std::vector<Instruction*> parameters;
  for (const auto& i : instructions_)
    if (i->opcode() == Opcode::kParameter) parameters.push_back(i.get());
  std::stable_sort(parameters.begin(), parameters.end(), [](Instruction* a, Instruction* b) {
    return a->attributes().parameter_number < b->attributes().parameter_number;
  });
  return parameters;
}

Instruction* Computation::Add(Opcode opcode, Shape shape, std::vector<Instruction*> operands,
                              Attributes attributes, std::vector<Computation*> called,
                              std::string name) {
  auto owned = std::make_unique<Instruction>();
  Instruction* i = owned.get();
  i->id_ = parent_->next_id_++;
  if (name.empty()) name = std::string(OpcodeName(opcode)) + "." + std::to_string(i->id_);
  i->name_ = parent_->UniqueName(std::move(name), i->id_);
  i->opcode_ = opcode;
  i->shape_ = std::move(shape);
  i->operands_ = std::move(operands);
  i->attributes_ = std::move(attributes);
  i->called_ = std::move(called);
  i->parent_ = this;
  for (Instruction* operand : i->operands_) {
    NEURON_CHECK(operand != nullptr && operand->parent_ == this, "operand of ", i->name_,
                 " is of another computation");
    // A new instruction can only be the last in the list.
    if (operand->users_.empty() || operand->users_.back() != i) operand->users_.push_back(i);
  }
  instructions_.push_back(std::move(owned));
  return i;
}

void Computation::SetMetadata(Instruction* instruction, std::string metadata) {
  instruction->metadata_ = std::move(metadata);
}

void Computation::ReplaceAllUses(Instruction* from, Instruction* to) {
  if (from == to) return;
  const std::vector<Instruction*> users = std::move(from->users_);
  from->users_.clear();
  for (Instruction* user : users) {
    if (user == to) {
      from->users_.push_back(user);
      continue;
    }
    for (Instruction*& operand : user->operands_)
      if (operand == from) operand = to;
    AddUser(to->users_, user);
  }
  if (root_ == from) root_ = to;
}

void Computation::ReplaceOperand(Instruction* user, int64_t operand, Instruction* to) {
  Instruction*& slot = user->operands_[static_cast<size_t>(operand)];
  Instruction* from = std::exchange(slot, to);
  if (std::find(user->operands_.begin(), user->operands_.end(), from) == user->operands_.end())
    std::erase(from->users_, user);
  AddUser(to->users_, user);
}

void Computation::RemoveParameter(Instruction* parameter) {
  NEURON_CHECK(
      parameter->opcode_ == Opcode::kParameter && parameter->users_.empty() && parameter != root_,
      "parameter ", parameter->name_, " is used");
  parent_->names_.erase(parameter->name_);
  std::erase_if(instructions_, [&](const auto& i) { return i.get() == parameter; });
}

void Computation::RemoveDead() {
  std::unordered_set<const Instruction*> live;
  std::vector<Instruction*> pending;
  const auto mark = [&](Instruction* i) {
    if (live.insert(i).second) pending.push_back(i);
  };
  if (root_ != nullptr) mark(root_);
  while (!pending.empty()) {
    Instruction* i = pending.back();
    pending.pop_back();
    for (Instruction* operand : i->operands_) mark(operand);
  }
  const auto dead = [&](const Instruction* i) {
    return i->opcode_ != Opcode::kParameter && !live.contains(i);
  };
  for (const auto& i : instructions_) {
    if (dead(i.get()))
      parent_->names_.erase(i->name_);
    else
      std::erase_if(i->users_, dead);
  }
  std::erase_if(instructions_, [&](const auto& i) { return dead(i.get()); });
}

void Computation::SortTopologically() {
  std::unordered_map<const Instruction*, size_t> place;
  for (size_t n = 0; n < instructions_.size(); ++n) place[instructions_[n].get()] = n;
  std::vector<std::unique_ptr<Instruction>> sorted;
  sorted.reserve(instructions_.size());
  std::vector<bool> entered(instructions_.size());
  // Post order from each instruction in turn: what is in order already keeps its place.
  std::vector<std::pair<size_t, size_t>> stack;  // instruction, next operand
  for (size_t n = 0; n < entered.size(); ++n) {
    if (entered[n]) continue;
    entered[n] = true;
    stack.emplace_back(n, 0);
    while (!stack.empty()) {
      auto& [here, next] = stack.back();
      const std::vector<Instruction*>& operands = instructions_[here]->operands_;
      if (next == operands.size()) {
        sorted.push_back(std::move(instructions_[here]));
        stack.pop_back();
        continue;
      }
      const size_t operand = place.at(operands[next++]);
      if (entered[operand]) continue;
      entered[operand] = true;
      stack.emplace_back(operand, 0);
    }
  }
  instructions_ = std::move(sorted);
}

std::vector<std::vector<Instruction*>> Computation::Users() const {
  std::vector<std::vector<Instruction*>> users;
  users.reserve(instructions_.size());
  for (const auto& i : instructions_) users.push_back(i->users_);
  return users;
}

}  // namespace neuron::hlo
