#include "nrt/loader.h"

#include <dlfcn.h>
#include <string.h>  // NOLINT(modernize-deprecated-headers): strnlen is POSIX, not C++
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/environment.h"
#include "nrt/status_table.h"

namespace neuron::nrt {
namespace {

constexpr char kHardwareLibrary[] = "libnrt.so.1";
constexpr char kHardwareDirectory[] = "/opt/aws/neuron/lib";  // the package's, not on every path
constexpr char kEmulatorLibrary[] = "libnrt_emulator.so.1";

// The directory of the shared library (or program) that contains this function.
std::filesystem::path OwnDirectory() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&OwnDirectory), &info) == 0 || !info.dli_fname)
    return {};
  std::error_code error;
  const auto path = std::filesystem::canonical(info.dli_fname, error);
  return error ? std::filesystem::path() : path.parent_path();
}

std::string PathOf(const void* symbol, const std::string& otherwise) {
  Dl_info info{};
  return dladdr(symbol, &info) != 0 && info.dli_fname ? info.dli_fname : otherwise;
}

StatusOr<const Library*> Load() {
  const std::optional<std::string> named = Read(Variable::kNrtLibrary);
  NEURON_ASSIGN_OR_RETURN(
      Library library,
      LoadFirst(
          named ? std::vector<Candidate>{{*named, std::string(RowOf(Variable::kNrtLibrary).name)}}
                : Candidates(access("/dev/neuron0", F_OK) == 0)));
  return new Library(std::move(library));  // for the life of the process
}

}  // namespace

std::vector<Candidate> Candidates(bool device) {
  if (device) {
    return {{kHardwareLibrary, "/dev/neuron0 exists"},
            {std::string(kHardwareDirectory) + "/" + kHardwareLibrary, "/dev/neuron0 exists"}};
  }
  std::vector<Candidate> candidates;
  if (const std::filesystem::path own = OwnDirectory(); !own.empty()) {
    for (const auto& directory : {own, own / "lib", own.parent_path() / "lib"}) {
      const auto file = directory / kEmulatorLibrary;
      std::error_code error;
      if (std::filesystem::exists(file, error)) candidates.push_back({file, "no /dev/neuron0"});
    }
  }
  candidates.push_back({kEmulatorLibrary, "no /dev/neuron0"});
  return candidates;
}

StatusOr<Library> LoadFirst(const std::vector<Candidate>& candidates) {
  std::string tried;
  for (const Candidate& candidate : candidates) {
    StatusOr<Library> library = LoadLibrary(candidate.path);
    if (library.ok()) {
      library->chosen = candidate.reason;
      return library;
    }
    tried += StrCat("\n  ", library.status().message());
  }
  return NotFound("no NRT library can be loaded; set ", RowOf(Variable::kNrtLibrary).name,
                  " to the path of libnrt.so.1 or libnrt_emulator.so.1. Tried:", tried);
}

StatusOr<Library> LoadLibrary(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return NotFound(path, ": ", dlerror());
  Library library;
  std::string missing;
#define NEURON_NRT_RESOLVE(name) \
  library.name = reinterpret_cast<decltype(library.name)>(dlsym(handle, #name));
#define NEURON_NRT_REQUIRE(name) \
  NEURON_NRT_RESOLVE(name)       \
  if (library.name == nullptr) missing += " " #name;
  NEURON_NRT_MANDATORY(NEURON_NRT_REQUIRE)
  NEURON_NRT_OPTIONAL(NEURON_NRT_RESOLVE)
  NEURON_NRT_BEYOND(NEURON_NRT_RESOLVE)
#undef NEURON_NRT_REQUIRE
#undef NEURON_NRT_RESOLVE
  if (!missing.empty())
    return FailedPrecondition(path, " is no usable NRT library; it lacks", missing);
  library.path = PathOf(reinterpret_cast<const void*>(library.nrt_init), path);
  NEURON_RETURN_IF_ERROR(
      ToStatus(library.nrt_get_version(&library.version, sizeof(library.version)),
               StrCat(path, ": nrt_get_version")));
  if (library.nrt_emulator_capabilities) library.capabilities = library.nrt_emulator_capabilities();
  return library;
}

const StatusOr<const Library*>& GetLibrary() {
  static const auto& library = *new StatusOr<const Library*>(Load());
  return library;
}

Status Library::Explain(NRT_STATUS status, std::string_view call) const {
  Status plain = ToStatus(status, call);
  const char* reason = nrt_emulator_last_error ? nrt_emulator_last_error() : "";
  return *reason == '\0' ? plain : Status(plain.code(), StrCat(plain.message(), ": ", reason));
}

std::string Library::VersionText() const {
  const std::string detail(version.rt_detail,
                           strnlen(version.rt_detail, sizeof(version.rt_detail)));
  return StrCat(version.rt_major, ".", version.rt_minor, ".", version.rt_patch, ".",
                version.rt_maintenance, detail.empty() ? "" : " (" + detail + ")");
}

}  // namespace neuron::nrt
