// The container of a compiled program: isa's, with the signature as its metadata section.
#include "compiler/compiler.h"

namespace neuron::compiler {
namespace {

// One line per fact, words separated by blanks: readable in a dump, no quoting needed.
std::string ToText(const Signature& s) {
  std::ostringstream out;
  out << "signature 1\n";
  for (const Signature::Buffer& b : s.buffers)
    out << "buffer " << b.name << " " << b.bytes << " " << b.parameter << " " << b.output << " "
        << b.offset_slot << "\n";
  for (int64_t p : s.scalar_parameters) out << "scalar " << p << "\n";
  out << "slots " << s.first_scalar_slot << " " << s.num_slots << "\n";
  return std::move(out).str();
}

}  // namespace

std::string ToContainer(const CompiledProgram& compiled) {
  isa::Program program = compiled.program;
  program.metadata = ToText(compiled.signature);
  return isa::Encode(program);
}

StatusOr<Signature> ReadSignature(std::string_view container) {
  NEURON_ASSIGN_OR_RETURN(const isa::Program program, isa::Decode(container));
  std::istringstream in(program.metadata);
  std::string word;
  int version = 0;
  if (!(in >> word >> version) || word != "signature" || version != 1)
    return FailedPrecondition("container ", program.name,
                              " has no signature: it was not made by this compiler");
  Signature s;
  while (in >> word) {
    if (word == "buffer") {
      Signature::Buffer b;
      in >> b.name >> b.bytes >> b.parameter >> b.output >> b.offset_slot;
      s.buffers.push_back(std::move(b));
    } else if (word == "scalar") {
      int64_t p = 0;
      in >> p;
      s.scalar_parameters.push_back(p);
    } else if (word == "slots") {
      in >> s.first_scalar_slot >> s.num_slots;
    }
  }
  if (in.bad() || !in.eof()) return DataLoss("container ", program.name, ": its signature is cut");
  return s;
}

}  // namespace neuron::compiler
