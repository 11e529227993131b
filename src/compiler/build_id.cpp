// The build id that the linker stored in the object (shared library or program) holding this code.
#include <elf.h>
#include <link.h>

#include <cstring>

#include "compiler/compiler.h"

namespace neuron::compiler {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

size_t Aligned(size_t bytes) { return (bytes + 3) / 4 * 4; }

std::string NoteId(const char* note, size_t size) {
  size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) header;
    std::memcpy(&header, note + at, sizeof(header));
    const size_t name = at + sizeof(header);
    const size_t data = name + Aligned(header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(note + name, "GNU", 4) == 0) {
      std::string hex;
      for (size_t i = 0; i < header.n_descsz; ++i) {
        const auto byte = static_cast<unsigned char>(note[data + i]);
        hex += "0123456789abcdef"[byte >> 4];
        hex += "0123456789abcdef"[byte & 15];
      }
      return hex;
    }
    at = data + Aligned(header.n_descsz);
  }
  return "";
}

int Visit(dl_phdr_info* object, size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  bool ours = false;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr) & p = object->dlpi_phdr[i];
    const uintptr_t begin = object->dlpi_addr + p.p_vaddr;
    ours |= p.p_type == PT_LOAD && search->address >= begin && search->address < begin + p.p_memsz;
  }
  if (!ours) return 0;
  for (int i = 0; i < object->dlpi_phnum && search->id.empty(); ++i) {
    const ElfW(Phdr) & p = object->dlpi_phdr[i];
    if (p.p_type != PT_NOTE) continue;
    // NOLINTNEXTLINE(*-reinterpret-cast,*-no-int-to-ptr): notes are read from the mapped object
    search->id = NoteId(reinterpret_cast<const char*>(object->dlpi_addr + p.p_vaddr), p.p_memsz);
  }
  return 1;
}

}  // namespace

std::string BuildId() {
  static const std::string id = [] {
    Search search;
    // NOLINTNEXTLINE(*-reinterpret-cast): an address inside this object
    search.address = reinterpret_cast<uintptr_t>(&Compile);
    dl_iterate_phdr(Visit, &search);
    NEURON_CHECK(!search.id.empty(), "linked without --build-id: cache keys would not change");
    return search.id;
  }();
  return id;
}

}  // namespace neuron::compiler
