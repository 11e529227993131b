// Hand-assembled programs through the C ABI: results, counters, and every refusal's status.
#include <cmath>
#include <numeric>

#include "emulator/nrt_client.h"
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

// y[128, n] = a + b, through SBUF.
isa::Program AddProgram(int64_t n) {
  ProgramBuilder b("add", Target::kTrn2);
  const int64_t bytes = 128 * n * 4;
  const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = bytes});
  const uint16_t y = b.AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = bytes});
  const uint16_t z = b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = bytes});
  const auto hbm = [&](uint16_t t) {
    return AccessPattern::Hbm(DType::kF32, t, 0, 128, n, {{1, n}});
  };
  const auto sbuf = [&](int64_t slot) {
    return AccessPattern::Sbuf(DType::kF32, 0, 128, slot * n * 4, {{1, n}});
  };
  b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf(0), hbm(x)});
  b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf(1), hbm(y)});
  b.Emit(Opcode::tensor_tensor, Engine::kVector, {sbuf(2), sbuf(0), sbuf(1), AluOp::kAdd});
  b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(z), sbuf(2)});
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

// y[128 * tiles, 512] = x[128 * tiles, 256] w[256, 512]: two accumulating matmuls per row tile, x
// transposed by DMA, in a loop over row tiles whose count comes from the scalar block.
isa::Program MatmulProgram(int64_t most_tiles) {
  ProgramBuilder b("matmul", Target::kTrn2);
  const uint16_t x = b.AddTensor(
      {.name = "input0", .kind = TensorKind::kInput, .bytes = most_tiles * 128 * 256 * 4});
  const uint16_t w =
      b.AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = 256 * 512 * 4});
  const uint16_t y = b.AddTensor(
      {.name = "output0", .kind = TensorKind::kOutput, .bytes = most_tiles * 128 * 512 * 4});
  b.AddTensor({.name = "scalars", .kind = TensorKind::kScalars, .bytes = 8});
  const isa::Register tiles = b.AddRegister({.min = 0, .max = most_tiles, .scalar_slot = 0});
  const DType f32 = DType::kF32;
  for (int64_t k = 0; k < 2; ++k)
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {AccessPattern::Sbuf(f32, 0, 128, 4096 + k * 2048, {{1, 512}}),
            AccessPattern::Hbm(f32, w, k * 128 * 512 * 4, 128, 512, {{1, 512}})});
  const isa::Register i = b.LoopBegin(0, isa::Affine::Of(tiles), 1, most_tiles - 1);
  const auto psum = AccessPattern::Psum(f32, 0, 128, 0, {{1, 512}});
  for (int64_t k = 0; k < 2; ++k) {
    const auto stationary = AccessPattern::Sbuf(f32, 0, 128, k * 512, {{1, 128}});
    b.Emit(Opcode::dma_transpose, Engine::kDma,
           {stationary, AccessPattern::Hbm(f32, x, isa::Affine::Of(i, 128 * 256 * 4, k * 512), 128,
                                           256, {{1, 128}})});
    b.Emit(Opcode::nc_matmul, Engine::kTensor,
           {psum, stationary, AccessPattern::Sbuf(f32, 0, 128, 4096 + k * 2048, {{1, 512}}),
            int64_t{k}});
  }
  const auto result = AccessPattern::Sbuf(f32, 0, 128, 16384, {{1, 512}});
  b.Emit(Opcode::tensor_copy, Engine::kVector, {result, psum});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(f32, y, isa::Affine::Of(i, 128 * 512 * 4), 128, 512, {{1, 512}}),
          result});
  b.LoopEnd();
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

std::vector<float> Ramp(size_t n, float scale) {
  std::vector<float> values(n);
  for (size_t i = 0; i < n; ++i) values[i] = scale * static_cast<float>((i * 37) % 101) - 1.5f;
  return values;
}

