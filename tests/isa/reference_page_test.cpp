#include "isa/reference_page.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "isa/public_names.h"

namespace neuron::isa {
namespace {

std::string Committed(const std::string& page) {
  std::ifstream file(NEURON_SOURCE_DIR "/docs/reference/" + page);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(ReferencePage, TheCommittedPagesAreCurrent) {
  EXPECT_EQ(Committed("isa.md"), ReferencePage()) << "isa.md is stale; run `make generate`";
  EXPECT_EQ(Committed("instruction_coverage.md"), CoveragePage())
      << "instruction_coverage.md is stale; run `make generate`";
}

}  // namespace
}  // namespace neuron::isa
