#include "nrt/loader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

#include "beside.h"

namespace neuron::nrt {
namespace {

TEST(Loader, MandatorySymbolsResolveOptionalOnesMayBeNull) {
  const StatusOr<Library> library = LoadLibrary(Beside(RECORDING_NRT));
  ASSERT_TRUE(library.ok()) << library.status().ToString();
  EXPECT_NE(library->nrt_execute, nullptr);
  EXPECT_NE(library->nrt_get_vnc_memory_stats, nullptr);
  EXPECT_EQ(library->nrt_tensor_copy, nullptr);
  EXPECT_FALSE(library->emulated());
  EXPECT_FALSE(library->host_addressable_hbm());
  EXPECT_FALSE(library->device_time());
  EXPECT_EQ(library->VersionText(), "2.30.0.0 (recording)");
}

TEST(Loader, MissingFileIsNamed) {
  const StatusOr<Library> library = LoadLibrary("/nonexistent/libnrt.so.1");
  EXPECT_TRUE(IsNotFound(library.status()));
  EXPECT_NE(library.status().message().find("/nonexistent/libnrt.so.1"), std::string::npos);
}

TEST(Loader, ALibraryThatIsNoNrtIsRefusedWithWhatItLacks) {
  const StatusOr<Library> library = LoadLibrary("libm.so.6");
  EXPECT_TRUE(IsFailedPrecondition(library.status()));
  EXPECT_NE(library.status().message().find("nrt_execute"), std::string::npos);
}

// A machine with a device: libnrt.so.1 as the dynamic loader finds it, then from its package's
// directory, and never the emulator; one without: the emulator beside us, and never libnrt.
TEST(Loader, TheDeviceDecidesWhichLibrary) {
  const auto with = Candidates(true), without = Candidates(false);
  ASSERT_EQ(with.size(), 2u);
  EXPECT_EQ(with[0].path, "libnrt.so.1");
  EXPECT_EQ(with[1].path, "/opt/aws/neuron/lib/libnrt.so.1");
  ASSERT_FALSE(without.empty());
  EXPECT_EQ(without.back().path, "libnrt_emulator.so.1");
  for (const Candidate& candidate : with) EXPECT_EQ(candidate.reason, "/dev/neuron0 exists");
  for (const Candidate& candidate : without) {
    EXPECT_EQ(candidate.reason, "no /dev/neuron0");
    EXPECT_EQ(candidate.path.find("libnrt.so"), std::string::npos);
  }
}

// Run by the test below in a process whose dynamic loader finds a libnrt.so.1.
TEST(Loader, DISABLED_WithLibnrtOnTheLibraryPath) {
  const StatusOr<Library> library = LoadFirst(Candidates(true));
  ASSERT_TRUE(library.ok()) << library.status().ToString();
  EXPECT_EQ(library->chosen, "/dev/neuron0 exists");
  EXPECT_EQ(library->VersionText(), "2.30.0.0 (recording)");
  EXPECT_FALSE(library->emulated());
}

TEST(Loader, LibnrtIsFoundWhereTheDynamicLoaderLooks) {
  namespace fs = std::filesystem;
  const fs::path directory =
      fs::path(::testing::TempDir()) / ("libnrt_" + std::to_string(getpid()));
  fs::create_directories(directory);
  fs::create_symlink(Beside(RECORDING_NRT), directory / "libnrt.so.1");
  const std::string command = "LD_LIBRARY_PATH=" + directory.string() + " " +
                              fs::canonical("/proc/self/exe").string() +
                              " --gtest_also_run_disabled_tests "
                              "--gtest_filter=Loader.DISABLED_WithLibnrtOnTheLibraryPath";
  EXPECT_EQ(std::system(command.c_str()), 0);
  fs::remove_all(directory);
}

TEST(Loader, WithADeviceAndNoLibraryTheErrorNamesWhatWasTried) {
  const Status status =
      LoadFirst({{"/nonexistent/a.so", "x"}, {"/nonexistent/b.so", "y"}}).status();
  EXPECT_TRUE(IsNotFound(status));
  for (const char* words : {"/nonexistent/a.so", "/nonexistent/b.so", "TORCHNEURON_NRT_LIBRARY"})
    EXPECT_NE(status.message().find(words), std::string::npos) << status.ToString();
}

}  // namespace
}  // namespace neuron::nrt