TEST(Abi, AddsTwoTensors) {
  RunningProgram run(AddProgram(300));
  ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  const auto a = Ramp(128 * 300, 0.25f);
  const auto b = Ramp(128 * 300, 0.1f);
  run.Input("input0", a);
  run.Input("input1", b);
  run.Output("output0", a.size() * 4);
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  const auto y = run.Read<float>("output0");
  for (size_t i = 0; i < a.size(); ++i) ASSERT_EQ(y[i], a[i] + b[i]) << i;
}

TEST(Abi, MultipliesMatricesInALoopOfRunTimeLength) {
  NrtClient& nrt = NrtClient::Get();
  RunningProgram run(MatmulProgram(4));
  ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  const int64_t m = 3 * 128;
  const auto x = Ramp(4 * 128 * 256, 0.02f);
  const auto w = Ramp(256 * 512, 0.03f);
  run.Input("input0", x);
  run.Input("input1", w);
  run.Input("scalars", std::vector<int64_t>{3});
  run.Output("output0", 4 * 128 * 512 * 4);
  nrt.nrt_emulator_reset_counters(0);
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  const auto y = run.Read<float>("output0");
  for (int64_t i = 0; i < m; i += 17)
    for (int64_t j = 0; j < 512; j += 13) {
      double want = 0;
      for (int64_t k = 0; k < 256; ++k) want += double{x[i * 256 + k]} * w[k * 512 + j];
      ASSERT_NEAR(y[i * 512 + j], want, 1e-3) << i << ' ' << j;
    }
  const std::string counters = nrt.nrt_emulator_counters(0);
  EXPECT_NE(counters.find("\"tensor_multiplies\":" + std::to_string(m * 256 * 512)),
            std::string::npos)
      << counters;
  EXPECT_NE(counters.find("\"nc_matmul\":6"), std::string::npos) << counters;
  EXPECT_GT(nrt.nrt_emulator_device_time_ps(0), 0u);
  EXPECT_GT(nrt.nrt_emulator_last_duration_ps(run.model), 0u);
}

TEST(Abi, RefusesAScalarOutOfItsRange) {
  RunningProgram run(MatmulProgram(4));
  run.Input("input0", std::vector<float>(4 * 128 * 256));
  run.Input("input1", std::vector<float>(256 * 512));
  run.Input("scalars", std::vector<int64_t>{5});
  run.Output("output0", 4 * 128 * 512 * 4);
  EXPECT_EQ(run.Execute(), NRT_EXEC_OOB);
  EXPECT_NE(run.error().find("scalar slot 0 holds 5, allowed is [0, 4]"), std::string::npos)
      << run.error();
}

TEST(Abi, NamesAMissingTensor) {
  RunningProgram run(AddProgram(16));
  run.Input("input0", std::vector<float>(128 * 16));
  run.Output("output0", 128 * 16 * 4);
  EXPECT_EQ(run.Execute(), NRT_EXEC_BAD_INPUT);
  EXPECT_NE(run.error().find("input set has no tensor 'input1'"), std::string::npos) << run.error();
}

TEST(Abi, RefusesATensorThatIsTooSmall) {
  RunningProgram run(AddProgram(16));
  run.Input("input0", std::vector<float>(128 * 16));
  run.Input("input1", std::vector<float>(128 * 15));
  run.Output("output0", 128 * 16 * 4);
  EXPECT_EQ(run.Execute(), NRT_EXEC_BAD_INPUT);
  EXPECT_NE(run.error().find("7680 bytes, the program needs 8192"), std::string::npos)
      << run.error();
}

TEST(Abi, NamesTheInstructionThatLeavesABoundTensor) {
  ProgramBuilder b("far", Target::kTrn2);
  const uint16_t x =
      b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 1024, .byte_offset = 0});
  b.AddTensor({.name = "scalars", .kind = TensorKind::kScalars, .bytes = 8});
  b.AddRegister({.scalar_slot = 0});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Sbuf(DType::kF32, 0, 1, 0, {{1, 256}}),
          AccessPattern::Hbm(DType::kF32, x, 0, 1, 256, {{1, 256}})});
  auto program = std::move(b).Build();
  ASSERT_TRUE(program.ok()) << program.status().ToString();
  RunningProgram run(*program);
  ASSERT_EQ(run.load_status, NRT_SUCCESS) << run.error();
  run.Input("input0", std::vector<float>(512));
  run.Input("scalars", std::vector<int64_t>{1024});
  EXPECT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  RunningProgram beyond(*program);
  beyond.Input("input0", std::vector<float>(512));
  beyond.Input("scalars", std::vector<int64_t>{1028});
  EXPECT_EQ(beyond.Execute(), NRT_EXEC_OOB);
  EXPECT_NE(beyond.error().find("dma_copy (instruction 0): operand src reaches bytes [1028, 2052)"),
            std::string::npos)
      << beyond.error();
}

