#include "lowering/reference_page.h"

#include <sstream>
#include <string_view>

#include "lowering/rows.h"

namespace neuron::lowering {
namespace {

std::string_view NativeText(Native native) {
  switch (native) {
    case Native::kNone:
      return "none";
    case Native::kReal32:
      return "real, up to 32 bits";
    case Native::kFloating:
      return "f32, bf16, f16";
    case Native::kAny:
      return "all";
  }
  return "";
}

std::string Notes(const Row& row) {
  std::string notes;
  const auto add = [&](std::string_view note) {
    if (!notes.empty()) notes += ", ";
    notes += note;
  };
  if (row.flags & kView) add("view");
  if (row.flags & kDataDependent) add("size depends on data");
  if (row.flags & kGraphOnly) add("in graphs");
  if (row.flags & kRandom) add("random");
  if (row.mutates != 0) add("overwrites");
  if (row.run_time_scalars != 0) add("run-time scalars");
  return notes;
}

void Family(std::ostream& out, std::string_view name, std::span<const Row> rows) {
  out << "\n## " << name << "\n\n| overload | without GpSimd kernel | notes |\n|---|---|---|\n";
  for (const Row& row : rows) {
    out << "| `" << row.overload << "` | " << NativeText(row.native) << " | " << Notes(row)
        << " |\n";
  }
}

}  // namespace

std::string ReferencePage() {
  std::ostringstream out;
  out << "<!-- Generated from src/lowering; edit there, run `make generate`. -->\n# Operators\n\n"
      << Rows().size()
      << " ATen overloads run on the device, eagerly and in compiled graphs alike. In-place and\n"
         "`out=` forms follow from the functional overload; composite operators (`linear`,\n"
         "`cross_entropy`, ...) decompose into these. Everything else runs on the CPU and is "
         "listed "
         "by\n`torch_neuronx.get_fallback_ops()`.\n\n"
         "The second column names the dtypes whose programs use the Tensor, Vector, Scalar and "
         "DMA\n"
         "engines only; 64-bit and complex arithmetic, sorting, random bits and irregular "
         "indexing\n"
         "run in GpSimd kernels. *View*: an alias in eager, lowered in graphs. *In graphs*: eager "
         "keeps\nPyTorch's own kernel. *Run-time scalars*: numbers that are no part of the "
         "compiled "
         "program.\n";
#define V(name) Family(out, #name, k##name##Rows);
  NEURON_LOWERING_FAMILIES(V)
#undef V
  return std::move(out).str();
}

}  // namespace neuron::lowering
