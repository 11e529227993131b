#include "isa/container.h"

#include <gtest/gtest.h>

#include <random>

#include "fuzz.h"
#include "isa/program.h"
#include "test_programs.h"

namespace neuron::isa {
namespace {

// Every kind of operand, declaration and section in one program.
Program Everything() {
  Program program = AddProgram();
  ProgramBuilder b("everything", Target::kTrn3);
  b.program() = std::move(program);
  const uint16_t constant = b.AddConstant("table", std::string(512, '\7'));
  const Register slot = b.AddRegister({.min = 0, .max = 3, .scalar_slot = 5});
  const Register scale = b.AddRegister({.scalar_slot = 6});
  b.SetSource(0);
  const auto tile = AccessPattern::Sbuf(DType::kF32, 32, 32, 1024, {{8, 2}, {1, 4}});
  const auto column = AccessPattern::Sbuf(DType::kF32, 32, 32, 0, {{1, 1}});
  const Register rows = b.Minimum(Affine::Of(slot, 7, 1), 32, 32);
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Sbuf(DType::kF32, 0, Count(32, rows), 0, {{1, 4}}),
          AccessPattern::Hbm(DType::kF32, constant, 0, Count(32, rows), 4, {{1, 4}})});
  AccessPattern apart = AccessPattern::Hbm(DType::kF32, constant, 0, 32, 0, {{0, 4}, {1, 1}});
  apart.partition_step_from = slot;
  apart.dims[0].step_from = rows;
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Sbuf(DType::kF32, 0, 32, 0, {{1, 4}}), apart});
  b.Emit(Opcode::activation, Engine::kScalar,
         {tile, ActivationFunction::kExp, tile, column, RegisterOperand{scale}});
  b.Emit(Opcode::tensor_scalar, Engine::kVector,
         {tile, tile, AluOp::kMultiply, 0.25, int64_t{0}, AluOp::kAdd, column});
  b.Emit(Opcode::iota, Engine::kGpSimd,
         {tile, std::vector<int64_t>{4, 2, 1, 4}, Affine::Of(slot, -3, 9), int64_t{8}});
  Instruction& kernel = b.Emit(Opcode::gpsimd_kernel, Engine::kGpSimd,
                               {std::string("sort"), int64_t{1}, tile, tile, int64_t{-5}, 0.5});
  kernel.waits = {{3, 16}};
  kernel.updates = {{4, 1}, {5, -2}};
  b.program().metadata = std::string("\0\1binary", 8);
  return std::move(b.program());
}

TEST(Container, RoundTripsEverything) {
  const Program program = Everything();
  ASSERT_TRUE(Verify(program).ok()) << Verify(program).ToString();
  const StatusOr<Program> decoded = Decode(Encode(program));
  ASSERT_TRUE(decoded.ok()) << decoded.status().ToString();
  EXPECT_EQ(*decoded, program);
  EXPECT_EQ(Encode(*decoded), Encode(program));
}

TEST(Container, EveryTruncationIsDataLoss) {
  const std::string bytes = Encode(Everything());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_TRUE(IsDataLoss(Decode(std::string_view(bytes).substr(0, size)).status())) << size;
}

TEST(Container, EveryFlippedBitIsRefused) {
  std::string bytes = Encode(Everything());
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] ^= static_cast<char>(1 << (i % 8));
    EXPECT_FALSE(Decode(bytes).ok()) << "byte " << i;
    bytes[i] ^= static_cast<char>(1 << (i % 8));
  }
  EXPECT_TRUE(Decode(bytes).ok());
}

// Damage that the checksum does not see: what decodes must verify and encode again.
TEST(Container, GarbageWithAGoodChecksumNeverCrashes) {
  const std::string good = Encode(Everything());
  std::mt19937 random(FuzzSeed(7));
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = good;
    for (int change = 1 + static_cast<int>(random() % 3); change > 0; --change) {
      const bool header = random() % 8 == 0;
      const size_t at = header ? container::kSectionsAt + random() % 200
                               : container::kHeaderBytes + random() % (bytes.size() - 1024);
      bytes[at] = static_cast<char>(random());
    }
    container::Put<uint64_t>(bytes, container::kChecksumAt, container::Checksum(bytes));
    const StatusOr<Program> decoded = Decode(bytes);
    if (!decoded.ok()) continue;
    ++accepted;
    EXPECT_TRUE(Verify(*decoded).ok());
    EXPECT_FALSE(Disassemble(*decoded).empty());
    EXPECT_TRUE(Decode(Encode(*decoded)).ok());
  }
  EXPECT_GT(accepted, 0);
}

TEST(Container, AnotherTableOrVersionIsAPrecondition) {
  std::string bytes = Encode(AddProgram());
  const auto with = [&](size_t at, uint64_t value) {
    std::string changed = bytes;
    container::Put<uint64_t>(changed, at, value);
    container::Put<uint64_t>(changed, container::kChecksumAt, container::Checksum(changed));
    return Decode(changed).status();
  };
  EXPECT_TRUE(IsFailedPrecondition(with(container::kTableHashAt, 1)));
  EXPECT_TRUE(IsFailedPrecondition(with(container::kVersionAt, 99)));
}

TEST(Container, AGenuineNeffIsNamedAsSuch) {
  std::string neff(4096, '\0');
  container::Put<uint64_t>(neff, 0, 2);
  container::Put<uint64_t>(neff, 8, 1024);
  const Status status = Decode(neff).status();
  EXPECT_TRUE(IsFailedPrecondition(status));
  EXPECT_NE(status.message().find("NEFF"), std::string_view::npos);
}

}  // namespace
}  // namespace neuron::isa
