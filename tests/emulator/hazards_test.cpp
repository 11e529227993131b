// Programs with semaphores, complete and with one missing: the detector names the pair.
#include "emulator/hazards.h"

#include <gtest/gtest.h>

#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::AluOp;
using isa::Engine;
using isa::Instruction;
using isa::Opcode;
using isa::ProgramBuilder;
using isa::Target;
using isa::TensorKind;

AccessPattern Sbuf(int64_t slot, int64_t elements = 64) {
  return AccessPattern::Sbuf(DType::kF32, 0, 128, slot * 256, {{1, elements}});
}

std::string Hazard(const isa::Program& program) {
  const std::vector<int64_t> registers(program.registers.size());
  EXPECT_TRUE(isa::Verify(program).ok()) << isa::Verify(program).message();
  return std::string(CheckHazards(program, registers.data()).message());
}

// load -> multiply (Vector) -> exp (Scalar) -> store, each signalling the next.
struct Chain {
  ProgramBuilder b{"chain", Target::kTrn2};
  Instruction *load, *multiply, *exponential, *store;

  Chain() {
    const uint16_t x = b.AddTensor({.name = "x", .kind = TensorKind::kInput, .bytes = 32768});
    const uint16_t y = b.AddTensor({.name = "y", .kind = TensorKind::kOutput, .bytes = 32768});
    const auto hbm = [](uint16_t tensor) {
      return AccessPattern::Hbm(DType::kF32, tensor, 0, 128, 64, {{1, 64}});
    };
    b.Emit(Opcode::dma_copy, Engine::kDma, {Sbuf(0), hbm(x)});
    b.Emit(Opcode::tensor_scalar, Engine::kVector, {Sbuf(1), Sbuf(0), AluOp::kMultiply, 2.0});
    b.Emit(Opcode::activation, Engine::kScalar, {Sbuf(2), isa::ActivationFunction::kExp, Sbuf(1)});
    b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(y), Sbuf(2)});
    auto& all = b.program().instructions;
    load = &all[0];
    multiply = &all[1];
    exponential = &all[2];
    store = &all[3];
    load->updates = {{.semaphore = 0, .value = 1}};
    multiply->waits = {{.semaphore = 0, .value = 1}};
    multiply->updates = {{.semaphore = 1, .value = 1}};
    exponential->waits = {{.semaphore = 1, .value = 1}};
    exponential->updates = {{.semaphore = 2, .value = 1}};
    store->waits = {{.semaphore = 2, .value = 1}};
  }
};

TEST(Hazards, ACompleteChainIsInOrder) {
  Chain chain;
  EXPECT_TRUE(HasSemaphores(chain.b.program()));
  EXPECT_EQ(Hazard(chain.b.program()), "");
}

TEST(Hazards, EachMissingWaitIsNamed) {
  Chain a;
  a.multiply->waits.clear();
  EXPECT_NE(Hazard(a.b.program())
                .find("tensor_scalar (instruction 1 on vector) reads byte 0 of "
                      "partitions of sbuf, which dma_copy (instruction 0 on dma) "
                      "writes; no semaphore orders the two"),
            std::string::npos)
      << Hazard(a.b.program());
  Chain b;
  b.exponential->waits.clear();
  EXPECT_NE(Hazard(b.b.program()).find("activation (instruction 2 on scalar) reads byte 256"),
            std::string::npos);
  Chain c;
  c.store->waits.clear();
  EXPECT_NE(Hazard(c.b.program()).find("dma_copy (instruction 3 on dma) reads byte 512"),
            std::string::npos);
}

TEST(Hazards, AMissingUpdateIsAMissingOrder) {
  Chain chain;
  chain.multiply->updates.clear();
  EXPECT_NE(Hazard(chain.b.program()), "");
}

TEST(Hazards, OrderIsTransitive) {
  Chain chain;  // the store also reads what the load wrote: load -> ... -> store holds
  std::get<AccessPattern>(chain.store->operands[1]).offset = 0;
  EXPECT_EQ(Hazard(chain.b.program()), "");
}

TEST(Hazards, WritingWhatIsStillReadNeedsAnOrderToo) {
  Chain chain;
  chain.b.Emit(Opcode::memset, Engine::kGpSimd, {Sbuf(1), 0.0});
  EXPECT_NE(Hazard(chain.b.program()).find("memset (instruction 4 on gpsimd) writes byte 256"),
            std::string::npos);
  chain.b.program().instructions[4].waits = {{.semaphore = 2, .value = 1}};
  EXPECT_EQ(Hazard(chain.b.program()), "");
}

