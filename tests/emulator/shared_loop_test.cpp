// Loops around matmuls, on several host threads and walked instruction by instruction: the same
// bytes, counters and modelled time. Random bodies load, multiply, add up and store; iterations may
// be tied together on chip, in HBM, or through tensors that share memory.
#include "emulator/shared_loop.h"

#include <map>
#include <random>

#include "emulator/decoded_steps.h"
#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Affine;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;

constexpr int64_t kRows = 128, kDepth = 96, kColumns = 256, kTrips = 5;
constexpr int64_t kTile = kRows * kColumns * 4;
constexpr int64_t kBytes = (kTrips + 2) * kTile;

enum Tensor : uint16_t { kInput0, kInput1, kOutput0, kOutput1 };
enum class Tie { kNone, kSum, kRead, kBehind, kOverlap, kNeighbour, kKinds };

struct RandomLoop {
  explicit RandomLoop(uint32_t seed) : random(seed), b("loop", isa::Target::kTrn2) {
    for (const char* name : {"input0", "input1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInput, .bytes = kBytes});
    for (const char* name : {"output0", "output1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInOut, .bytes = kBytes});
  }

  isa::Program Make() {
    tie = Pick(2) == 0 ? Tie::kNone : static_cast<Tie>(Pick(static_cast<int>(Tie::kKinds)));
    const AccessPattern panel = Sbuf(kDepth, 0), bias = Sbuf(kRows, 1), held = Sbuf(kRows, 2);
    const AccessPattern stationary =
        AccessPattern::Sbuf(DType::kF32, 0, kDepth, 3 * kColumns * 4, {{1, kRows}});
    const AccessPattern sum = AccessPattern::Psum(DType::kF32, 0, kRows, 0, {{1, kColumns}});
    Copy(panel, Hbm(kInput0, 0, kDepth));
    Copy(bias, AccessPattern::Hbm(DType::kF32, kInput1, 0, kRows, 0, {{1, kColumns}}));
    Copy(held, Hbm(kInput0, 0));
    if (tie == Tie::kSum) b.Emit(Opcode::memset, Engine::kVector, {sum, 0.0});
    const Affine row = Affine::Of(b.LoopBegin(0, kTrips, 1, kTrips - 1));
    const Affine at = row * (tie == Tie::kOverlap ? kTile / 2 : kTile);
    b.Emit(Opcode::dma_transpose, Engine::kDma,
           {stationary,
            AccessPattern::Hbm(DType::kF32, kInput1, row * kTile, kRows, kColumns, {{1, kDepth}})});
    const bool inner = Pick(2) == 0;  // half of the columns at a time
    const int64_t columns = inner ? kColumns / 2 : kColumns;
    const Affine column =
        inner ? Affine::Of(b.LoopBegin(0, kColumns, columns, columns)) * 4 : Affine(0);
    const auto narrow = [&](AccessPattern tile) {
      tile.dims[0].count = columns;
      return tile;
    };
    const auto part = [&](AccessPattern tile) {  // of what all iterations see
      tile = narrow(tile);
      tile.offset = tile.offset + column;
      return tile;
    };
    for (int i = 0; i < 1 + Pick(2); ++i)
      b.Emit(Opcode::nc_matmul, Engine::kTensor,
             {narrow(sum), stationary, part(panel), int64_t{i > 0 || tie == Tie::kSum}});
    const AccessPattern value = narrow(Sbuf(kRows, 4));
    b.Emit(Opcode::tensor_copy, Engine::kVector, {value, narrow(sum)});
    b.Emit(Opcode::tensor_tensor, Engine::kVector, {value, value, part(bias), AluOp::kAdd});
    if (tie == Tie::kRead)
      b.Emit(Opcode::tensor_tensor, Engine::kVector,
             {narrow(held), narrow(held), value, AluOp::kMaximum});
    Copy(part(Hbm(kOutput0, at)), tie == Tie::kRead ? narrow(held) : value);
    if (Pick(2) == 0 || tie == Tie::kNeighbour) {
      const AccessPattern other = narrow(Sbuf(kRows, 5));
      const Affine from = tie == Tie::kNeighbour ? at + Affine(kTile) : at;
      Copy(other, part(Hbm(tie == Tie::kNeighbour ? kOutput0 : kInput1, from)));
      Copy(part(Hbm(kOutput1, at)), other);
    }
    if (inner) b.LoopEnd();
    b.LoopEnd();
    if (tie == Tie::kBehind) Copy(narrow(Hbm(kOutput1, kTrips * kTile)), value);
    auto program = std::move(b).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  }

  int Pick(int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); }
  static AccessPattern Sbuf(int64_t rows, int slot) {
    return AccessPattern::Sbuf(DType::kF32, 0, rows, slot * kColumns * 4, {{1, kColumns}});
  }
  static AccessPattern Hbm(Tensor tensor, Affine at, int64_t rows = kRows) {
    return AccessPattern::Hbm(DType::kF32, tensor, at, rows, kColumns, {{1, kColumns}});
  }
  void Copy(const AccessPattern& to, const AccessPattern& from) {
    b.Emit(Opcode::dma_copy, Engine::kDma, {to, from});
  }

  std::mt19937 random;
  isa::ProgramBuilder b;
  Tie tie = Tie::kNone;
};

// What the program alone lets threads share, and what the bindings then do.
struct Sharing {
  bool found = false, may = false;
};
Sharing SharingOf(const isa::Program& program, bool aliased) {
  static auto* machine = new Machine(*ReadMachineConfig());
  Core& core = **machine->core(0);
  std::vector<Step> steps = DecodedSteps(program, core);
  const Liveness liveness(program, steps);
  const auto loops = FindSharedLoops(program, steps, {}, liveness);
  Sharing sharing;
  std::vector<char> memory(4 * kBytes);
  std::vector<BoundTensor> bound;
  for (int t = 0; t < 4; ++t) bound.push_back({memory.data() + t * kBytes, kBytes, 0});
  if (aliased) bound[kInput1] = bound[kOutput0];
  std::vector<int64_t> registers(program.registers.size());
  Execution execution{&core, registers.data(), bound.data()};
  for (const auto& loop : loops) {
    if (loop->inner.empty() && steps[loop->begin].control.b.base != kTrips) continue;
    sharing.found = true;
    const LoopRange range{steps[loop->begin].control.reg, 0, 1, kTrips};
    sharing.may = MayShare(*loop, steps, range, execution);
  }
  return sharing;
}

struct Outcome {
  std::vector<std::vector<uint32_t>> bytes;
  std::string counters;
  int64_t duration_ps = 0;
};
Outcome RunProgram(const isa::Program& program, bool aliased) {
  NrtClient& nrt = NrtClient::Get();
  RunningProgram run(program);
  EXPECT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  nrt.nrt_emulator_set_num_threads(3);
  const std::string names[] = {"input0", "input1", "output0", "output1"};
  for (size_t t = 0; t < std::size(names); ++t) {
    std::vector<float> values(kBytes / 4);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 0.01f * static_cast<float>((i * 37 + t) % 199) - 1;
    run.Input(names[t], values);
  }
  if (aliased) nrt.nrt_add_tensor_to_tensor_set(run.in, "input1", run.tensors.at("output0"));
  Outcome outcome;
  nrt.nrt_emulator_reset_counters(0);
  EXPECT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  outcome.counters = nrt.nrt_emulator_counters(0);
  outcome.duration_ps = nrt.nrt_emulator_last_duration_ps(run.model);
  for (const char* name : {"output0", "output1"}) outcome.bytes.push_back(run.Read<uint32_t>(name));
  nrt.nrt_emulator_set_num_threads(0);
  return outcome;
}

TEST(SharedLoops, AreAsIfWalked) {
  std::map<Tie, int> shared, total;
  for (uint32_t seed = 0; seed < 160; ++seed) {
    RandomLoop random(seed);
    const isa::Program program = random.Make();
    const bool aliased = seed % 4 == 0;
    const Sharing sharing = SharingOf(program, aliased);
    if (!aliased) {
      ++total[random.tie];
      shared[random.tie] += sharing.found && sharing.may ? 1 : 0;
    }
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
    const Outcome want = RunProgram(program, aliased);
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "1", 1);
    const Outcome got = RunProgram(program, aliased);
    unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
    ASSERT_EQ(got.counters, want.counters) << "seed " << seed;
    ASSERT_EQ(got.duration_ps, want.duration_ps) << "seed " << seed;
    ASSERT_TRUE(got.bytes == want.bytes) << "seed " << seed << '\n' << isa::Disassemble(program);
  }
  // What is tied together is walked, the rest is not.
  EXPECT_EQ(shared[Tie::kNone], total[Tie::kNone]);
  for (const Tie tie : {Tie::kSum, Tie::kRead, Tie::kBehind, Tie::kOverlap, Tie::kNeighbour}) {
    EXPECT_GT(total[tie], 3);
    EXPECT_EQ(shared[tie], 0) << static_cast<int>(tie);
  }
}

// A dot's tiles in SBUF and in PSUM take turns, as far apart as suits each memory: its two copies
// are a loop of one.
TEST(SharedLoops, AreRolledWhereTilesOfBothMemoriesTakeTurns) {
  const auto dot = [](int64_t psum_turn, int second_value) {
    isa::ProgramBuilder b("copies", isa::Target::kTrn2);
    for (const char* name : {"input0", "input1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInput, .bytes = kBytes});
    for (const char* name : {"output0", "output1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInOut, .bytes = kBytes});
    const AccessPattern panel = RandomLoop::Sbuf(kDepth, 0);
    b.Emit(Opcode::dma_copy, Engine::kDma, {panel, RandomLoop::Hbm(kInput0, 0, kDepth)});
    const Affine row = Affine::Of(b.LoopBegin(0, 4, 2, 2));
    for (int64_t copy = 0; copy < 2; ++copy) {
      const Affine at = (row + Affine(copy)) * kTile;
      const auto stationary =
          AccessPattern::Sbuf(DType::kF32, 0, kDepth, (1 + 3 * copy) * kColumns * 4, {{1, kRows}});
      const AccessPattern value = RandomLoop::Sbuf(kRows, copy == 0 ? 2 : second_value);
      const AccessPattern sum =
          AccessPattern::Psum(DType::kF32, 0, kRows, copy * psum_turn, {{1, kColumns}});
      b.Emit(Opcode::dma_transpose, Engine::kDma,
             {stationary,
              AccessPattern::Hbm(DType::kF32, kInput1, at, kRows, kColumns, {{1, kDepth}})});
      b.Emit(Opcode::nc_matmul, Engine::kTensor, {sum, stationary, panel, int64_t{0}});
      b.Emit(Opcode::tensor_copy, Engine::kVector, {value, sum});
      b.Emit(Opcode::dma_copy, Engine::kDma, {RandomLoop::Hbm(kOutput0, at), value});
    }
    b.LoopEnd();
    auto program = std::move(b).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  };
  static auto* machine = new Machine(*ReadMachineConfig());
  Core& core = **machine->core(0);
  for (const auto& [psum_turn, second_value] : {std::pair{2048, 5}, {0, 5}, {2048, 6}}) {
    const isa::Program program = dot(psum_turn, second_value);
    std::vector<Step> steps = DecodedSteps(program, core);
    const auto loops = FindSharedLoops(program, steps, {}, Liveness(program, steps));
    ASSERT_EQ(loops.size(), 1U);
    EXPECT_EQ(loops[0]->copies, second_value == 5 ? 2 : 1);  // 6: not as far as its neighbour
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
    const Outcome want = RunProgram(program, false);
    unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
    const Outcome got = RunProgram(program, false);
    EXPECT_EQ(got.counters, want.counters);
    EXPECT_EQ(got.duration_ps, want.duration_ps);
    EXPECT_TRUE(got.bytes == want.bytes);
  }
}

// Each iteration stores some columns of all rows, as a weight gradient does, in another order.
TEST(SharedLoops, MayWriteSideBySideInAnyOrder) {
  constexpr int64_t kFew = 24, kTaps = 3;
  const auto program = [](int64_t columns) {  // that an iteration writes, of those it is given
    isa::ProgramBuilder b("side", isa::Target::kTrn2);
    for (const char* name : {"input0", "input1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInput, .bytes = kBytes});
    for (const char* name : {"output0", "output1"})
      b.AddTensor({.name = name, .kind = isa::TensorKind::kInOut, .bytes = kBytes});
    const Affine at = Affine::Of(b.LoopBegin(0, kTrips, 1, kTrips - 1)) * (kFew * kTaps * 4);
    const auto tile = AccessPattern::Sbuf(DType::kF32, 0, kRows, 0, {{1, kTaps}, {kTaps, columns}});
    const auto dense = AccessPattern::Sbuf(DType::kF32, 0, kRows, 2048, {{1, kTaps * columns}});
    const auto hbm = [&](uint16_t tensor) {
      return AccessPattern::Hbm(DType::kF32, tensor, at, kRows, kTrips * kFew * kTaps,
                                {{1, kTaps}, {kTaps, columns}});
    };
    b.Emit(Opcode::dma_copy, Engine::kDma, {tile, hbm(kInput0)});
    b.Emit(Opcode::dma_transpose, Engine::kDma,
           {AccessPattern::Sbuf(DType::kF32, 0, kDepth, 4096, {{1, kRows}}),
            AccessPattern::Hbm(DType::kF32, kInput1, 0, kRows, kColumns, {{1, kDepth}})});
    b.Emit(Opcode::tensor_copy, Engine::kVector, {dense, tile});
    b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(kOutput0), dense});
    b.LoopEnd();
    auto built = std::move(b).Build();
    EXPECT_TRUE(built.ok()) << built.status().ToString();
    return *built;
  };
  for (const int64_t columns : {kFew, kFew - 1, kFew + 1}) {
    const isa::Program loop = program(columns);
    const Sharing sharing = SharingOf(loop, false);
    EXPECT_TRUE(sharing.found);
    EXPECT_EQ(sharing.may, columns <= kFew);
    setenv("TORCHNEURON_INSTRUCTION_GROUPS", "0", 1);
    const Outcome want = RunProgram(loop, false);
    unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
    EXPECT_TRUE(RunProgram(loop, false).bytes == want.bytes) << columns;
  }
}

// An iteration out of bounds is the walked loop's to report.
TEST(SharedLoops, LeaveErrorsToTheWalk) {
  isa::ProgramBuilder b("far", isa::Target::kTrn2);
  const isa::Register offset = b.AddRegister({.min = 0, .max = kBytes, .scalar_slot = 0});
  const uint16_t in = b.AddTensor({.name = "input0",
                                   .kind = isa::TensorKind::kInput,
                                   .bytes = kTrips * kTile,
                                   .byte_offset = offset});
  const uint16_t out =
      b.AddTensor({.name = "output0", .kind = isa::TensorKind::kInOut, .bytes = kBytes});
  const AccessPattern tile = RandomLoop::Sbuf(kRows, 0), other = RandomLoop::Sbuf(kRows, 1);
  const auto hbm = [](uint16_t tensor, const Affine& at) {
    return AccessPattern::Hbm(DType::kF32, tensor, at, kRows, kColumns, {{1, kColumns}});
  };
  b.AddTensor({.name = "scalars", .kind = isa::TensorKind::kScalars, .bytes = 8});
  const Affine row = Affine::Of(b.LoopBegin(0, kTrips, 1, kTrips - 1));
  b.Emit(Opcode::dma_copy, Engine::kDma, {tile, hbm(in, row * kTile)});
  b.Emit(Opcode::dma_transpose, Engine::kDma,
         {AccessPattern::Sbuf(DType::kF32, 0, 128, 2 * kColumns * 4, {{1, kRows}}),
          AccessPattern::Hbm(DType::kF32, in, row * kTile, kRows, kColumns, {{1, 128}})});
  b.Emit(Opcode::tensor_copy, Engine::kVector, {other, tile});
  b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(out, row * kTile), other});
  b.LoopEnd();
  auto program = std::move(b).Build();
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  RunningProgram run(*program);
  ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  NrtClient::Get().nrt_emulator_set_num_threads(3);
  run.Input("input0", std::vector<float>(kTrips * kTile / 4, 2.0f));
  run.Input("output0", std::vector<float>(kBytes / 4, 0.0f));
  run.Input("scalars", std::vector<int64_t>{kTile});
  EXPECT_EQ(run.Execute(), NRT_EXEC_OOB);
  EXPECT_NE(run.error().find("reaches bytes"), std::string::npos) << run.error();
  run.Input("scalars", std::vector<int64_t>{0});
  EXPECT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  EXPECT_EQ(run.Read<float>("output0")[0], 2.0f);
  NrtClient::Get().nrt_emulator_set_num_threads(0);
}

}  // namespace
}  // namespace neuron::emulator
