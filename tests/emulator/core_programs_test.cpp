// An executable of two programs through the C ABI: loaded as one model, bound once, run until the
// cores meet.
#include "isa/core_programs.h"

#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Engine;
using isa::Opcode;
using isa::ProgramBuilder;
using isa::TensorKind;

constexpr int64_t kBytes = int64_t{128} * 64 * 4;

// Core `rank` loads its half of x, exchanges it and stores what it got into its half of y.
isa::Program Exchange(int rank, int64_t pipe) {
  ProgramBuilder b("exchange", isa::Target::kTrn2);
  const uint16_t x = b.AddTensor({.name = "x", .kind = TensorKind::kInput, .bytes = 2 * kBytes});
  const uint16_t y = b.AddTensor({.name = "y", .kind = TensorKind::kInOut, .bytes = 2 * kBytes});
  const auto sbuf = [](int64_t at) {
    return AccessPattern::Sbuf(DType::kF32, 0, 128, at, {{1, 64}});
  };
  const auto hbm = [rank](uint16_t tensor) {
    return AccessPattern::Hbm(DType::kF32, tensor, rank * kBytes, 128, 64, {{1, 64}});
  };
  const int64_t other = 1 - rank;
  b.Emit(Opcode::dma_copy, Engine::kDma, {sbuf(0), hbm(x)});
  b.Emit(Opcode::sendrecv, Engine::kDma, {sbuf(0), sbuf(256), other, other, pipe});
  b.Emit(Opcode::dma_copy, Engine::kDma, {hbm(y), sbuf(256)});
  auto program = std::move(b).Build();
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return *program;
}

struct Model {
  NrtClient& nrt = NrtClient::Get();
  nrt_model_t* model = nullptr;
  nrt_tensor_t *x = nullptr, *y = nullptr;
  nrt_tensor_set_t *in = nullptr, *out = nullptr;

  explicit Model(const std::vector<isa::Program>& programs) {
    EXPECT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
    const std::string container = isa::EncodeCores(programs);
    EXPECT_EQ(nrt.nrt_load(container.data(), container.size(), 0, 1, &model), NRT_SUCCESS)
        << nrt.nrt_emulator_last_error();
    nrt.nrt_allocate_tensor_set(&in);
    nrt.nrt_allocate_tensor_set(&out);
    for (auto [tensor, name] : {std::pair{&x, "x"}, std::pair{&y, "y"}}) {
      EXPECT_EQ(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 2 * kBytes, name, tensor),
                NRT_SUCCESS);
      nrt.nrt_add_tensor_to_tensor_set(in, name, *tensor);
    }
    nrt.nrt_add_tensor_to_tensor_set(out, "y", y);
  }
  ~Model() {
    nrt.nrt_destroy_tensor_set(&in);
    nrt.nrt_destroy_tensor_set(&out);
    nrt.nrt_tensor_free(&x);
    nrt.nrt_tensor_free(&y);
    if (model != nullptr) nrt.nrt_unload(model);
  }
};

TEST(CorePrograms, ExchangeThroughTheAbi) {
  Model m({Exchange(0, 5), Exchange(1, 5)});
  std::vector<float> x(2 * kBytes / 4);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
  m.nrt.nrt_tensor_write(m.x, x.data(), 0, 2 * kBytes);
  ASSERT_EQ(m.nrt.nrt_execute(m.model, m.in, m.out), NRT_SUCCESS)
      << m.nrt.nrt_emulator_last_error();
  std::vector<float> y(x.size());
  m.nrt.nrt_tensor_read(m.y, y.data(), 0, 2 * kBytes);
  const size_t half = x.size() / 2;
  for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(y[i], x[(i + half) % x.size()]) << i;
  EXPECT_GT(m.nrt.nrt_emulator_last_duration_ps(m.model), 0u);
  const std::string trace = m.nrt.nrt_emulator_trace(m.model);
  EXPECT_NE(trace.find("\"core\":0}"), std::string::npos);
  EXPECT_NE(trace.find("\"core\":1}"), std::string::npos);
}

TEST(CorePrograms, ADeadlockIsAnErrorAndTheCoreGoesOn) {
  Model bad({Exchange(0, 5), Exchange(1, 6)});
  EXPECT_NE(bad.nrt.nrt_execute(bad.model, bad.in, bad.out), NRT_SUCCESS);
  EXPECT_NE(std::string(bad.nrt.nrt_emulator_last_error()).find("their pipes are 5 and 6"),
            std::string::npos);
  Model good({Exchange(0, 5), Exchange(1, 5)});
  EXPECT_EQ(good.nrt.nrt_execute(good.model, good.in, good.out), NRT_SUCCESS);
}

TEST(CorePrograms, OneProgramAloneCannotMeet) {
  Model alone({Exchange(0, 5)});
  EXPECT_NE(alone.nrt.nrt_execute(alone.model, alone.in, alone.out), NRT_SUCCESS);
  EXPECT_NE(std::string(alone.nrt.nrt_emulator_last_error()).find("launch the kernel as kernel[2]"),
            std::string::npos);
}

}  // namespace
}  // namespace neuron::emulator
