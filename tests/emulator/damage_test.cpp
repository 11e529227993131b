// Damaged programs whose checksum is right again: nrt_load refuses them, or they run (or fail) as
// the programs they have become. Nothing crashes, and a good program still runs afterwards.
#include <random>

#include "emulator/nrt_client.h"
#include "fuzz.h"
#include "isa/container.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Affine;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;
using isa::TensorKind;

// A loop, a gather by index, a matmul, an activation with reduction, an iota.
isa::Program Varied() {
  isa::ProgramBuilder b("varied", isa::Target::kTrn2);
  const uint16_t x =
      b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 128 * 64 * 4});
  const uint16_t rows = b.AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = 8 * 4});
  const uint16_t y =
      b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = 128 * 64 * 4});
  const auto sbuf = [](int64_t at, int64_t partitions, int64_t elements) {
    return AccessPattern::Sbuf(DType::kF32, 0, partitions, at, {{1, elements}});
  };
  const auto hbm = [](uint16_t tensor, int64_t n, int64_t step) {
    return AccessPattern::Hbm(DType::kF32, tensor, 0, n, step, {{1, 64}});
  };
  b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf(0, 128, 64), hbm(x, 128, 64)});
  AccessPattern index = sbuf(512, 8, 1);
  index.dtype = DType::kS32;
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {index, AccessPattern::Hbm(DType::kS32, rows, 0, 8, 1, {{1, 1}})});
  b.LoopBegin(0, 3, 1, 2);
  b.Emit(Opcode::tensor_scalar, Engine::kVector,
         {sbuf(0, 128, 64), sbuf(0, 128, 64), AluOp::kMultiply, 0.5, int64_t{0}, AluOp::kAdd,
          sbuf(0, 128, 1)});
  b.LoopEnd();
  b.Emit(Opcode::nc_matmul, Engine::kTensor,
         {AccessPattern::Psum(DType::kF32, 0, 64, 0, {{1, 64}}), sbuf(0, 128, 64), sbuf(0, 128, 64),
          int64_t{0}});
  b.Emit(Opcode::activation_reduce, Engine::kScalar,
         {sbuf(1024, 128, 64), isa::ActivationFunction::kTanh, sbuf(0, 128, 64), AluOp::kAdd,
          sbuf(768, 128, 1)});
  b.Emit(
      Opcode::dma_copy, Engine::kDma,
      {sbuf(2048, 8, 64), hbm(x, 8, 0), index, int64_t{0}, int64_t{64}, Affine(128), int64_t{1}});
  b.Emit(Opcode::iota, Engine::kGpSimd,
         {sbuf(4096, 128, 64), std::vector<int64_t>{2, 8, 1, 8}, Affine(3), int64_t{5}});
  b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(y, 128, 64), sbuf(1024, 128, 64)});
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

TEST(Damage, NeverCrashesTheProcess) {
  RunningProgram good(Varied());
  ASSERT_EQ(good.load_status, NRT_SUCCESS) << good.error();
  const auto give_inputs = [&] {
    good.Input<float>("input0", std::vector<float>(128 * 64, 0.25f));
    good.Input<int32_t>("input1", {0, 5, -1, 200, 127, 3, 3, 1});
  };
  give_inputs();
  good.Output("output0", 128 * 64 * 4);
  ASSERT_EQ(good.Execute(), NRT_SUCCESS) << good.error();
  const auto want = good.Read<float>("output0");

  NrtClient& nrt = NrtClient::Get();
  const std::string container = isa::Encode(Varied());
  std::mt19937 random(FuzzSeed(20));
  int ran = 0;
  for (int round = 0; round < 1500; ++round) {
    std::string bytes = container;
    for (int change = 1 + static_cast<int>(random() % 3); change > 0; --change)
      bytes[isa::container::kHeaderBytes +
            random() % (bytes.size() - isa::container::kHeaderBytes)] = static_cast<char>(random());
    isa::container::Put<uint64_t>(bytes, isa::container::kChecksumAt,
                                  isa::container::Checksum(bytes));
    nrt_model_t* model = nullptr;
    if (nrt.nrt_load(bytes.data(), bytes.size(), 0, 1, &model) != NRT_SUCCESS) continue;
    ran += nrt.nrt_execute(model, good.in, good.out) == NRT_SUCCESS;
    EXPECT_EQ(nrt.nrt_unload(model), NRT_SUCCESS);
  }
  EXPECT_GT(ran, 0);
  give_inputs();  // what was an input may have become a result
  ASSERT_EQ(good.Execute(), NRT_SUCCESS) << good.error();
  EXPECT_EQ(good.Read<float>("output0"), want);
}

}  // namespace
}  // namespace neuron::emulator