TEST(Abi, RefusesWhatIsNoContainer) {
  NrtClient& nrt = NrtClient::Get();
  ASSERT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  nrt_model_t* model = nullptr;
  const std::string junk(4096, 'x');
  EXPECT_EQ(nrt.nrt_load(junk.data(), junk.size(), 0, 1, &model), NRT_INVALID)
      << nrt.nrt_emulator_last_error();
  std::string container = isa::Encode(AddProgram(16));
  container[container.size() / 2] ^= 1;
  EXPECT_NE(nrt.nrt_load(container.data(), container.size(), 0, 1, &model), NRT_SUCCESS);
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(nrt.nrt_unload(nullptr), NRT_INVALID_HANDLE);
}

TEST(Abi, SlicesShareStorage) {
  NrtClient& nrt = NrtClient::Get();
  ASSERT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  nrt_tensor_t* whole = nullptr;
  ASSERT_EQ(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 1000, "whole", &whole),
            NRT_SUCCESS);
  nrt_tensor_t* slice = nullptr;
  ASSERT_EQ(nrt.nrt_tensor_allocate_slice(whole, 100, 50, "slice", &slice), NRT_SUCCESS);
  EXPECT_EQ(nrt.nrt_tensor_memset(whole, 0, 7, 1000), NRT_SUCCESS);
  EXPECT_EQ(static_cast<char*>(nrt.nrt_tensor_get_va(slice)),
            static_cast<char*>(nrt.nrt_tensor_get_va(whole)) + 100);
  nrt.nrt_tensor_free(&whole);
  EXPECT_EQ(whole, nullptr);
  char bytes[50];
  EXPECT_EQ(nrt.nrt_tensor_read(slice, bytes, 0, 50), NRT_SUCCESS);
  EXPECT_EQ(bytes[49], 7);
  EXPECT_EQ(nrt.nrt_tensor_read(slice, bytes, 1, 50), NRT_INVALID);
  nrt.nrt_tensor_free(&slice);
}

TEST(Abi, ReportsExhaustedHbmWithTheNumbers) {
  NrtClient& nrt = NrtClient::Get();
  ASSERT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  nrt_vnc_memory_stats_t stats{};
  size_t size = 0;
  ASSERT_EQ(nrt.nrt_get_vnc_memory_stats(0, &stats, sizeof stats, &size), NRT_SUCCESS);
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, stats.bytes_limit + 1, "huge",
                                    &tensor),
            NRT_RESOURCE);
  EXPECT_EQ(tensor, nullptr);
  EXPECT_NE(std::string(nrt.nrt_emulator_last_error()).find(std::to_string(stats.bytes_limit)),
            std::string::npos);
}

TEST(Abi, TellsTensorsOfAModel) {
  NrtClient& nrt = NrtClient::Get();
  RunningProgram run(AddProgram(16));
  nrt_tensor_info_array_t* info = nullptr;
  ASSERT_EQ(nrt.nrt_get_model_tensor_info(run.model, &info), NRT_SUCCESS);
  ASSERT_EQ(info->tensor_count, 3u);
  EXPECT_STREQ(info->tensor_array[2].name, "output0");
  EXPECT_EQ(info->tensor_array[2].usage, NRT_TENSOR_USAGE_OUTPUT);
  EXPECT_EQ(info->tensor_array[2].size, size_t{128 * 16 * 4});
  EXPECT_EQ(nrt.nrt_free_model_tensor_info(info), NRT_SUCCESS);
}

}  // namespace
}  // namespace neuron::emulator
