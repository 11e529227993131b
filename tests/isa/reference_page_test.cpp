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

// Only the first line that differs: the pages are long.
void ExpectCurrent(const std::string& page, const std::string& generated) {
  std::istringstream committed(Committed(page)), wanted(generated);
  std::string a, b;
  for (int line = 1;; ++line) {
    const bool has_a = static_cast<bool>(std::getline(committed, a));
    const bool has_b = static_cast<bool>(std::getline(wanted, b));
    if (!has_a && !has_b) return;
    ASSERT_TRUE(has_a && has_b && a == b)
        << page << " is stale; run `make generate`. Line " << line << " is\n"
        << (has_a ? a : "(missing)") << "\ninstead of\n"
        << (has_b ? b : "(missing)");
  }
}

TEST(ReferencePage, TheCommittedPagesAreCurrent) {
  ExpectCurrent("isa.md", ReferencePage());
  ExpectCurrent("instruction_coverage.md", CoveragePage());
}

}  // namespace
}  // namespace neuron::isa
