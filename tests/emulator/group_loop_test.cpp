// Loops whose body is one group, on several host threads and walked instruction by instruction: the
// same bytes, counters and modelled time. Iterations may follow each other in HBM, lie side by
// side, overlap, or read what another one wrote, through one tensor or through two that share
// memory; a body may be written out twice, with tiles that take turns.
#include <random>

#include "emulator/nrt_client.h"
#include "emulator/program.h"
#include "emulator/unrolled.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;

constexpr int64_t kRows = 96, kColumns = 512, kTrips = 6;
constexpr int64_t kTile = kRows * kColumns * 4;
constexpr int64_t kBytes = (kTrips + 2) * kTile;

enum Tensor : int { kInput0, kInput1, kOutput0, kOutput1, kSums };

struct RandomLoop {
  explicit RandomLoop(uint32_t seed) : random(seed), b("loop", isa::Target::kTrn2) {
    for (const char* name : {"input0", "input1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInput, .bytes = kBytes - kTile});
    for (const char* name : {"output0", "output1", "sums"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInOut, .bytes = kBytes});
  }

  isa::Program Make() {
    walk = Pick(8);
    const int64_t advance = walk == 0   ? kColumns * 4  // side by side in longer rows
                            : walk == 1 ? kTile / 2     // one reaches into the next
                            : walk == 2 ? 0
                            : walk == 3 ? -kTile
                                        : kTile;
    const int copies = 1 + Pick(2);
    const isa::Affine begun = isa::Affine::Of(b.LoopBegin(0, kTrips, copies, kTrips - copies));
    const auto same = random;
    for (int copy = 0; copy < copies; ++copy) {
      if (copy > 0 && Pick(4) != 0) random = same;  // else it is another body
      counter = begun + isa::Affine(copy);
      offset = counter * advance + isa::Affine(advance < 0 ? (kTrips - 1) * kTile : 0);
      Body(copy * 5 * kColumns * 4);
    }
    b.LoopEnd();
    b.Emit(
        Opcode::dma_copy, Engine::kDma,
        {AccessPattern::Hbm(DType::kF32, kSums, kBytes - kTile, kRows, kColumns, {{1, kColumns}}),
         Sbuf(4)});
    auto program = std::move(b).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  }

  // With tiles from byte `turn` on.
  void Body(int64_t turn) {
    const bool split = Pick(3) == 0;
    const int64_t per = split ? 4 : 1;
    const AccessPattern x = Sbuf(0, turn), y = Sbuf(1, turn), z = Sbuf(2, turn);
    const AccessPattern sums =
        AccessPattern::Sbuf(DType::kF32, 0, kRows, 3 * kColumns * 4 + turn, {{1, per}});
    b.Emit(Opcode::dma_copy, Engine::kDma, {x, Source()});
    b.Emit(Opcode::dma_copy, Engine::kDma, {y, Source()});
    b.Emit(Opcode::tensor_tensor, Engine::kVector, {z, x, y, AluOp::kSubtract});
    if (Pick(2) == 0) {
      AccessPattern rows = z;
      if (split) {
        rows.num_dims = 2;
        rows.dims[0] = {kColumns / per, per};
        rows.dims[1] = {1, kColumns / per};
      }
      AccessPattern spread = sums;
      spread.num_dims = 2;
      spread.dims[1] = {0, kColumns / per};
      b.Emit(Opcode::tensor_reduce, Engine::kVector,
             {sums, AluOp::kMaximum, rows, int64_t{1}, int64_t{0}});
      if (split)
        b.Emit(Opcode::tensor_tensor, Engine::kVector, {rows, rows, spread, AluOp::kAdd});
      else
        b.Emit(Opcode::tensor_scalar, Engine::kVector, {z, z, AluOp::kAdd, sums});
      if (Pick(2) == 0)
        b.Emit(Opcode::dma_copy, Engine::kDma,
               {AccessPattern::Hbm(DType::kF32, kSums, counter * (kRows * per * 4), kRows, per,
                                   {{1, per}}),
                sums});
    }
    b.Emit(Opcode::dma_copy, Engine::kDma, {Hbm(kOutput0 + Pick(2), Pick(4) == 0), z});
    if (Pick(4) == 0)  // what stays on chip ties the iterations together
      b.Emit(Opcode::tensor_copy, Engine::kVector, {Sbuf(4), z});
  }

  int Pick(int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); }
  static AccessPattern Sbuf(int slot, int64_t turn = 0) {
    return AccessPattern::Sbuf(DType::kF32, 0, kRows, slot * kColumns * 4 + turn, {{1, kColumns}});
  }
  AccessPattern Hbm(int tensor, bool elsewhere) {
    const isa::Affine at = elsewhere ? offset + isa::Affine(kTile) : offset;
    return AccessPattern::Hbm(DType::kF32, static_cast<uint16_t>(tensor), at, kRows,
                              walk == 0 ? kTrips * kColumns : kColumns, {{1, kColumns}});
  }
  AccessPattern Source() { return Hbm(Pick(3), Pick(4) == 0); }

  std::mt19937 random;
  isa::ProgramBuilder b;
  int walk = 0;
  isa::Affine counter = 0, offset = 0;
};

struct Outcome {
  std::vector<std::vector<uint32_t>> bytes;
  std::string counters;
  int64_t duration_ps = 0;
  bool operator==(const Outcome&) const = default;
};

// `shared`: input1 is output0's memory, from there or one tile further.
Outcome RunLoop(const isa::Program& program, int shared) {
  NrtClient& nrt = NrtClient::Get();
  RunningProgram run(program);
  EXPECT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  nrt.nrt_emulator_set_num_threads(4);
  const std::string names[] = {"input0", "input1", "output0", "output1", "sums"};
  for (size_t t = 0; t < std::size(names); ++t) {
    std::vector<float> values(kBytes / 4);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.01f * static_cast<float>((i * 37 + t) % 1999);
    run.Input(names[t], values);
  }
  nrt_tensor_t* slice = nullptr;
  if (shared != 0) {
    // Where it begins later it is shorter: some programs leave it, with an error.
    nrt.nrt_tensor_allocate_slice(run.tensors.at("output0"), (shared - 1) * kTile,
                                  kBytes - (shared - 1) * kTile, "input1", &slice);
    nrt.nrt_add_tensor_to_tensor_set(run.in, "input1", slice);
  }
  Outcome outcome;
  nrt.nrt_emulator_reset_counters(0);
  const NRT_STATUS status = run.Execute();
  EXPECT_TRUE(status == NRT_SUCCESS || shared == 2) << run.error();
  outcome.counters = nrt.nrt_emulator_counters(0);
  outcome.duration_ps = nrt.nrt_emulator_last_duration_ps(run.model);
  for (const char* name : {"output0", "output1", "sums"})
    outcome.bytes.push_back(run.Read<uint32_t>(name));
  if (slice != nullptr) nrt.nrt_tensor_free(&slice);
  nrt.nrt_emulator_set_num_threads(0);
  return outcome;
}

TEST(GroupLoops, AreAsIfWalked) {
  for (uint32_t seed = 0; seed < 150; ++seed) {
    const isa::Program program = RandomLoop(seed).Make();
    const int shared = static_cast<int>(seed % 3);
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
    const Outcome want = RunLoop(program, shared);
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "1", 1);
    const Outcome got = RunLoop(program, shared);
    unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
    ASSERT_EQ(got.counters, want.counters) << "seed " << seed << '\n' << isa::Disassemble(program);
    ASSERT_EQ(got.duration_ps, want.duration_ps) << "seed " << seed;
    ASSERT_TRUE(got == want) << "seed " << seed << '\n' << isa::Disassemble(program);
  }
}

