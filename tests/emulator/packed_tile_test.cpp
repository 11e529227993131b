// Tiles that only matmuls read, packed by their DMA, against instruction by instruction: the same
// bytes, counters and modelled time. Random dots with operands of odd sizes, dense along K or along
// their columns; something else may read, write or move the tiles.
#include "emulator/packed_tile.h"

#include <map>
#include <random>

#include "emulator/decoded_steps.h"
#include "emulator/nrt_client.h"
#include "emulator/strided_copy.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Affine;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;

constexpr int64_t kBytes = 1 << 20, kOutBytes = 2 << 20;
constexpr int64_t kTrips = 3;
enum Tensor : uint16_t { kA, kB, kOut };
// What happens to the moving tile of the last part of K, beside being multiplied.
enum class Twist {
  kNone,
  kLoadedAgain,    // for a second dot: both loads are packed
  kColumnsOnly,    // a matmul reads a part of it that begins a block
  kInNestedLoop,   // a matmul reads it again and again
  kSourceWritten,  // between the load and the matmul
  kMisaligned,     // ... that begins none
  kFewerRows,      // a matmul reads some of its partitions
  kOverwritten,    // partly, between two matmuls
  kVectorReads,    // an instruction that is no matmul reads it
  kBothRoles,      // it is a stationary operand, too
  kBefore,         // an iteration reads what the one before it loaded
  kKinds
};

struct RandomDot {
  explicit RandomDot(uint32_t seed) : random(seed), b("dot", isa::Target::kTrn2) {
    b.AddTensor({.name = "a", .kind = isa::TensorKind::kInput, .bytes = kBytes});
    b.AddTensor({.name = "b", .kind = isa::TensorKind::kInput, .bytes = kBytes});
    b.AddTensor({.name = "out", .kind = isa::TensorKind::kInOut, .bytes = kOutBytes});
  }

  isa::Program Make() {
    dtype = Pick(2) == 0 ? DType::kF32 : DType::kBF16;
    bytes = dtype == DType::kF32 ? 4 : 2;
    twist = static_cast<Twist>(Pick(static_cast<int>(Twist::kKinds)));
    const int sizes[] = {1, 2, 7, 16, 33, 64, 100, 127, 128};
    k = std::max(2, sizes[Pick(9)]);
    m = sizes[Pick(9)];
    n = twist == Twist::kNone ? 1 + Pick(512) : 65 + Pick(400);
    const int64_t parts = 1 + Pick(6);
    const bool loop = Pick(2) == 0 || twist == Twist::kBefore;
    const AccessPattern other = Tile(parts, 1, n);  // of moving tiles, the next
    if (twist == Twist::kBefore) Load(Moving(parts - 1), kB, parts - 1, n, 0);
    const Affine at = loop ? Affine::Of(b.LoopBegin(0, kTrips, 1, kTrips - 1)) * 4096 : Affine(0);
    for (int64_t p = 0; p < parts; ++p) {
      Load(Tile(p, 0, m), kA, p, m, at);
      if (twist != Twist::kBefore || p + 1 < parts) Load(Moving(p), kB, p, n, at);
    }
    for (int64_t p = 0; p < parts; ++p) Multiply(Tile(p, 0, m), Moving(p), p > 0);
    Store(at * 64, 0);
    const AccessPattern last = Moving(parts - 1);
    switch (twist) {
      case Twist::kLoadedAgain:
        Load(last, kB, parts, n, at);
        Multiply(Tile(0, 0, m), last, false);
        break;
      case Twist::kColumnsOnly:
        Multiply(Tile(0, 0, m), Columns(last, 32, n - 32), true);
        break;
      case Twist::kMisaligned:
        Multiply(Tile(0, 0, m), Columns(last, 8, n - 8), true);
        break;
      case Twist::kFewerRows:
        Multiply(Rows(Tile(parts, 2, m), k - 1, kA), Rows(last, k - 1), true);
        break;
      case Twist::kOverwritten:
        b.Emit(Opcode::memset, Engine::kVector, {Columns(last, 32, 8), 0.5});
        Multiply(Tile(0, 0, m), last, true);
        break;
      case Twist::kVectorReads:
        b.Emit(Opcode::tensor_tensor, Engine::kVector, {other, last, last, AluOp::kAdd});
        Multiply(Tile(0, 0, m), other, true);
        break;
      case Twist::kBothRoles:
        Multiply(Columns(last, 0, std::min<int64_t>(n, m)), last, true);
        break;
      case Twist::kBefore:
        Load(last, kB, parts, n, at);
        break;
      case Twist::kInNestedLoop:
        b.LoopBegin(0, 2, 1, 1);
        Multiply(Tile(0, 0, m), last, true);
        b.LoopEnd();
        break;
      case Twist::kSourceWritten:
        Load(last, kB, parts, n, at);
        b.Emit(Opcode::memset, Engine::kVector, {other, 0.5});
        b.Emit(Opcode::dma_copy, Engine::kDma,
               {AccessPattern::Hbm(dtype, kB, at + Affine(parts * 512), k, n, {{1, n}}), other});
        Multiply(Tile(0, 0, m), last, false);
        break;
      default:
        break;
    }
    Store(at * 64, kOutBytes / 2);
    if (loop) b.LoopEnd();
    auto program = std::move(b).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  }

