// Which writes on chip are read later: stated cases, and random programs whose reads are counted
// while they are walked.
#include "emulator/liveness.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "emulator/decoded_steps.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Affine;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;

AccessPattern Sbuf(int64_t partitions, int64_t address, int64_t elements) {
  return AccessPattern::Sbuf(DType::kF32, 0, partitions, address, {{1, elements}});
}

struct Lines {
  isa::ProgramBuilder b{"lines", isa::Target::kTrn2};
  uint16_t hbm = b.AddTensor({.name = "input0", .kind = isa::TensorKind::kInOut, .bytes = 1 << 20});

  void Write(const AccessPattern& to) { b.Emit(Opcode::memset, Engine::kVector, {to, 1.0}); }
  void Read(const AccessPattern& from) {
    const int64_t partitions = from.partitions.max;
    AccessPattern to = AccessPattern::Hbm(DType::kF32, hbm, 0, partitions, 256, {});
    to.num_dims = from.num_dims;
    int64_t step = 1;
    for (int d = from.num_dims; d-- > 0; step *= from.dims[static_cast<size_t>(d)].count.max)
      to.dims[static_cast<size_t>(d)] = {step, from.dims[static_cast<size_t>(d)].count};
    b.Emit(Opcode::dma_copy, Engine::kDma, {to, from});
  }
};

struct Analysis {
  explicit Analysis(isa::ProgramBuilder b) : program(*std::move(b).Build()) {
    steps = DecodedSteps(program, Core());
    liveness.emplace(program, steps);
  }
  static emulator::Core& Core() {
    static auto* machine = new Machine(*ReadMachineConfig());
    static emulator::Core* core = *machine->core(0);
    return *core;
  }
  // Whether what instruction `i` writes may be read after it.
  bool IsRead(uint32_t i) const { return liveness->ReadFrom(i + 1, steps[i].operation.tiles[0]); }

  const isa::Program program;
  std::vector<Step> steps;
  std::optional<Liveness> liveness;
};

TEST(Liveness, EndsWhereATileIsOverwrittenWhole) {
  Lines lines;
  lines.Write(Sbuf(64, 0, 16));  // 0
  lines.Read(Sbuf(64, 0, 16));
  lines.Write(Sbuf(64, 0, 16));   // 2: overwritten in two pieces
  lines.Write(Sbuf(64, 0, 8));    // 3
  lines.Write(Sbuf(64, 32, 24));  // 4
  lines.Read(Sbuf(64, 0, 32));
  lines.Write(Sbuf(64, 0, 16));  // 6: nobody
  const Analysis a(std::move(lines.b));
  EXPECT_TRUE(a.IsRead(0));
  EXPECT_FALSE(a.IsRead(2));
  EXPECT_TRUE(a.IsRead(3));
  EXPECT_TRUE(a.IsRead(4));
  EXPECT_FALSE(a.IsRead(6));
}

TEST(Liveness, GoesOnWhereOnlyAPartIsOverwritten) {
  Lines lines;
  lines.Write(Sbuf(64, 0, 16));                                                 // 0
  lines.Write(Sbuf(63, 0, 16));                                                 // all rows but one
  lines.Write(AccessPattern::Sbuf(DType::kF32, 0, 64, 0, {{2, 8}}));            // every other one
  lines.Write(AccessPattern::Sbuf(DType::kF32, 0, 64, 0, {{32, 2}, {1, 16}}));  // with a gap
  lines.Read(Sbuf(64, 0, 16));
  const Analysis a(std::move(lines.b));
  for (uint32_t i = 0; i < 4; ++i) EXPECT_TRUE(a.IsRead(i)) << i;
}

TEST(Liveness, SeesTheReaderThroughAnyPattern) {
  Lines lines;
  lines.Write(Sbuf(64, 0, 32));                                                // 0: a panel
  lines.Read(Sbuf(64, 64, 8));                                                 // a piece of it
  lines.Write(Sbuf(64, 128, 4));                                               // 2
  lines.Read(AccessPattern::Sbuf(DType::kF32, 0, 64, 128, {{1, 4}, {0, 8}}));  // spread
  lines.Write(Sbuf(64, 0, 64));                                                // 4: nobody
  const Analysis a(std::move(lines.b));
  EXPECT_TRUE(a.IsRead(0));
  EXPECT_TRUE(a.IsRead(2));
  EXPECT_FALSE(a.IsRead(4));
}

