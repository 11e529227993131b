#include "lowering/reference_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace neuron::lowering {
namespace {

TEST(ReferencePage, TheCommittedPageIsCurrent) {
  std::ifstream file(NEURON_SOURCE_DIR "/docs/reference/operators.md");
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(committed.str(), ReferencePage())
      << "docs/reference/operators.md is stale; run `make generate` (or neuron_lowering_doc)";
}

}  // namespace
}  // namespace neuron::lowering
