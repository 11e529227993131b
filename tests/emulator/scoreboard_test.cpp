// The modelled time against published figures (reference: the trn2 fp32 matmul walk-through and the
// DMA bandwidth chart) and against itself: loops extrapolated or walked in full.
#include "emulator/scoreboard.h"

#include <gtest/gtest.h>

#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;
using isa::ProgramBuilder;
using isa::Target;
using isa::TensorKind;

double Microseconds(const isa::Program& program, std::vector<int64_t> registers = {}) {
  registers.resize(program.registers.size());
  return static_cast<double>(Scoreboard(program).DurationPs(registers.data())) * 1e-6;
}

// `count` copies HBM -> SBUF of [128, bytes_per_row] u8 to disjoint places.
double CopyMicroseconds(int64_t bytes_per_row, int count) {
  ProgramBuilder b("copies", Target::kTrn2);
  const uint16_t x = b.AddTensor(
      {.name = "input0", .kind = TensorKind::kInput, .bytes = 128 * bytes_per_row * count});
  for (int i = 0; i < count; ++i)
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {AccessPattern::Sbuf(DType::kU8, 0, 128, i % 8 * bytes_per_row, {{1, bytes_per_row}}),
            AccessPattern::Hbm(DType::kU8, x, i * 128 * bytes_per_row, 128, bytes_per_row,
                               {{1, bytes_per_row}})});
  return Microseconds(b.program());
}

TEST(Scoreboard, LongRowsReachTheHbmsBandwidth) {
  // 64 x [128, 16 KiB] = 128 MiB at 362.5 GB/s is 370 us.
  const double us = CopyMicroseconds(16384, 64);
  EXPECT_GT(us, 365);
  EXPECT_LT(us, 420);
}

TEST(Scoreboard, ShortRowsAreBoundByDescriptors) {
  // The chart: 512 B per partition reach about a fifth of the bandwidth that 32 KiB reach.
  const double short_rate = 512.0 / CopyMicroseconds(512, 64);
  const double long_rate = 16384.0 / CopyMicroseconds(16384, 64);
  EXPECT_LT(short_rate / long_rate, 0.75);
}

TEST(Scoreboard, OneTransferHasItsFixedLatency) {
  const double us = CopyMicroseconds(256, 1);
  EXPECT_GT(us, 1.3);
  EXPECT_LT(us, 3.0);
}

TEST(Scoreboard, ATransferThatWaitsKeepsNoBandwidthBeforeItStarts) {
  constexpr int64_t kRow = 32768;  // [128, 32 KiB] take 11.6 us
  const auto tile = [](int64_t at) {
    return AccessPattern::Sbuf(DType::kF32, 0, 128, at, {{1, kRow / 4}});
  };
  const auto microseconds = [&](bool other) {
    ProgramBuilder b("waits", Target::kTrn2);
    const uint16_t x =
        b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 128 * kRow});
    const uint16_t y =
        b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = 128 * kRow});
    const auto hbm = [&](uint16_t tensor) {
      return AccessPattern::Hbm(DType::kF32, tensor, 0, 128, kRow / 4, {{1, kRow / 4}});
    };
    b.Emit(Opcode::dma_copy, Engine::kDma, {tile(0), hbm(x)});
    for (int i = 0; i < 4; ++i)
      b.Emit(Opcode::tensor_scalar, Engine::kVector, {tile(0), tile(0), AluOp::kAdd, 1.0});
    b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(y), tile(0)});
    if (other) b.Emit(Opcode::dma_copy, Engine::kDma, {tile(kRow), hbm(x)});
    return Microseconds(b.program());
  };
  EXPECT_LT(microseconds(true) - microseconds(false), 1.0);
}