TEST(Liveness, FollowsLoops) {
  Lines lines;
  lines.Write(Sbuf(64, 0, 16));    // 0: read in the loop
  lines.Write(Sbuf(64, 64, 16));   // 1: by the first iteration only
  lines.Write(Sbuf(64, 128, 16));  // 2: overwritten in the loop, which runs
  lines.b.LoopBegin(0, 4, 1, 3);   // 3
  lines.Read(Sbuf(64, 64, 16));
  lines.Read(Sbuf(64, 0, 16));
  lines.Write(Sbuf(64, 64, 16));   // 6: read by the next iteration
  lines.Write(Sbuf(64, 128, 16));  // 7: read behind the loop
  lines.Write(Sbuf(64, 192, 16));  // 8: nobody
  lines.b.LoopEnd();
  lines.Read(Sbuf(64, 128, 16));
  const Analysis a(std::move(lines.b));
  for (const uint32_t i : {0, 1, 6, 7}) EXPECT_TRUE(a.IsRead(i)) << i;
  for (const uint32_t i : {2, 8}) EXPECT_FALSE(a.IsRead(i)) << i;
}

TEST(Liveness, CountsWithLoopsThatMayNotRun) {
  Lines lines;
  const isa::Register end = lines.b.AddRegister({.min = 0, .max = 4, .scalar_slot = 0});
  lines.b.AddTensor({.name = "scalars", .kind = isa::TensorKind::kScalars, .bytes = 8});
  lines.Write(Sbuf(64, 0, 16));
  lines.b.LoopBegin(0, Affine::Of(end), 1, 3);
  lines.Write(Sbuf(64, 0, 16));
  lines.b.LoopEnd();
  lines.Read(Sbuf(64, 0, 16));
  EXPECT_TRUE(Analysis(std::move(lines.b)).IsRead(0));
}

TEST(Liveness, KnowsWhichMatmulReadsItsSum) {
  for (const int64_t accumulate : {0, 1}) {
    Lines lines;
    const AccessPattern sum = AccessPattern::Psum(DType::kF32, 0, 64, 0, {{1, 64}});
    lines.Write(Sbuf(64, 0, 64));
    lines.Write(sum);  // 1
    lines.b.Emit(Opcode::nc_matmul, Engine::kTensor,
                 {sum, Sbuf(64, 0, 64), Sbuf(64, 0, 64), accumulate});
    lines.b.Emit(Opcode::tensor_copy, Engine::kVector, {Sbuf(64, 1024, 64), sum});
    const Analysis a(std::move(lines.b));
    EXPECT_EQ(a.IsRead(1), accumulate == 1);
    EXPECT_TRUE(a.IsRead(0));
  }
}

// Every read that happens is known, and of the writes that nobody reads most are known, too.
TEST(Liveness, MissesNoReadOfARandomProgram) {
  int dead = 0;
  int known_dead = 0;
  for (uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto pick = [&](int n) { return static_cast<int>(random() % static_cast<uint32_t>(n)); };
    Lines lines;
    int open = 0;
    const auto tile = [&] { return Sbuf(1 + pick(3), 4 * pick(6), 1 + pick(4)); };
    for (int i = 0; i < 24; ++i) {
      if (pick(6) == 0 && open < 2) {
        lines.b.LoopBegin(0, 2, 1, 1);
        ++open;
      } else if (pick(5) == 0 && open > 0) {
        lines.b.LoopEnd();
        --open;
      } else if (pick(2) == 0) {
        lines.Write(tile());
      } else {
        lines.Read(tile());
      }
    }
    for (; open > 0; --open) lines.b.LoopEnd();
    const Analysis a(std::move(lines.b));
    std::map<std::pair<int64_t, int64_t>, uint32_t> writer;  // by partition and word
    std::set<uint32_t> written, read;
    const std::function<void(uint32_t, uint32_t)> walk = [&](uint32_t first, uint32_t last) {
      for (uint32_t i = first; i < last; ++i) {
        if (a.steps[i].control.kind == StepControl::Kind::kLoopBegin) {
          const uint32_t match = a.steps[i].control.match;
          for (int round = 0; round < 2; ++round) walk(i + 1, match);
          i = match;
          continue;
        }
        for (const TileRef& t : a.steps[i].operation.tiles) {
          if (t.hbm) continue;
          if (t.written) written.insert(i);
          for (int64_t p = 0; p < t.pattern->partitions.max; ++p)
            for (int64_t e = 0; e < t.pattern->dims[0].count.max; ++e) {
              const std::pair<int64_t, int64_t> at{p, t.pattern->offset.base / 4 + e};
              if (t.written)
                writer[at] = i;
              else if (writer.contains(at))
                read.insert(writer[at]);
            }
        }
      }
    };
    walk(0, static_cast<uint32_t>(a.steps.size()));
    for (const uint32_t i : written) {
      if (read.contains(i)) {
        ASSERT_TRUE(a.IsRead(i)) << "seed " << seed << ", instruction " << i;
      } else {
        ++dead;
        known_dead += a.IsRead(i) ? 0 : 1;
      }
    }
  }
  EXPECT_GT(known_dead, dead * 9 / 10);
}

}  // namespace
}  // namespace neuron::emulator
