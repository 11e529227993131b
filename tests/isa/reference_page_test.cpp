#include "isa/reference_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace neuron::isa {
namespace {

TEST(ReferencePage, TheCommittedPageIsCurrent) {
  std::ifstream file(NEURON_SOURCE_DIR "/docs/reference/isa.md");
  std::stringstream committed;
  committed << file.rdbuf();
  EXPECT_EQ(committed.str(), ReferencePage())
      << "docs/reference/isa.md is stale; run `make generate` (or neuron_isa_doc)";
}

}  // namespace
}  // namespace neuron::isa
