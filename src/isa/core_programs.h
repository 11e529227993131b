// The programs of a logical core: one for each of its physical cores (LNC 1 or 2), in one
// container.
//
// One program is the container of program.h as it is. Two stand back to back behind a header of
// their own, since each carries its own checksum:
//
//      0  u64   magic
//      8  u64   number of programs
//     16  u64   size of each, then the programs
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/program.h"

namespace neuron::isa {

inline constexpr size_t kMaxCorePrograms = 2;

std::string EncodeCores(std::span<const Program> programs);
// One or two programs for one target. Fails as Decode does.
StatusOr<std::vector<Program>> DecodeCores(std::string_view bytes);

}  // namespace neuron::isa
