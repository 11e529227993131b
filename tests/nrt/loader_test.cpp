#include "nrt/loader.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace neuron::nrt
