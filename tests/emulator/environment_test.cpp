// What the environment decides: the chip, its cores, its HBM, whether the host may touch it.
#include <unistd.h>

#include "emulator/nrt_client.h"
#include "isa/program_builder.h"

namespace neuron::emulator {
namespace {

using isa::AccessPattern;
using isa::Engine;
using isa::Opcode;
using isa::TensorKind;

// A fresh machine under one variable's value; the next test gets the default one.
class WithVariable {
 public:
  WithVariable(const char* name, const char* value) : name_(name) {
    nrt_.nrt_close();
    setenv(name, value, 1);
    status = nrt_.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", "");
  }
  ~WithVariable() {
    unsetenv(name_);
    nrt_.nrt_close();
    EXPECT_EQ(nrt_.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  NRT_STATUS status;

 private:
  const char* name_;
  NrtClient& nrt_ = NrtClient::Get();
};

std::string Error() { return NrtClient::Get().nrt_emulator_last_error(); }

TEST(Environment, UnknownChipNamesTheKnownOnes) {
  const WithVariable variable("NEURON_PLATFORM_TARGET_OVERRIDE", "trn9");
  EXPECT_EQ(variable.status, NRT_INVALID);
  EXPECT_NE(Error().find("'trn9'"), std::string::npos) << Error();
  EXPECT_NE(Error().find("trn2 (gen3), trn3 (gen4)"), std::string::npos) << Error();
}

TEST(Environment, VisibleCoresAreCountedBeforeInit) {
  NrtClient& nrt = NrtClient::Get();
  const WithVariable variable("NEURON_RT_VISIBLE_CORES", "2-4");
  uint32_t visible = 0;
  uint32_t total = 0;
  EXPECT_EQ(nrt.nrt_get_visible_nc_count(&visible), NRT_SUCCESS);
  EXPECT_EQ(nrt.nrt_get_total_nc_count(&total), NRT_SUCCESS);
  EXPECT_EQ(visible, 3u);
  EXPECT_EQ(total, 8u);
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 3, 64, "", &tensor), NRT_INVALID);
  EXPECT_NE(Error().find("core 3 asked for, 3 visible"), std::string::npos) << Error();
}

TEST(Environment, MalformedCoreListsAreRefused) {
  for (const char* list : {"3,1", "0-99", "x", "5-2"}) {
    const WithVariable variable("NEURON_RT_VISIBLE_CORES", list);
    EXPECT_EQ(variable.status, NRT_INVALID) << list;
    EXPECT_NE(Error().find("NEURON_RT_VISIBLE_CORES"), std::string::npos) << Error();
  }
}

TEST(Environment, HbmMayBeSmaller) {
  NrtClient& nrt = NrtClient::Get();
  const WithVariable variable("TORCHNEURON_HBM_BYTES", "1048576");
  nrt_vnc_memory_stats_t stats{};
  EXPECT_EQ(nrt.nrt_get_vnc_memory_stats(0, &stats, sizeof stats, nullptr), NRT_SUCCESS);
  EXPECT_EQ(stats.bytes_limit, 1048576u);
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 2 << 20, "", &tensor),
            NRT_RESOURCE);
}

TEST(Environment, CallsOutsideInitAndCloseAreRefused) {
  NrtClient& nrt = NrtClient::Get();
  nrt.nrt_close();
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(nrt.nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, 0, 64, "", &tensor), NRT_CLOSED);
  EXPECT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
}

// Whether the kernel can read a byte there for us: false where nothing is mapped.
bool HostCanRead(const void* address) {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

TEST(Environment, GuardedHbmIsOutOfTheHostsReachAndStillWorks) {
  NrtClient& nrt = NrtClient::Get();
  EXPECT_NE(nrt.nrt_emulator_capabilities() & NRT_EMULATOR_HOST_ADDRESSABLE_HBM, 0u);
  const WithVariable variable("TORCHNEURON_GUARD", "1");
  EXPECT_EQ(nrt.nrt_emulator_capabilities() & NRT_EMULATOR_HOST_ADDRESSABLE_HBM, 0u);
  isa::ProgramBuilder b("copy", isa::Target::kTrn2);
  const uint16_t x = b.AddTensor({.name = "input0", .kind = TensorKind::kInput, .bytes = 4096});
  const uint16_t y = b.AddTensor({.name = "output0", .kind = TensorKind::kOutput, .bytes = 4096});
  const auto at = [](uint16_t t) {
    return AccessPattern::Hbm(DType::kF32, t, 0, 8, 128, {{1, 128}});
  };
  b.Emit(Opcode::dma_copy, Engine::kDma, {at(y), at(x)});
  auto program = std::move(b).Build();
  ASSERT_TRUE(program.ok());
  RunningProgram run(*program);
  const std::vector<float> values(1024, 2.5f);
  run.Input("input0", values);
  run.Output("output0", 4096);
  EXPECT_FALSE(HostCanRead(nrt.nrt_tensor_get_va(run.tensors.at("input0"))));
  ASSERT_EQ(run.Execute(), NRT_SUCCESS) << run.error();
  EXPECT_EQ(run.Read<float>("output0"), values);
}

}  // namespace
}  // namespace neuron::emulator
