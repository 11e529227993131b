#include "hlo/module.h"

#include <gtest/gtest.h>

#include "hlo/builder.h"

namespace neuron::hlo {
namespace {

const Shape kVector = Shape::Array(DType::kF32, {4});

// (a + b) * (a + b), where the sum is used twice.
Module Square() {
  Builder b("square");
  const Value x = b.Parameter(0, kVector, "x"), y = b.Parameter(1, kVector, "y");
  const Value sum = b.Add(x, y);
  StatusOr<Module> module = std::move(b).Build(b.Multiply(sum, sum));
  EXPECT_TRUE(module.ok()) << module.status().ToString();
  return *std::move(module);
}

std::vector<std::string> Opcodes(const Computation& c) {
  std::vector<std::string> names;
  for (const auto& i : c.instructions()) names.emplace_back(OpcodeName(i->opcode()));
  return names;
}

TEST(Computation, UsersAreDistinct) {
  const Module module = Square();
  const auto& instructions = module.entry()->instructions();
  EXPECT_EQ(instructions[2]->users(), std::vector<Instruction*>{instructions[3].get()});
  EXPECT_EQ(module.entry()->Users()[0], std::vector<Instruction*>{instructions[2].get()});
  EXPECT_TRUE(module.entry()->root()->users().empty());
}

TEST(Computation, ReplaceRemoveSort) {
  const Module module = Square();
  Computation* c = module.entry();
  Instruction* sum = c->root()->operand(0);
  // The replacement is added behind its user: legal again after sorting.
  Instruction* difference = c->Add(Opcode::kSubtract, kVector, c->Parameters());
  c->ReplaceAllUses(sum, difference);
  EXPECT_NE(Verify(module).message().find("sort the computation"), std::string::npos);
  c->RemoveDead();
  c->SortTopologically();
  EXPECT_EQ(Opcodes(*c),
            (std::vector<std::string>{"parameter", "parameter", "subtract", "multiply"}));
  EXPECT_TRUE(Verify(module).ok()) << Verify(module).ToString();
  EXPECT_EQ(difference->users(), std::vector<Instruction*>{c->root()});
}

TEST(Computation, ReplaceAllUsesSparesAWrapper) {
  const Module module = Square();
  Computation* c = module.entry();
  Instruction* sum = c->root()->operand(0);
  Instruction* wrapped = c->Add(Opcode::kNegate, kVector, {sum});
  c->ReplaceAllUses(sum, wrapped);
  c->SortTopologically();
  EXPECT_EQ(wrapped->operand(0), sum);
  EXPECT_EQ(c->root()->operand(1), wrapped);
  EXPECT_TRUE(Verify(module).ok()) << Verify(module).ToString();
}

TEST(Computation, ReplaceAllUsesMovesTheRoot) {
  const Module module = Square();
  Computation* c = module.entry();
  c->ReplaceAllUses(c->root(), c->Parameters()[1]);
  EXPECT_EQ(c->root(), c->Parameters()[1]);
  c->RemoveDead();  // an unused parameter is part of the signature
  EXPECT_EQ(Opcodes(*c), (std::vector<std::string>{"parameter", "parameter"}));
}

TEST(Computation, ReplaceOperandKeepsUsersRight) {
  const Module module = Square();
  Computation* c = module.entry();
  Instruction* product = c->root();
  Instruction* sum = product->operand(0);
  Instruction* x = c->Parameters()[0];
  c->ReplaceOperand(product, 1, x);
  EXPECT_EQ(sum->users(), std::vector<Instruction*>{product});
  c->ReplaceOperand(product, 0, x);
  EXPECT_TRUE(sum->users().empty());
  EXPECT_EQ(x->users(), (std::vector<Instruction*>{sum, product}));
}

TEST(Module, CloneIsIndependent) {
  const Module module = Square();
  const Module copy = module.Clone();
  copy.entry()->set_root(copy.entry()->Parameters()[0]);
  copy.entry()->RemoveDead();
  EXPECT_EQ(copy.entry()->instructions().size(), 2u);
  EXPECT_EQ(module.entry()->instructions().size(), 4u);
  EXPECT_TRUE(Verify(module).ok());
  EXPECT_TRUE(Verify(copy).ok());
  EXPECT_EQ(copy.entry()->parent(), &copy);
}

TEST(Module, MoveKeepsParents) {
  Module module = Square();
  const Module moved = std::move(module);
  EXPECT_EQ(moved.entry()->parent(), &moved);
  EXPECT_EQ(moved.entry()->root()->parent(), moved.entry());
}

TEST(Module, NamesDiffer) {
  Builder b("names");
  const Value x = b.Parameter(0, kVector, "x"), y = b.Parameter(1, kVector, "x");
  EXPECT_NE(x.instruction()->name(), y.instruction()->name());
}

TEST(Verify, RefusesWrongAlias) {
  Module module = Square();
  module.aliases().push_back({0, 2});
  EXPECT_NE(Verify(module).message().find("alias of output 0"), std::string::npos);
  module.aliases().back().parameter = 1;
  EXPECT_TRUE(Verify(module).ok());
}

TEST(Verify, RefusesRecursion) {
  Module module("loop");
  Computation* c = module.AddComputation("main");
  module.set_entry(c);
  Instruction* x = c->Add(Opcode::kParameter, kVector, {});
  c->set_root(x);
  c->set_root(c->Add(Opcode::kCall, kVector, {x}, {}, {c}));
  EXPECT_NE(Verify(module).message().find("must not call themselves"), std::string::npos);
}

TEST(Verify, RefusesWrongShape) {
  Module module("wrong");
  Computation* c = module.AddComputation("main");
  module.set_entry(c);
  Instruction* x = c->Add(Opcode::kParameter, kVector, {});
  c->set_root(c->Add(Opcode::kNegate, Shape::Array(DType::kF32, {5}), {x}));
  EXPECT_NE(Verify(module).message().find("f32[5], its rule gives f32[4]"), std::string::npos);
}

}  // namespace
}  // namespace neuron::hlo