// A loop of two copies: from HBM to HBM by way of a tile each, `shift` bytes apart.
uint32_t SecondCopyOf(int64_t step, int64_t shift, int64_t advance, double other_number) {
  isa::ProgramBuilder b("copies", isa::Target::kTrn2);
  const uint16_t x =
      b.AddTensor({.name = "input0", .kind = isa::TensorKind::kInput, .bytes = kBytes});
  const uint16_t y =
      b.AddTensor({.name = "output0", .kind = isa::TensorKind::kOutput, .bytes = kBytes});
  const isa::Affine counter = isa::Affine::Of(b.LoopBegin(0, 4, step, 4 - step));
  for (int copy = 0; copy < 2; ++copy) {
    const isa::Affine at = counter * kTile + isa::Affine(copy * advance);
    const AccessPattern tile = RandomLoop::Sbuf(0, copy * shift);
    const auto hbm = [&](uint16_t tensor) {
      return AccessPattern::Hbm(DType::kF32, tensor, at, kRows, kColumns, {{1, kColumns}});
    };
    b.Emit(Opcode::dma_copy, Engine::kDma, {tile, hbm(x)});
    b.Emit(Opcode::tensor_scalar, Engine::kVector,
           {tile, tile, AluOp::kAdd, copy == 0 ? 1.0 : other_number});
    b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(y), tile});
  }
  b.LoopEnd();
  const isa::Program& program = b.program();
  std::vector<Step> steps(program.instructions.size());
  for (uint32_t i = 0; i < steps.size(); ++i)
    steps[i].control = *DecodeControl(program.instructions[i], i);
  steps.front().control.match = static_cast<uint32_t>(steps.size()) - 1;
  return SecondCopy(program, steps, 0);
}

TEST(GroupLoops, AreRolledWhereTilesTakeTurns) {
  constexpr int64_t kShift = kColumns * 4;
  EXPECT_EQ(SecondCopyOf(2, kShift, kTile, 1.0), 4U);
  EXPECT_EQ(SecondCopyOf(2, 0, kTile, 1.0), 0U) << "one tile for both";
  EXPECT_EQ(SecondCopyOf(2, kShift, 2 * kTile, 1.0), 0U) << "not the iteration between";
  EXPECT_EQ(SecondCopyOf(1, kShift, kTile, 1.0), 0U) << "there is none between";
  EXPECT_EQ(SecondCopyOf(2, kShift, kTile, 2.0), 0U) << "another number";
}

}  // namespace
}  // namespace neuron::emulator
