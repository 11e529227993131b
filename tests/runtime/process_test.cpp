#include "runtime/process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "runtime/support.h"

namespace neuron::runtime {
namespace {

TEST(Process, DescribesWhichLibraryServes) {
  const std::string text = Describe();
  EXPECT_NE(text.find(Beside(RECORDING_NRT)), std::string::npos) << text;
  EXPECT_NE(text.find("2.30.0.0 (recording)"), std::string::npos);
  EXPECT_NE(text.find("2 device(s) trn2"), std::string::npos);
  EXPECT_EQ(DeviceCount(), 2);
  EXPECT_NE(Properties(0).device_name.find("neuron"), std::string::npos);
  EXPECT_FALSE(Properties(0).emulated);
}

TEST(Process, AForkedChildIsRefusedWithAdvice) {
  MustBeOk(Initialize());
  void* x = MustAllocate(0, 64);
  const pid_t child = fork();
  if (child == 0) {
    const Status status = Allocate(0, 64, 0).status();
    Free(x);  // destructors of inherited tensors: nothing happens
    const bool right = IsFailedPrecondition(status) &&
                       status.message().find("spawn") != std::string_view::npos &&
                       !IsInitialized() && !SynchronizeDevice(0).ok();
    std::_Exit(right ? 0 : 1);
  }
  int result = 0;
  ASSERT_EQ(waitpid(child, &result, 0), child);
  EXPECT_TRUE(WIFEXITED(result) && WEXITSTATUS(result) == 0);
  Free(x);
  MustBeOk(SynchronizeDevice(0));
}

}  // namespace
}  // namespace neuron::runtime
