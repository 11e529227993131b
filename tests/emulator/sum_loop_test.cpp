// Loops that add up one PSUM tile, taken as a whole with one host thread and with several, and
// matmul by matmul: the same bytes, counters and modelled time.
#include "emulator/sum_loop.h"

#include "emulator/decoded_steps.h"
#include "emulator/nrt_client.h"
#include "emulator/program.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Affine;
using isa::Engine;
using isa::Opcode;
using isa::TensorKind;

// The weight gradient of a convolution: a matmul per pixel, whose moving operand is a window.
struct Gradient {
  int64_t batch, outputs, inputs, side;  // pixels: side x side
  bool transposed_stationary;            // [pixel][output] instead of [output][pixel]
  bool rotating_sum;                     // the sum's address follows the outer loop

  int64_t pixels() const { return side * side; }
  int64_t width() const { return side + 2; }
  int64_t columns() const { return 9 * inputs; }

  isa::Program Make() const {
    isa::ProgramBuilder b("gradient", isa::Target::kTrn2);
    const auto tensor = [&](const char* name, TensorKind kind, int64_t elements) {
      return b.AddTensor({.name = name, .kind = kind, .bytes = elements * 4});
    };
    const int64_t image = width() * width() * inputs;
    const uint16_t grads = tensor("grads", TensorKind::kInput, batch * pixels() * outputs);
    const uint16_t images = tensor("images", TensorKind::kInput, batch * image);
    const uint16_t out = tensor("out", TensorKind::kOutput, outputs * sums() * columns());
    const int64_t base = pixels() * outputs * 4;
    const auto load = [&](int64_t at, int64_t n, uint16_t from) {
      b.Emit(Opcode::dma_copy, Engine::kDma,
             {AccessPattern::Sbuf(DType::kF32, 0, batch, at, {{1, n}}),
              AccessPattern::Hbm(DType::kF32, from, 0, batch, n, {{1, n}})});
    };
    load(0, pixels() * outputs, grads);
    load(base, image, images);
    const auto sum = AccessPattern::Psum(DType::kF32, 0, outputs, 0, {{1, sums() * columns()}});
    b.Emit(Opcode::memset, Engine::kVector, {sum, 0.5});
    const Affine y = Affine::Of(b.LoopBegin(0, side, 1, side - 1));
    const Affine x = Affine::Of(b.LoopBegin(0, side, 1, side - 1));
    AccessPattern part = AccessPattern::Psum(DType::kF32, 0, outputs, 0, {{1, columns()}});
    if (rotating_sum) part.offset = part.offset + y * (columns() * 4);
    const int64_t step = transposed_stationary ? outputs : 1;
    AccessPattern stationary = AccessPattern::Sbuf(
        DType::kF32, 0, batch, 0, {{transposed_stationary ? 1 : pixels(), outputs}});
    stationary.offset = stationary.offset + y * (side * step * 4) + x * (step * 4);
    AccessPattern moving =
        AccessPattern::Sbuf(DType::kF32, 0, batch, base, {{width() * inputs, 3}, {1, 3 * inputs}});
    moving.offset = moving.offset + y * (width() * inputs * 4) + x * (inputs * 4);
    b.Emit(Opcode::nc_matmul, Engine::kTensor, {part, stationary, moving, int64_t{1}});
    b.LoopEnd();
    b.LoopEnd();
    const auto copy = AccessPattern::Sbuf(DType::kF32, 0, outputs, 0, {{1, sums() * columns()}});
    b.Emit(Opcode::tensor_copy, Engine::kVector, {copy, sum});
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {AccessPattern::Hbm(DType::kF32, out, 0, outputs, sums() * columns(),
                               {{1, sums() * columns()}}),
            copy});
    auto program = std::move(b).Build();
    EXPECT_TRUE(program.ok()) << program.status().ToString();
    return *program;
  }
  int64_t sums() const { return rotating_sum ? side : 1; }
};

const Gradient kGradients[] = {
    {.batch = 64,
     .outputs = 32,
     .inputs = 16,
     .side = 8,
     .transposed_stationary = false,
     .rotating_sum = false},
    {.batch = 8,
     .outputs = 13,
     .inputs = 20,
     .side = 9,
     .transposed_stationary = true,
     .rotating_sum = false},
    {.batch = 33,
     .outputs = 7,
     .inputs = 4,
     .side = 5,
     .transposed_stationary = false,
     .rotating_sum = false},
    {.batch = 20,
     .outputs = 16,
     .inputs = 4,
     .side = 6,
     .transposed_stationary = true,
     .rotating_sum = true},
    {.batch = 10,
     .outputs = 5,
     .inputs = 3,
     .side = 7,
     .transposed_stationary = false,
     .rotating_sum = false},
    // Runs of three columns are packed.
    {.batch = 20,
     .outputs = 16,
     .inputs = 1,
     .side = 6,
     .transposed_stationary = true,
     .rotating_sum = false},
};

TEST(SumLoops, AreFoundAroundAMatmulThatAddsToOnePlace) {
  Machine machine(*ReadMachineConfig());
  Core& core = **machine.core(0);
  for (const Gradient& gradient : kGradients) {
    const isa::Program program = gradient.Make();
    std::vector<Step> steps = DecodedSteps(program, core);
    const auto loops = FindSumLoops(steps);
    ASSERT_EQ(loops.size(), 1u);
    // Where the sum follows the outer loop, only the inner one adds to one place.
    EXPECT_EQ(loops[0]->loops.size(), gradient.rotating_sum ? 1u : 2u);
  }
}

struct Outcome {
  std::vector<uint32_t> out;
  std::string counters;
  uint64_t duration_ps = 0;
};

Outcome RunGradient(const Gradient& gradient, const char* groups, int threads) {
  NrtClient& nrt = NrtClient::Get();
  setenv("TORCHNEURON_INSTRUCTION_GROUPS", groups, 1);
  RunningProgram running(gradient.Make());
  unsetenv("TORCHNEURON_INSTRUCTION_GROUPS");
  EXPECT_EQ(running.load_status, NRT_SUCCESS) << running.error();
  const auto fill = [&](const char* name, int64_t elements) {
    std::vector<float> values(elements);
    for (int64_t i = 0; i < elements; ++i) values[i] = 0.01f * static_cast<float>(i % 199) - 0.7f;
    running.Input(name, values);
  };
  fill("grads", gradient.batch * gradient.pixels() * gradient.outputs);
  fill("images", gradient.batch * gradient.width() * gradient.width() * gradient.inputs);
  running.Output("out", gradient.outputs * gradient.sums() * gradient.columns() * 4);
  nrt.nrt_emulator_set_num_threads(threads);
  nrt.nrt_emulator_reset_counters(0);
  EXPECT_EQ(running.Execute(), NRT_SUCCESS) << running.error();
  nrt.nrt_emulator_set_num_threads(0);
  return {running.Read<uint32_t>("out"), nrt.nrt_emulator_counters(0),
          static_cast<uint64_t>(nrt.nrt_emulator_last_duration_ps(running.model))};
}

TEST(SumLoops, ComputeTheSameBitsAsMatmulsOneByOne) {
  for (const Gradient& gradient : kGradients) {
    const Outcome want = RunGradient(gradient, "0", 1);
    for (const int threads : {1, 4}) {
      const Outcome got = RunGradient(gradient, "1", threads);
      EXPECT_EQ(got.out, want.out) << gradient.inputs << " inputs, " << threads << " threads";
      EXPECT_EQ(got.counters, want.counters);
      EXPECT_EQ(got.duration_ps, want.duration_ps);
    }
  }
}

}  // namespace
}  // namespace neuron::emulator
