// Speed of the emulator by itself, through the NRT ABI: one JSON line per case.
//
//   ninja emulator_bench && TORCHNEURON_NRT_LIBRARY=.../libnrt_emulator.so.1 ./emulator_bench
//   [filter]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::ActivationFunction;
using isa::AluOp;
using isa::Engine;
using isa::Opcode;
using isa::ProgramBuilder;
using isa::Target;
using isa::TensorKind;

const char* filter = "";

double BestSeconds(const std::function<void()>& body, int repeats) {
  double best = 1e9;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    best = std::min(best, took.count());
  }
  return best;
}

void Report(const std::string& name, double value, const char* unit) {
  std::printf("{\"bench\": \"emulator\", \"case\": \"%s\", \"ours\": %.3f, \"unit\": \"%s\"}\n",
              name.c_str(), value, unit);
  std::fflush(stdout);
}

bool Wanted(const std::string& name) { return name.find(filter) != std::string::npos; }

isa::Program Built(ProgramBuilder&& b) {
  auto program = std::move(b).Build();
  if (!program.ok()) {
    std::fprintf(stderr, "%s\n", program.status().ToString().c_str());
    std::exit(1);
  }
  return *program;
}

// output0 = work(input0, input1) for tiles of [128, f], `tiles` of them in a loop.
isa::Program Pointwise(
    int64_t rows, int64_t f, int64_t tiles, int inputs, DType dtype,
    const std::function<void(ProgramBuilder&, AccessPattern, AccessPattern, AccessPattern)>& work) {
  ProgramBuilder b("pointwise", Target::kTrn2);
  const int64_t size = ByteSize(dtype);
  const int64_t tile_bytes = rows * f * size;
  std::vector<uint16_t> in;
  for (int i = 0; i < inputs; ++i)
    in.push_back(b.AddTensor({.name = "input" + std::to_string(i),
                              .kind = TensorKind::kInput,
                              .bytes = tile_bytes * tiles}));
  const uint16_t out =
      b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = tile_bytes * tiles});
  const auto sbuf = [&](int64_t slot) {
    return AccessPattern::Sbuf(dtype, 0, rows, slot * f * size, {{1, f}});
  };
  isa::Affine offset = 0;
  if (tiles > 1) offset = isa::Affine::Of(b.LoopBegin(0, tiles, 1, tiles - 1), tile_bytes);
  for (int i = 0; i < inputs; ++i)
    b.Emit(Opcode::dma_copy, Engine::kDma,
           {sbuf(i), AccessPattern::Hbm(dtype, in[i], offset, rows, f, {{1, f}})});
  work(b, sbuf(2), sbuf(0), sbuf(1));
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(dtype, out, offset, rows, f, {{1, f}}), sbuf(2)});
  if (tiles > 1) b.LoopEnd();
  return Built(std::move(b));
}

void RunPointwise(
    const std::string& name, int64_t rows, int64_t f, int64_t tiles, int inputs, DType dtype,
    const std::function<void(ProgramBuilder&, AccessPattern, AccessPattern, AccessPattern)>& work) {
  if (!Wanted(name)) return;
  RunningProgram run(Pointwise(rows, f, tiles, inputs, dtype, work));
  const int64_t bytes = rows * f * tiles * ByteSize(dtype);
  std::vector<float> values(bytes / 4);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 0.001f * static_cast<float>(i % 3000);
  for (int i = 0; i < inputs; ++i) run.Input("input" + std::to_string(i), values);
  run.Output("output0", bytes);
  if (run.Execute() != NRT_SUCCESS) std::fprintf(stderr, "%s\n", run.error().c_str());
  if (bytes < 65536) {
    const double s = BestSeconds(
        [&] {
          for (int i = 0; i < 1000; ++i) run.Execute();
        },
        20);
    Report(name, s / 1000 * 1e9, "ns/launch");
  } else {
    const double s = BestSeconds([&] { run.Execute(); }, 15);
    Report(name, static_cast<double>(bytes) * (inputs + 1) / s / 1e9, "GB/s");
    Report(name, s * 1e3, "ms");
  }
}

