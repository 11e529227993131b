// The instructions of the public nki.isa, as a list of its own: what the table is measured against.
// A test demands that each has a row, semantics in the emulator and a function in Python.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace neuron::isa {

struct PublicName {
  std::string_view name;      // nki.isa.<name>
  std::string_view mnemonic;  // of the row that stands behind it
  std::string_view engines;   // as documented
  std::string_view since;     // NKI version that first lists it
};

inline constexpr std::string_view kPublicNamesSource =
    "AWS Neuron documentation, NKI API reference, nki.isa (NKI 0.7, SDK 2.33)";

std::span<const PublicName> PublicNames();

// docs/reference/instruction_coverage.md.
std::string CoveragePage();

}  // namespace neuron::isa
