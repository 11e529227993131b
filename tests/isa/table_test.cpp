// The tables themselves: names, targets, costs against published figures.
#include <gtest/gtest.h>

#include <set>

#include "isa/operands.h"
#include "isa/public_names.h"
#include "isa/timing.h"

namespace neuron::isa {
namespace {

using A = AccessPattern;

double Ns(Opcode opcode, Engine engine, std::vector<Operand> operands,
          Target target = Target::kTrn2) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.engine = engine;
  instruction.operands = std::move(operands);
  EXPECT_TRUE(VerifyInstruction(instruction, target).ok())
      << VerifyInstruction(instruction, target).message();
  return StaticBusyNs(instruction, target);
}

A Sbuf(int64_t partitions, int64_t elements, DType dtype = DType::kF32) {
  return A::Sbuf(dtype, 0, partitions, 0, {{1, elements}});
}
A Psum(int64_t partitions, int64_t elements) {
  return A::Psum(DType::kF32, 0, partitions, 0, {{1, elements}});
}

TEST(InstructionTable, NamesAreFoundAndUnique) {
  std::set<std::string_view> names;
  for (const InstructionDef* row : InstructionTable()) {
    EXPECT_TRUE(names.insert(row->mnemonic).second) << row->mnemonic;
    const auto opcode = OpcodeFromMnemonic(row->mnemonic);
    ASSERT_TRUE(opcode.has_value());
    EXPECT_EQ(&DefOf(*opcode), row);
    EXPECT_NE(row->engines, 0) << row->mnemonic;
    EXPECT_FALSE(row->doc.empty()) << row->mnemonic;
    EXPECT_FALSE(row->source.empty()) << row->mnemonic;
    for (const OperandDef& operand : row->operands) {
      EXPECT_FALSE(operand.doc.empty()) << row->mnemonic << "." << operand.name;
      const bool tile = operand.kind == OperandKind::kTiles || operand.kind == OperandKind::kTile ||
                        operand.kind == OperandKind::kScalarOrTile;
      EXPECT_EQ(operand.memories != 0, tile) << row->mnemonic << "." << operand.name;
    }
  }
  EXPECT_EQ(OpcodeFromMnemonic("no_such_instruction"), std::nullopt);
}

TEST(InstructionTable, HasARowForEveryPublicName) {
  std::set<std::string_view> names;
  for (const PublicName& name : PublicNames()) {
    EXPECT_TRUE(names.insert(name.name).second) << name.name;
    EXPECT_TRUE(OpcodeFromMnemonic(name.mnemonic).has_value()) << name.name;
  }
}

TEST(InstructionTable, RowsOfLaterGenerationsAreRefusedByName) {
  for (const InstructionDef* row : InstructionTable()) {
    if (row->since == Target::kTrn2) continue;
    Instruction instruction;
    instruction.opcode = *OpcodeFromMnemonic(row->mnemonic);
    instruction.engine = DefaultEngine(*row);
    const Status status = VerifyInstruction(instruction, Target::kTrn2);
    EXPECT_NE(status.message().find(StrCat(row->mnemonic, ".target: exists from trn3")),
              std::string::npos)
        << status.message();
  }
}

TEST(Operators, NamesAreFoundAndUnique) {
  std::set<std::string_view> names;
  for (const AluRow& row : AluRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(AluOpFromName(row.name), row.op);
  }
  names.clear();
  for (const ActivationRow& row : ActivationRows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(ActivationFromName(row.name), row.function);
  }
}

TEST(Targets, HaveTwoNamesEach) {
  EXPECT_EQ(TargetFromName("trn2"), Target::kTrn2);
  EXPECT_EQ(TargetFromName("gen3"), Target::kTrn2);
  EXPECT_EQ(TargetFromName("trn3"), Target::kTrn3);
  EXPECT_EQ(TargetFromName("gen4"), Target::kTrn3);
  EXPECT_EQ(TargetFromName("trn1"), std::nullopt);
}

// Published trn2 measurements, not the formulas' own constants. Tolerance 5 %, DMA 10 %.
TEST(Costs, MatchPublishedFigures) {
  // Kernel optimisation tutorial: 859 ns per fp32 nc_matmul 128 x 128 x 512.
  EXPECT_NEAR(Ns(Opcode::nc_matmul, Engine::kTensor,
                 {Psum(128, 512), Sbuf(128, 128), Sbuf(128, 512), int64_t{0}}),
              859, 43);
  // Same: fp32 PSUM to SBUF copy of [128, 512] about 690 ns, SBUF to SBUF 415 to 425.
  EXPECT_NEAR(Ns(Opcode::tensor_copy, Engine::kVector, {Sbuf(128, 512), Psum(128, 512)}), 690, 35);
  EXPECT_NEAR(Ns(Opcode::tensor_copy, Engine::kVector, {Sbuf(128, 512), Sbuf(128, 512)}), 420, 21);
  EXPECT_NEAR(Ns(Opcode::memset, Engine::kVector, {Sbuf(128, 512), 0.0}), 420, 21);
  // DMA overview: exp of 4096 elements 3.71 us from issue to result.
  EXPECT_NEAR(Ns(Opcode::activation, Engine::kScalar,
                 {Sbuf(128, 4096), ActivationFunction::kExp, Sbuf(128, 4096)}) +
                  ArrivalNs(Engine::kScalar, Target::kTrn2),
              3710, 186);
}

// DMA bandwidth guide: relative bandwidth of [128, bytes] copies, 32 KiB per partition = 100 %.
TEST(Costs, DmaFollowsThePublishedBandwidthCurve) {
  const auto ns = [](int64_t bytes) {
    const A tile = Sbuf(128, bytes / 2, DType::kBF16);
    return Ns(Opcode::dma_copy, Engine::kDma,
              {tile, A::Hbm(DType::kBF16, 0, 0, 128, bytes / 2, {{1, bytes / 2}})});
  };
  const double full = 32768 / ns(32768);
  const std::pair<int64_t, double> published[] = {{64, 2.6},    {128, 5.0},   {256, 10.3},
                                                  {512, 20.6},  {1024, 42.2}, {2048, 81.3},
                                                  {4096, 96.6}, {8192, 98.3}, {16384, 99.0}};
  for (const auto& [bytes, percent] : published)
    EXPECT_NEAR(100 * static_cast<double>(bytes) / ns(bytes) / full, percent, percent * 0.1)
        << bytes << " bytes per partition";
}

TEST(Costs, EveryInstructionOfAnEngineCostsSomething) {
  for (const InstructionDef* row : InstructionTable())
    EXPECT_EQ(row->cost == nullptr, row->mnemonic == "loop_end") << row->mnemonic;
}

}  // namespace
}  // namespace neuron::isa