TEST(Hazards, OneEngineIsInOrderAndDmaIsNot) {
  ProgramBuilder b("order", Target::kTrn2);
  b.Emit(Opcode::memset, Engine::kVector, {Sbuf(0), 0.0});
  b.Emit(Opcode::tensor_scalar, Engine::kVector, {Sbuf(1), Sbuf(0), AluOp::kAdd, 1.0});
  EXPECT_EQ(Hazard(b.program()), "");
  ProgramBuilder d("dma", Target::kTrn2);
  const uint16_t x = d.AddTensor({.name = "x", .kind = TensorKind::kInput, .bytes = 32768});
  for (int i = 0; i < 2; ++i)
    d.Emit(Opcode::dma_copy, Engine::kDma,
           {Sbuf(0), AccessPattern::Hbm(DType::kF32, x, 0, 128, 64, {{1, 64}})});
  EXPECT_NE(Hazard(d.program()), "");
}

TEST(Hazards, BytesBetweenStridesAreNotTouched) {
  const auto every_second = [](int64_t first) {
    return AccessPattern::Sbuf(DType::kF32, 0, 128, first * 4, {{2, 32}});
  };
  ProgramBuilder b("strides", Target::kTrn2);
  b.Emit(Opcode::memset, Engine::kVector, {every_second(0), 0.0});
  b.Emit(Opcode::memset, Engine::kGpSimd, {every_second(1), 0.0});
  EXPECT_EQ(Hazard(b.program()), "");
  b.Emit(Opcode::memset, Engine::kGpSimd, {every_second(2), 0.0});
  EXPECT_NE(Hazard(b.program()), "");
}

TEST(Hazards, PartitionsAreApart) {
  ProgramBuilder b("partitions", Target::kTrn2);
  b.Emit(Opcode::memset, Engine::kVector,
         {AccessPattern::Sbuf(DType::kF32, 0, 64, 0, {{1, 64}}), 0.0});
  b.Emit(Opcode::memset, Engine::kGpSimd,
         {AccessPattern::Sbuf(DType::kF32, 64, 64, 0, {{1, 64}}), 0.0});
  EXPECT_EQ(Hazard(b.program()), "");
}

// A count that another producer could have brought about proves nothing.
TEST(Hazards, AnIncrementThatMayBeAnothersOrdersNothing) {
  Chain chain;
  chain.b.Emit(Opcode::memset, Engine::kGpSimd, {Sbuf(9), 0.0});
  chain.b.program().instructions[4].updates = {{.semaphore = 1, .value = 1}};
  EXPECT_NE(Hazard(chain.b.program()).find("activation (instruction 2"), std::string::npos);
  chain.b.program().instructions[2].waits = {{.semaphore = 1, .value = 2}};  // both must have come
  EXPECT_EQ(Hazard(chain.b.program()), "");
}

// Producer and consumer of one buffer in a loop: full and empty, each taken back where awaited.
isa::Program Loop(bool empty_is_awaited) {
  ProgramBuilder b("loop", Target::kTrn2);
  b.Emit(Opcode::memset, Engine::kGpSimd, {Sbuf(9), 0.0});
  b.program().instructions.back().updates = {{.semaphore = 1, .value = 1}};  // empty at first
  b.LoopBegin(0, 10, 1, 9);
  b.Emit(Opcode::memset, Engine::kGpSimd, {Sbuf(0), 1.0});
  Instruction& produce = b.program().instructions.back();
  if (empty_is_awaited) produce.waits = {{.semaphore = 1, .value = 1}};
  produce.updates = {{.semaphore = 0, .value = 1}};
  if (empty_is_awaited) produce.updates.push_back({.semaphore = 1, .value = -1});
  b.Emit(Opcode::tensor_scalar, Engine::kVector, {Sbuf(1), Sbuf(0), AluOp::kAdd, 1.0});
  Instruction& consume = b.program().instructions.back();
  consume.waits = {{.semaphore = 0, .value = 1}};
  consume.updates = {{.semaphore = 0, .value = -1}, {.semaphore = 1, .value = 1}};
  b.LoopEnd();
  return b.program();
}

TEST(Hazards, LoopsHandOverABuffer) {
  EXPECT_EQ(Hazard(Loop(true)), "");
  const std::string hazard = Hazard(Loop(false));
  EXPECT_NE(
      hazard.find("memset (instruction 2 on gpsimd) writes byte 0 of partitions of sbuf, which "
                  "tensor_scalar (instruction 3 on vector) reads"),
      std::string::npos)
      << hazard;
}

}  // namespace
}  // namespace neuron::emulator
