#include "base/unknown_variables.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace neuron {
namespace {

TEST(UnknownVariables, NamesTheNearestKnownOne) {
  setenv("TORCHNEURON_HBM_BITES", "1", 1);
  setenv("TORCHNEURON_GUARD", "0", 1);
  setenv("SOMETHING_TORCHNEURON_GARD", "0", 1);
  const std::vector<UnknownVariable> unknown = UnknownVariables();
  ASSERT_EQ(unknown.size(), 1u);
  EXPECT_EQ(unknown[0].name, "TORCHNEURON_HBM_BITES");
  EXPECT_EQ(unknown[0].nearest, "TORCHNEURON_HBM_BYTES");
  unsetenv("TORCHNEURON_HBM_BITES");
  unsetenv("TORCHNEURON_GUARD");
  EXPECT_TRUE(UnknownVariables().empty());
}

}  // namespace
}  // namespace neuron