  int Pick(int count) { return static_cast<int>(random() % static_cast<uint32_t>(count)); }
  AccessPattern Tile(int64_t slot, int64_t area, int64_t columns) const {
    return AccessPattern::Sbuf(dtype, 0, k, area * 40960 + slot * 2048, {{1, columns}});
  }
  AccessPattern Moving(int64_t slot) const { return Tile(slot, 1, n); }
  AccessPattern Columns(AccessPattern tile, int64_t first, int64_t count) const {
    tile.offset = tile.offset + Affine(first * bytes);
    tile.dims[0].count = count;
    return tile;
  }
  AccessPattern Rows(AccessPattern tile, int64_t rows) const {
    tile.partitions = rows;
    return tile;
  }
  // Loaded for its own sake.
  AccessPattern Rows(const AccessPattern& tile, int64_t rows, Tensor from) {
    Load(tile, from, 0, tile.dims[0].count.max, 0);
    return Rows(tile, rows);
  }

  // From rows of columns or from rows of K, with a gap between them.
  void Load(const AccessPattern& tile, Tensor from, int64_t part, int64_t columns, Affine at) {
    at = at + Affine(part * 512);
    if (Pick(2) == 0) {
      const int64_t pitch = columns + Pick(3);
      b.Emit(Opcode::dma_copy, Engine::kDma,
             {tile, AccessPattern::Hbm(dtype, from, at, k, pitch, {{1, columns}})});
    } else {
      const int64_t pitch = k + Pick(3);
      b.Emit(Opcode::dma_transpose, Engine::kDma,
             {tile, AccessPattern::Hbm(dtype, from, at, columns, pitch, {{1, k}})});
    }
  }
  void Multiply(const AccessPattern& stationary, const AccessPattern& moving, bool accumulate) {
    const int64_t rows = stationary.dims[0].count.max, columns = moving.dims[0].count.max;
    b.Emit(Opcode::nc_matmul, Engine::kTensor,
           {AccessPattern::Psum(DType::kF32, 0, rows, 0, {{1, columns}}), stationary, moving,
            int64_t{accumulate}});
  }
  void Store(const Affine& at, int64_t offset) {
    const auto sum = AccessPattern::Psum(DType::kF32, 0, m, 0, {{1, n}});
    const auto copy = AccessPattern::Sbuf(DType::kF32, 0, m, 150000 / 64 * 64, {{1, n}});
    b.Emit(Opcode::tensor_copy, Engine::kVector, {copy, sum});
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {AccessPattern::Hbm(DType::kF32, kOut, at + Affine(offset), m, n, {{1, n}}), copy});
  }

  std::mt19937 random;
  isa::ProgramBuilder b;
  DType dtype{};
  Twist twist{};
  int64_t bytes = 0, k = 0, m = 0, n = 0;
};

struct Loads {
  int all = 0, packed = 0, late = 0;
};
Loads CountLoads(const isa::Program& program) {
  static auto* machine = new Machine(*ReadMachineConfig());
  Core& core = **machine->core(0);
  std::vector<Step> steps = DecodedSteps(program, core);
  const Liveness liveness(program, steps);
  Loads loads;
  loads.late = PackTiles(program, core, steps, {}, {}, liveness);
  for (const Step& step : steps) {
    if (MovementOf(step.operation) == nullptr || step.operation.tiles[0].hbm) continue;
    if (!step.operation.tiles[1].hbm) continue;
    ++loads.all;
    loads.packed += step.operation.tiles[0].packed ? 1 : 0;
  }
  return loads;
}

struct Outcome {
  std::vector<uint32_t> bytes;
  std::string counters;
  int64_t duration_ps = 0;
};
Outcome RunProgram(const isa::Program& program, DType dtype, const char* groups, int threads) {
  NrtClient& nrt = NrtClient::Get();
  setenv("TORCHNEURON_INSTRUCTION_GROUPS", groups, 1);
  RunningProgram run(program);
  unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
  EXPECT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  nrt.nrt_emulator_set_num_threads(threads);
  for (const char* name : {"a", "b", "out"}) {
    const int64_t size = name[0] == 'o' ? kOutBytes : kBytes;
    if (dtype == DType::kF32) {
      std::vector<float> values(size / 4);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = 0.01f * static_cast<float>((i * 37 + name[0]) % 199) - 1;
      run.Input(name, values);
    } else {
      std::vector<uint16_t> values(size / 2);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<uint16_t>(0x3f00 + (i * 7 + name[0]) % 127);
      run.Input(name, values);
    }
  }
  Outcome outcome;
  nrt.nrt_emulator_reset_counters(0);
  for (int repeat = 0; repeat < 2; ++repeat) EXPECT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  outcome.counters = nrt.nrt_emulator_counters(0);
  outcome.duration_ps = nrt.nrt_emulator_last_duration_ps(run.model);
  outcome.bytes = run.Read<uint32_t>("out");
  nrt.nrt_emulator_set_num_threads(0);
  return outcome;
}