// y[m, n] = x[m, k] w[n, k]^T, both transposed by DMA.
void RunLinear(const std::string& name, int64_t m, int64_t n, int64_t k, DType dtype) {
  if (!Wanted(name)) return;
  ProgramBuilder b("linear", Target::kTrn2);
  const int64_t size = ByteSize(dtype);
  const uint16_t x =
      b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = m * k * size});
  const uint16_t w =
      b.AddTensor({.name = "input1", .kind = TensorKind::kInput, .bytes = n * k * size});
  const uint16_t y =
      b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = m * n * size});
  const int64_t moving = 0;
  const int64_t stationary = 64 * 1024;
  const int64_t result = 128 * 1024;
  const isa::Register j = b.LoopBegin(0, n / 512, 1, n / 512 - 1);
  for (int64_t t = 0; t < k / 128; ++t)
    b.Emit(Opcode::dma_transpose, Engine::kDma,
           {AccessPattern::Sbuf(dtype, 0, 128, moving + t * 512 * size, {{1, 512}}),
            AccessPattern::Hbm(dtype, w, isa::Affine::Of(j, 512 * k * size, t * 128 * size), 512, k,
                               {{1, 128}})});
  const isa::Register i = b.LoopBegin(0, m / 128, 1, m / 128 - 1);
  const auto psum = AccessPattern::Psum(DType::kF32, 0, 128, 0, {{1, 512}});
  for (int64_t t = 0; t < k / 128; ++t) {
    const auto s = AccessPattern::Sbuf(dtype, 0, 128, stationary + t * 128 * size, {{1, 128}});
    b.Emit(Opcode::dma_transpose, Engine::kDma,
           {s, AccessPattern::Hbm(dtype, x, isa::Affine::Of(i, 128 * k * size, t * 128 * size), 128,
                                  k, {{1, 128}})});
    b.Emit(Opcode::nc_matmul, Engine::kTensor,
           {psum, s, AccessPattern::Sbuf(dtype, 0, 128, moving + t * 512 * size, {{1, 512}}),
            int64_t{t > 0}});
  }
  const auto out = AccessPattern::Sbuf(dtype, 0, 128, result, {{1, 512}});
  b.Emit(Opcode::tensor_copy, Engine::kVector, {out, psum});
  b.Emit(Opcode::dma_copy, Engine::kDma,
         {AccessPattern::Hbm(dtype, y,
                             isa::Affine::Of(i, 128 * n * size) + isa::Affine::Of(j, 512 * size),
                             128, n, {{1, 512}}),
          out});
  b.LoopEnd();
  b.LoopEnd();
  RunningProgram run(Built(std::move(b)));
  run.Input("input0", std::vector<uint16_t>(m * k * size / 2, 0x3f80));
  run.Input("input1", std::vector<uint16_t>(n * k * size / 2, 0x3f80));
  run.Output("output0", m * n * size);
  if (run.Execute() != NRT_SUCCESS) std::fprintf(stderr, "%s\n", run.error().c_str());
  const double s = BestSeconds([&] { run.Execute(); }, 10);
  Report(name, 2.0 * static_cast<double>(m * n * k) / s / 1e9, "GFLOPS");
  const uint64_t ps = NrtClient::Get().nrt_emulator_last_duration_ps(run.model);
  Report(name, static_cast<double>(ps) * 1e-6, "us modelled");
}

void Main() {
  const auto add = [](ProgramBuilder& b, AccessPattern dst, AccessPattern x, AccessPattern y) {
    b.Emit(Opcode::tensor_tensor, Engine::kVector, {dst, x, y, AluOp::kAdd});
  };
  RunPointwise("add f32[16]", 1, 16, 1, 2, DType::kF32, add);
  RunPointwise("add f32[128,64]", 128, 64, 1, 2, DType::kF32, add);
  RunPointwise("add f32[4M]", 128, 4096, 8, 2, DType::kF32, add);
  RunPointwise("add bf16[4M]", 128, 4096, 8, 2, DType::kBF16, add);
  for (const auto function :
       {ActivationFunction::kExp, ActivationFunction::kTanh, ActivationFunction::kGelu,
        ActivationFunction::kLog, ActivationFunction::kSinFull, ActivationFunction::kErf}) {
    RunPointwise(std::string(isa::RowOf(function).name) + " f32[1M]", 128, 4096, 2, 1, DType::kF32,
                 [&](ProgramBuilder& b, AccessPattern dst, AccessPattern x, AccessPattern) {
                   b.Emit(Opcode::activation, Engine::kScalar, {dst, function, x});
                 });
  }
  RunLinear("linear f32[1024,1024,1024]", 1024, 1024, 1024, DType::kF32);
  RunLinear("linear bf16[1024,1024,1024]", 1024, 1024, 1024, DType::kBF16);
}

}  // namespace
}  // namespace neuron::emulator

int main(int argc, char** argv) {
  if (argc > 1) neuron::emulator::filter = argv[1];
  if (argc > 2) neuron::emulator::NrtClient::Get().nrt_emulator_set_num_threads(std::atoi(argv[2]));
  neuron::emulator::Main();
}
