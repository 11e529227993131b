#include "nrt/status_table.h"

#include <gtest/gtest.h>

namespace neuron::nrt {
namespace {

TEST(StatusTable, NamesNumberAndCallStandInTheMessage) {
  const Status status = ToStatus(NRT_RESOURCE, "nrt_tensor_allocate");
  EXPECT_TRUE(IsResourceExhausted(status));
  EXPECT_NE(status.message().find("nrt_tensor_allocate: NRT_RESOURCE (4)"), std::string::npos);
}

TEST(StatusTable, UnknownNumbersAreKept) {
  const Status status = ToStatus(static_cast<NRT_STATUS>(4242), "nrt_execute");
  EXPECT_TRUE(IsInternal(status));
  EXPECT_NE(status.message().find("4242"), std::string::npos);
}

TEST(StatusTable, SuccessIsOkBothWays) {
  EXPECT_TRUE(ToStatus(NRT_SUCCESS, "nrt_init").ok());
  EXPECT_EQ(FromStatus(OkStatus()), NRT_SUCCESS);
}

TEST(StatusTable, ForeignProgramsAnswerUnsupportedVersion) {
  EXPECT_EQ(FromStatus(Unimplemented("x")), NRT_UNSUPPORTED_NEFF_VERSION);
  EXPECT_EQ(FromStatus(ResourceExhausted("x")), NRT_RESOURCE);
  EXPECT_EQ(FromStatus(InvalidHandle("x")), NRT_INVALID_HANDLE);
}

}  // namespace
}  // namespace neuron::nrt
