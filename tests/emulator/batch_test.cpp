// A dot of many tiles in batches, with one host thread and with several, and instruction by
// instruction: the same bytes, the same counts, the same modelled time.
#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Engine;
using isa::Opcode;
using isa::TensorKind;

constexpr int64_t kM = 128, kN = 512, kTiles = 6, kK = 128;

// out[M, N] = a[M, K]^T-loaded x b[K, N], K in tiles.
isa::Program Dot(DType dtype) {
  const int64_t bytes = dtype == DType::kF32 ? 4 : 2;
  isa::ProgramBuilder b("dot", isa::Target::kTrn2);
  const auto in = [&](const char* name, int64_t elements) {
    return b.AddTensor({.name = name, .kind = TensorKind::kInput, .bytes = elements * bytes});
  };
  const uint16_t a = in("a", kM * kTiles * kK), moving = in("b", kTiles * kK * kN);
  const uint16_t out =
      b.AddTensor({.name = "out", .kind = TensorKind::kOutput, .bytes = kM * kN * 4});
  const auto sbuf = [&](int64_t slot, int64_t base, int64_t n) {
    return AccessPattern::Sbuf(dtype, 0, kK, base + slot * n * bytes, {{1, n}});
  };
  const int64_t base_b = kTiles * kM * bytes, base_out = base_b + kTiles * kN * bytes;
  for (int64_t t = 0; t < kTiles; ++t)
    b.Emit(
        Opcode::dma_transpose, Engine::kDma,
        {sbuf(t, 0, kM), AccessPattern::Hbm(dtype, a, t * kK * bytes, kM, kTiles * kK, {{1, kK}})});
  for (int64_t t = 0; t < kTiles; ++t)
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {sbuf(t, base_b, kN),
            AccessPattern::Hbm(dtype, moving, t * kK * kN * bytes, kK, kN, {{1, kN}})});
  const auto sum = AccessPattern::Psum(DType::kF32, 0, kM, 0, {{1, kN}});
  for (int64_t t = 0; t < kTiles; ++t)
    b.Emit(Opcode::nc_matmul, Engine::kTensor,
           {sum, sbuf(t, 0, kM), sbuf(t, base_b, kN), int64_t{t > 0}});
  const auto copy = AccessPattern::Sbuf(DType::kF32, 0, kM, base_out, {{1, kN}});
  b.Emit(Opcode::tensor_copy, Engine::kVector, {copy, sum});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(DType::kF32, out, 0, kM, kN, {{1, kN}}), copy});
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

TEST(Batches, ComputeTheSameBitsAsInstructionsOneByOne) {
  NrtClient& nrt = NrtClient::Get();
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    const isa::Program program = Dot(dtype);
    const auto run = [&](const char* groups, int threads) {
      setenv("TORCHNEURON_INSTRUCTION_GROUPS", groups, 1);
      RunningProgram running(program);
      unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
      EXPECT_EQ(running.load_status, NRT_SUCCESS) << running.error();
      nrt.nrt_emulator_set_num_threads(threads);
      const auto fill = [&](const char* name, int64_t elements) {
        if (dtype == DType::kF32) {
          std::vector<float> values(elements);
          for (int64_t i = 0; i < elements; ++i) values[i] = 0.01f * static_cast<float>(i % 199);
          running.Input(name, values);
        } else {
          std::vector<uint16_t> values(elements);
          for (int64_t i = 0; i < elements; ++i)
            values[i] = static_cast<uint16_t>(0x3f00 + i * 7 % 127);
          running.Input(name, values);
        }
      };
      fill("a", kM * kTiles * kK);
      fill("b", kTiles * kK * kN);
      running.Output("out", kM * kN * 4);
      EXPECT_EQ(running.Execute(), NRT_SUCCESS) << running.error();
      nrt.nrt_emulator_set_num_threads(0);
      return running.Read<uint32_t>("out");
    };
    const auto want = run("0", 1);
    EXPECT_EQ(run("1", 1), want);
    EXPECT_EQ(run("1", 4), want);
  }
}

}  // namespace
}  // namespace neuron::emulator