TEST(PackedTiles, ComputeTheSameBitsAsInstructionsOneByOne) {
  std::map<Twist, int> kept;  // loads that were not packed
  std::map<Twist, int> seen;
  int late = 0;
  for (uint32_t seed = 0; seed < 250; ++seed) {
    RandomDot dot(seed);
    const isa::Program program = dot.Make();
    const Outcome want = RunProgram(program, dot.dtype, "0", 1);
    for (const int threads : {1, 3}) {
      const Outcome got = RunProgram(program, dot.dtype, "1", threads);
      ASSERT_EQ(got.counters, want.counters) << "seed " << seed;
      ASSERT_EQ(got.duration_ps, want.duration_ps) << "seed " << seed;
      ASSERT_TRUE(got.bytes == want.bytes) << "seed " << seed << '\n' << isa::Disassemble(program);
    }
    const bool possible =
        dot.dtype == DType::kF32 ? Kernels().dot_f32 != nullptr : Kernels().dot_bf16 != nullptr;
    const Loads loads = CountLoads(program);
    if (!possible) {
      EXPECT_EQ(loads.packed, 0);
      continue;
    }
    ++seen[dot.twist];
    kept[dot.twist] += loads.all - loads.packed;
    late += loads.late;
  }
  for (const auto& [twist, count] : seen) {
    EXPECT_GT(count, 5);
    const bool all = twist <= Twist::kSourceWritten;
    if (all) {
      EXPECT_EQ(kept[twist], 0) << static_cast<int>(twist);
    } else {
      EXPECT_GE(kept[twist], count) << static_cast<int>(twist);
    }
  }
  EXPECT_TRUE(seen.empty() || late > 100) << late;
}

// Which memory a program's tensors have is known when it runs.
TEST(PackedTiles, AreNotLateWhereAnotherTensorHasTheMemoryOfTheirSource) {
  constexpr int64_t kRows = 64, kColumns = 96, kSize = kRows * kColumns;
  const auto sbuf = [](int64_t at, int64_t partitions, int64_t columns) {
    return AccessPattern::Sbuf(DType::kF32, 0, partitions, at, {{1, columns}});
  };
  isa::ProgramBuilder b("late", isa::Target::kTrn2);
  const uint16_t in =
      b.AddTensor({.name = "in", .kind = isa::TensorKind::kInput, .bytes = kSize * 4});
  const uint16_t out =
      b.AddTensor({.name = "out", .kind = isa::TensorKind::kInOut, .bytes = kSize * 4});
  const uint16_t sums =
      b.AddTensor({.name = "sums", .kind = isa::TensorKind::kInOut, .bytes = kColumns * 4});
  b.Emit(Opcode::memset, Engine::kVector, {sbuf(0, kRows, 1), 1.0});
  b.Emit(Opcode::dma_transpose, Engine::kDma,
         {sbuf(1024, kRows, kColumns),
          AccessPattern::Hbm(DType::kF32, in, 0, kColumns, kRows, {{1, kRows}})});
  b.Emit(Opcode::memset, Engine::kVector, {sbuf(4096, kRows, kColumns), 7.0});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(DType::kF32, out, 0, kRows, kColumns, {{1, kColumns}}),
          sbuf(4096, kRows, kColumns)});
  b.Emit(Opcode::nc_matmul, Engine::kTensor,
         {AccessPattern::Psum(DType::kF32, 0, 1, 0, {{1, kColumns}}), sbuf(0, kRows, 1),
          sbuf(1024, kRows, kColumns), int64_t{0}});
  b.Emit(Opcode::tensor_copy, Engine::kVector,
         {sbuf(8192, 1, kColumns), AccessPattern::Psum(DType::kF32, 0, 1, 0, {{1, kColumns}})});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(DType::kF32, sums, 0, 1, kColumns, {{1, kColumns}}),
          sbuf(8192, 1, kColumns)});
  auto program = std::move(b).Build();
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  EXPECT_EQ(CountLoads(*program).late, Kernels().dot_f32 != nullptr ? 1 : 0);
  for (const bool shared : {false, true}) {
    RunningProgram run(*program);
    ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
    run.Input("in", std::vector<float>(kSize, 0.5f));
    run.Input("out", std::vector<float>(kSize, 0.0f));
    run.Input("sums", std::vector<float>(kColumns, 0.0f));
    if (shared) NrtClient::Get().nrt_add_tensor_to_tensor_set(run.in, "out", run.tensors.at("in"));
    ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
    EXPECT_EQ(run.Read<float>("sums"), std::vector<float>(kColumns, 0.5f * kRows));
    EXPECT_EQ(run.Read<float>(shared ? "in" : "out"), std::vector<float>(kSize, 7.0f));
  }
}

}  // namespace
}  // namespace neuron::emulator
