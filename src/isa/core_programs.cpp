#include "isa/core_programs.h"

#include "isa/container.h"

namespace neuron::isa {
namespace {
constexpr uint64_t kCoresMagic = 0x324e52554e544f54u;  // of container.h, one version up
constexpr size_t kSizesAt = 16;
}  // namespace

std::string EncodeCores(std::span<const Program> programs) {
  NEURON_CHECK(!programs.empty() && programs.size() <= kMaxCorePrograms,
               "programs of a logical core: ", programs.size());
  if (programs.size() == 1) return Encode(programs[0]);
  std::string bytes(kSizesAt + 8 * programs.size(), '\0');
  container::Put<uint64_t>(bytes, 0, kCoresMagic);
  container::Put<uint64_t>(bytes, 8, programs.size());
  for (size_t i = 0; i < programs.size(); ++i) {
    const std::string one = Encode(programs[i]);
    container::Put<uint64_t>(bytes, kSizesAt + 8 * i, one.size());
    bytes += one;
  }
  return bytes;
}

StatusOr<std::vector<Program>> DecodeCores(std::string_view bytes) {
  std::vector<Program> programs;
  if (bytes.size() < kSizesAt || container::Get<uint64_t>(bytes, 0) != kCoresMagic) {
    NEURON_ASSIGN_OR_RETURN(Program program, Decode(bytes));
    programs.push_back(std::move(program));
    return programs;
  }
  const uint64_t count = container::Get<uint64_t>(bytes, 8);
  if (count != kMaxCorePrograms || bytes.size() < kSizesAt + 8 * count)
    return DataLoss("container.cores: ", count, " programs, expected ", kMaxCorePrograms);
  size_t at = kSizesAt + 8 * count;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t size = container::Get<uint64_t>(bytes, kSizesAt + 8 * i);
    if (size > bytes.size() - at)
      return DataLoss("container.cores: program ", i, " has ", size, " bytes, ", bytes.size() - at,
                      " are left");
    NEURON_ASSIGN_OR_RETURN(Program program, Decode(bytes.substr(at, size)));
    programs.push_back(std::move(program));
    at += size;
  }
  if (at != bytes.size())
    return DataLoss("container.cores: ", bytes.size() - at, " bytes follow the programs");
  if (programs[0].target != programs[1].target)
    return DataLoss("container.cores: the programs are for different targets");
  return programs;
}

}  // namespace neuron::isa
