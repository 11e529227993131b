// Two processes on one emulated machine: a core belongs to whoever used it first, the error of the
// other one says who that is, and the end of a process gives its cores back.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "emulator/core_lease.h"
#include "emulator/nrt_client.h"

namespace neuron::emulator {
namespace {

NRT_STATUS Allocate(int vnc, nrt_tensor_t** tensor) {
  return NrtClient::Get().nrt_tensor_allocate(NRT_TENSOR_PLACEMENT_DEVICE, vnc, 64, "", tensor);
}

std::string Holder(int core) { return NrtClient::Get().nrt_emulator_core_holder(core); }

std::string ProcessName(int pid) { return StrCat("process ", pid, " ("); }

// A machine of the test's own name, whose variables the processes started meanwhile inherit.
class NamedMachine : public ::testing::Test {
 protected:
  void SetUp() override {
    NrtClient::Get().nrt_close();
    if (std::getenv("TORCHNEURON_MACHINE") == nullptr) own_ = StrCat("test-", getpid());
    setenv("TORCHNEURON_MACHINE", own_.c_str(), 0);
    ASSERT_EQ(NrtClient::Get().nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }
  void TearDown() override {
    NrtClient& nrt = NrtClient::Get();
    nrt.nrt_close();
    if (!own_.empty()) {
      unsetenv("TORCHNEURON_MACHINE");
      std::filesystem::remove_all(std::filesystem::temp_directory_path() /
                                  StrCat("torchneuron-machines-", getuid()) / own_);
    }
    ASSERT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  }

 private:
  std::string own_;  // "": the name is that of the process that started this one
};

// The other process: run by the test below. Holds core 1 until its input ends.
TEST_F(NamedMachine, DISABLED_OtherProcess) {
  NrtClient& nrt = NrtClient::Get();
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(Allocate(0, &tensor), NRT_EXEC_NC_BUSY);
  EXPECT_NE(std::string(nrt.nrt_emulator_last_error()).find(ProcessName(getppid())),
            std::string::npos)
      << nrt.nrt_emulator_last_error();
  ASSERT_EQ(Allocate(1, &tensor), NRT_SUCCESS) << nrt.nrt_emulator_last_error();
  while (std::getchar() != EOF) {
  }
  nrt.nrt_tensor_free(&tensor);
}

TEST_F(NamedMachine, CoresBelongToWhoeverUsedThemFirst) {
  NrtClient& nrt = NrtClient::Get();
  nrt_tensor_t* mine = nullptr;
  ASSERT_EQ(Allocate(0, &mine), NRT_SUCCESS) << nrt.nrt_emulator_last_error();
  EXPECT_EQ(Holder(0).find(ProcessName(getpid())), 0u) << Holder(0);
  EXPECT_EQ(Holder(1), "");

  // exec: the parent that the other one knows is this process.
  const std::string command = StrCat(
      "exec ", std::string(1, '\''), std::filesystem::canonical("/proc/self/exe").string(),
      "' --gtest_also_run_disabled_tests --gtest_filter=NamedMachine.DISABLED_OtherProcess >&2");
  std::FILE* other = popen(command.c_str(), "w");
  ASSERT_NE(other, nullptr);
  for (int i = 0; i < 3000 && Holder(1).empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  const std::string holder = Holder(1);
  EXPECT_EQ(holder.find("process "), 0u) << holder;
  EXPECT_EQ(holder.find(ProcessName(getpid())), std::string::npos);
  EXPECT_NE(holder.find("OtherProcess"), std::string::npos) << holder;

  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(Allocate(1, &tensor), NRT_EXEC_NC_BUSY);
  const std::string error = nrt.nrt_emulator_last_error();
  EXPECT_NE(error.find("logical core 1"), std::string::npos) << error;
  EXPECT_NE(error.find(holder), std::string::npos) << error;
  EXPECT_NE(error.find("NEURON_RT_VISIBLE_CORES"), std::string::npos) << error;

  EXPECT_EQ(pclose(other), 0);  // its input ends, and so does it
  EXPECT_EQ(Holder(1), "");
  EXPECT_EQ(Allocate(1, &tensor), NRT_SUCCESS) << nrt.nrt_emulator_last_error();
  nrt.nrt_tensor_free(&tensor);
  nrt.nrt_tensor_free(&mine);
}

TEST_F(NamedMachine, ANumberOfCoresIsTakenFromThoseThatAreFree) {
  NrtClient& nrt = NrtClient::Get();
  // Somebody's cores 0 and 2: another library instance of this process is as good as a process.
  const std::string machine = std::getenv("TORCHNEURON_MACHINE");
  const auto zero = CoreLease::Take(machine, 0);
  const auto two = CoreLease::Take(machine, 2);
  ASSERT_TRUE(zero.ok() && two.ok());
  nrt.nrt_close();
  setenv("NEURON_RT_NUM_CORES", "3", 1);
  EXPECT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_SUCCESS);
  uint32_t visible = 0;
  EXPECT_EQ(nrt.nrt_get_visible_nc_count(&visible), NRT_SUCCESS);
  EXPECT_EQ(visible, 3u);
  for (const int core : {1, 3, 4}) EXPECT_NE(Holder(core), "") << core;
  EXPECT_EQ(Holder(5), "");
  nrt_tensor_t* tensor = nullptr;
  EXPECT_EQ(Allocate(2, &tensor), NRT_SUCCESS) << nrt.nrt_emulator_last_error();
  nrt.nrt_tensor_free(&tensor);
  nrt.nrt_close();
  setenv("NEURON_RT_NUM_CORES", "7", 1);
  EXPECT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_EXEC_NC_BUSY);
  const std::string error = nrt.nrt_emulator_last_error();
  EXPECT_NE(error.find("6 of the 8 logical cores"), std::string::npos) << error;
  EXPECT_NE(error.find("core 2 by process"), std::string::npos) << error;
  unsetenv("NEURON_RT_NUM_CORES");
}

TEST_F(NamedMachine, NamesAreChecked) {
  NrtClient& nrt = NrtClient::Get();
  const std::string machine = std::getenv("TORCHNEURON_MACHINE");
  for (const char* name : {"../up", "a b", ".hidden"}) {
    nrt.nrt_close();
    setenv("TORCHNEURON_MACHINE", name, 1);
    EXPECT_EQ(nrt.nrt_init(NRT_FRAMEWORK_TYPE_NO_FW, "", ""), NRT_INVALID) << name;
    EXPECT_NE(std::string(nrt.nrt_emulator_last_error()).find(name), std::string::npos);
  }
  setenv("TORCHNEURON_MACHINE", machine.c_str(), 1);
}

}  // namespace
}  // namespace neuron::emulator
