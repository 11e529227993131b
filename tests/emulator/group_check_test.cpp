// TORCHNEURON_CHECK_GROUPS: what differs between the two executions is named; what an execution
// leaves behind is there once.
#include "emulator/group_check.h"

#include <gtest/gtest.h>

#include <cstring>

#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;
using isa::TensorKind;

constexpr int64_t kRows = 64, kColumns = 256, kElements = kRows * kColumns;

// output0 += 1 in place, through SBUF; then random numbers to output1.
isa::Program Increment() {
  isa::ProgramBuilder b("increment", isa::Target::kTrn2);
  const uint16_t hbm =
      b.AddTensor({.name = "output0", .kind = TensorKind::kInOut, .bytes = kElements * 4});
  const uint16_t random =
      b.AddTensor({.name = "output1", .kind = TensorKind::kOutput, .bytes = kElements * 4});
  const auto memory = [](uint16_t tensor, DType dtype) {
    return AccessPattern::Hbm(dtype, tensor, 0, kRows, kColumns, {{1, kColumns}});
  };
  const auto tile = [](int64_t slot, DType dtype) {
    return AccessPattern::Sbuf(dtype, 0, kRows, slot * kColumns * 4, {{1, kColumns}});
  };
  b.Emit(Opcode::dma_copy, Engine::kDma, {tile(0, DType::kF32), memory(hbm, DType::kF32)});
  b.Emit(Opcode::tensor_scalar, Engine::kVector,
         {tile(1, DType::kF32), tile(0, DType::kF32), AluOp::kAdd, 1.0});
  b.Emit(Opcode::dma_copy, Engine::kDma, {memory(hbm, DType::kF32), tile(1, DType::kF32)});
  b.Emit(Opcode::rng, Engine::kVector, {tile(2, DType::kU32)});
  b.Emit(Opcode::dma_copy, Engine::kDma, {memory(random, DType::kU32), tile(2, DType::kU32)});
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

// A program on a core, executed as CheckGroups asks for; `fault` is done after the execution with
// groups, as if they had done it.
class Checked {
 public:
  Checked() {
    static auto* machine = new Machine(*ReadMachineConfig());
    core_ = *machine->core(0);
    grouped_.push_back(*LoadedProgram::Load(Increment(), *core_));
    singly_.push_back(*grouped_[0]->WithoutGroups());
    bound_.push_back({{reinterpret_cast<char*>(values), kElements * 4, 0},
                      {reinterpret_cast<char*>(random), kElements * 4, 0}});
  }
  Status Run(const std::function<Status(Counters*)>& fault) {
    const auto way = [this](const auto& programs, const auto& behind,
                            const int64_t& late) -> CheckedRun {
      return {.programs = programs,
              .execute = [&, behind](Counters* own) -> Status {
                NEURON_RETURN_IF_ERROR(programs[0]->Execute(bound_[0], own));
                return behind(own);
              },
              .duration_ps = [&] { return programs[0]->last_duration_ps() + late; }};
    };
    const int64_t in_time = 0;
    return CheckGroups(bound_, way(singly_, Nothing, in_time), way(grouped_, fault, late),
                       &counters);
  }
  static Status Nothing(Counters*) { return OkStatus(); }
  LoadedProgram& program() { return *grouped_[0]; }

  float values[kElements] = {};
  uint32_t random[kElements] = {};
  Counters counters;
  int64_t late = 0;

 private:
  Core* core_ = nullptr;
  std::vector<std::unique_ptr<LoadedProgram>> grouped_, singly_;
  std::vector<std::vector<BoundTensor>> bound_;
};

TEST(GroupCheck, LeavesOneExecutionBehind) {
  Checked checked;
  ASSERT_TRUE(checked.program().has_groups());
  const Core& core = checked.program().core();
  for (int i = 1; i <= 3; ++i) {
    const int64_t before = core.device_time_ps;
    const Status status = checked.Run(Checked::Nothing);
    ASSERT_TRUE(status.ok()) << status.ToString();
    EXPECT_EQ(core.device_time_ps - before, checked.program().last_duration_ps());
    EXPECT_EQ(checked.counters.executions, i);
    for (const float value : checked.values) ASSERT_EQ(value, static_cast<float>(i));
  }
}

TEST(GroupCheck, GeneratorsGoOnFromWhereTheyWere) {
  Checked checked, plain;
  RandomLanes& state = checked.program().core().random(Engine::kVector);  // both are on this core
  state.Seed(7);
  ASSERT_TRUE(checked.Run(Checked::Nothing).ok());
  ASSERT_TRUE(checked.Run(Checked::Nothing).ok());
  state.Seed(7);
  Counters counters;
  std::vector<BoundTensor> bound = {{reinterpret_cast<char*>(plain.values), kElements * 4, 0},
                                    {reinterpret_cast<char*>(plain.random), kElements * 4, 0}};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(plain.program().Execute(bound, &counters).ok());
  EXPECT_EQ(std::memcmp(checked.random, plain.random, sizeof plain.random), 0);
}

TEST(GroupCheck, ADifferingBitIsNamedWithBothValues) {
  Checked checked;
  const Status status = checked.Run([&](Counters*) {
    checked.values[kElements - 3] = 1.5f;
    return OkStatus();
  });
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  const std::string message(status.message());
  for (const char* words :
       {"groups.bits: output0", "element 16381", "f32", "0x3fc00000 (1.5) with",
        "0x3f800000 (1) instruction by instruction", "dma_copy (instruction 2)"})
    EXPECT_NE(message.find(words), std::string::npos) << words << " in: " << message;
}

TEST(GroupCheck, WhatElseDiffersIsNamed) {
  const auto message = [](const std::function<Status(Checked&, Counters*)>& fault) {
    Checked checked;
    return checked.Run([&](Counters* own) { return fault(checked, own); }).ToString();
  };
  EXPECT_NE(message([](Checked& c, Counters*) {
              c.program().core().random(Engine::kVector).lane(5)->Next();
              return OkStatus();
            }).find("groups.bits: an engine's random generators"),
            std::string::npos);
  EXPECT_NE(message([](Checked& c, Counters*) {
              c.program().core().vector_accumulator(isa::AccessPattern())[3] += 1;
              return OkStatus();
            }).find("groups.bits: the Vector engine's accumulators"),
            std::string::npos);
  EXPECT_NE(message([](Checked& c, Counters*) {
              c.late = 8;
              return OkStatus();
            }).find("groups.time: "),
            std::string::npos);
  EXPECT_NE(message([](Checked&, Counters* own) {
              own->dma_bytes_read += 4;
              return OkStatus();
            }).find("groups.counters: "),
            std::string::npos);
  EXPECT_NE(
      message([](Checked&, Counters*) { return OutOfRange("too far"); }).find("groups.status: "),
      std::string::npos);
}

TEST(GroupCheck, IsWhatTheVariableTurnsOn) {
  setenv("TORCHNEURON_CHECK_GROUPS", "1", 1);
  RunningProgram run(Increment());
  unsetenv("TORCHNEURON_CHECK_GROUPS");
  run.Input("output0", std::vector<float>(kElements, 2.0f));
  run.Output("output1", kElements * 4);
  NrtClient& nrt = NrtClient::Get();
  nrt.nrt_emulator_reset_counters(0);
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  EXPECT_EQ(run.Read<float>("output0"), std::vector<float>(kElements, 3.0f));
  EXPECT_NE(std::string(nrt.nrt_emulator_counters(0)).find("\"executions\":1"), std::string::npos)
      << nrt.nrt_emulator_counters(0);
}

}  // namespace
}  // namespace neuron::emulator
