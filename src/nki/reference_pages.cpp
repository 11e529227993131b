#include <pybind11/stl.h>

#include <map>

#include "base/environment.h"
#include "isa/public_names.h"
#include "isa/reference_page.h"
#include "nki/bindings.h"

namespace neuron::nki {
namespace {

std::string EnvironmentPage() {
  std::string text =
      "<!-- Generated from src/base/environment.cpp; edit there, run `make generate`. -->\n"
      "# Environment variables\n\n"
      "Names that begin with `TORCHNEURON_` are ours alone; the others are the public ones of the "
      "Neuron SDK. A name that begins so and is not listed has no effect; it is reported once, "
      "with "
      "the\nnearest that is.\n\n| variable | type | default | meaning |\n|---|---|---|---|\n";
  for (const VariableRow& row : Variables())
    text += StrCat("| ", row.name, " | ", row.type, " | ", row.default_value, " | ", row.meaning,
                   " |\n");
  return text;
}

}  // namespace

void BindReferencePages(pybind11::module_& m) {
  // Path in the repository and text of each page that is made from tables of the C++ side.
  m.def("reference_pages", [] {
    return std::map<std::string, std::string>{
        {"docs/reference/environment.md", EnvironmentPage()},
        {"docs/reference/instruction_coverage.md", isa::CoveragePage()},
        {"docs/reference/isa.md", isa::ReferencePage()},
    };
  });
}

}  // namespace neuron::nki