// Matmuls [128, 128] x [128, 512] fp32 in a loop, accumulating in one of two banks.
isa::Program Matmuls(int64_t count) {
  ProgramBuilder b("matmuls", Target::kTrn2);
  b.LoopBegin(0, count, 1, count - 1);
  for (int bank = 0; bank < 2; ++bank)
    b.Emit(Opcode::nc_matmul, Engine::kTensor,
           {AccessPattern::Psum(DType::kF32, 0, 128, bank * 2048, {{1, 512}}),
            AccessPattern::Sbuf(DType::kF32, 0, 128, 0, {{1, 128}}),
            AccessPattern::Sbuf(DType::kF32, 0, 128, 1024, {{1, 512}}), int64_t{0}});
  b.LoopEnd();
  return b.program();
}

TEST(Scoreboard, MatmulsTakeThePublishedTime) {
  // Measured: 859 ns per fp32 nc_matmul of 128 x 128 x 512.
  const double us = Microseconds(Matmuls(500));
  EXPECT_NEAR(us / 1000, 0.859, 0.03);
}

TEST(Scoreboard, AccumulatingIntoOneBankIsAsFast) {
  // PSUM adds at full rate: an engine's own writes need not wait for each other.
  isa::Program program = Matmuls(500);
  std::get<AccessPattern>(program.instructions[2].operands[0]).offset = 0;
  EXPECT_NEAR(Microseconds(program) / 1000, 0.859, 0.03);
}

TEST(Scoreboard, NeighboursAtOddAddressesDoNotWaitForEachOther) {
  const auto copies = [](int64_t pitch) {
    ProgramBuilder b("copies", Target::kTrn2);
    const uint16_t x =
        b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 128 * 1024});
    for (int i = 0; i < 8; ++i)
      b.Emit(Opcode::dma_copy, Engine::kDma,
             {AccessPattern::Sbuf(DType::kU8, 0, 128, 16 + i * pitch, {{1, 1000}}),
              AccessPattern::Hbm(DType::kU8, x, 0, 128, 1024, {{1, 1000}})});
    return Microseconds(b.program());
  };
  EXPECT_DOUBLE_EQ(copies(1000), copies(1024));  // side by side
  EXPECT_GT(copies(999), 2 * copies(1000));      // each overwrites a byte of the one before
}

TEST(Scoreboard, ExtrapolatesLoopsToWhatWalkingThemGives) {
  const isa::Program program = Matmuls(1000);
  const std::vector<int64_t> registers(program.registers.size());
  Scoreboard board(program);
  const std::string trace = board.TraceJson(registers.data(), 1 << 20);  // walks every iteration
  const size_t last = trace.rfind("\"end_ps\":");
  const double walked = std::strtod(trace.c_str() + last + 9, nullptr);
  const double extrapolated = static_cast<double>(board.DurationPs(registers.data()));
  EXPECT_NEAR(extrapolated / walked, 1.0, 0.01);
}

TEST(Scoreboard, IndependentEnginesOverlapAndDependentOnesDoNot) {
  const auto chain = [](bool dependent) {
    ProgramBuilder b("chain", Target::kTrn2);
    const auto at = [](int64_t slot) {
      return AccessPattern::Sbuf(DType::kF32, 0, 128, slot * 8192, {{1, 2048}});
    };
    b.Emit(Opcode::tensor_scalar, Engine::kVector, {at(0), at(1), AluOp::kAdd, 1.0});
    b.Emit(Opcode::activation, Engine::kScalar,
           {at(2), isa::ActivationFunction::kExp, at(dependent ? 0 : 3)});
    return Microseconds(b.program());
  };
  EXPECT_GT(chain(true), 1.4 * chain(false));
}

TEST(Scoreboard, TimeFollowsRunTimeExtents) {
  ProgramBuilder b("extent", Target::kTrn2);
  const isa::Register n = b.AddRegister({.min = 0, .max = 8192, .scalar_slot = 0});
  const auto at = [&](int64_t slot) {
    return AccessPattern::Sbuf(DType::kF32, 0, 128, slot * 32768, {{1, isa::Count(8192, n)}});
  };
  b.Emit(Opcode::tensor_tensor, Engine::kVector, {at(2), at(0), at(1), AluOp::kAdd});
  EXPECT_GT(Microseconds(b.program(), {8192}), 10 * Microseconds(b.program(), {256}));
}

}  // namespace
}  // namespace neuron::emulator
