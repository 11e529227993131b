#include <bit>

#include "isa/container.h"
#include "isa/program.h"

namespace neuron::isa {
namespace container {

uint64_t Checksum(std::string_view bytes) {
  uint64_t hash = 0x9e3779b97f4a7c15u ^ bytes.size();
  const auto mix = [&hash](uint64_t word) {
    hash = (hash ^ word) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 32;
  };
  size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    uint64_t word = Get<uint64_t>(bytes, at);
    // The field is no multiple of 8: it lies in the upper half of one word, the lower of the next.
    if (at == kChecksumAt - 4) word &= 0xffffffffu;
    if (at == kChecksumAt + 4) word &= ~uint64_t{0xffffffffu};
    mix(word);
  }
  uint64_t rest = 0;
  for (; at < bytes.size(); ++at) rest = rest << 8 | static_cast<uint8_t>(bytes[at]);
  mix(rest);
  return hash;
}

}  // namespace container
namespace {

using container::OperandTag;
using container::Section;
using container::Writer;

void Write(Writer& out, const Affine& affine) {
  out.Signed(affine.base);
  out.Unsigned(affine.num_terms);
  for (int i = 0; i < affine.num_terms; ++i) {
    out.Unsigned(affine.terms[i].reg);
    out.Signed(affine.terms[i].coefficient);
  }
}

void Write(Writer& out, const Count& count) {
  out.Signed(count.max);
  out.Unsigned(count.reg);
}

// One byte where there is none.
void WriteStepRegister(Writer& out, Register from) {
  out.Unsigned(static_cast<Register>(from + 1));
}

void Write(Writer& out, const AccessPattern& tile) {
  out.Unsigned(static_cast<uint64_t>(tile.memory));
  out.Unsigned(static_cast<uint64_t>(tile.dtype));
  out.Unsigned(tile.tensor);
  Write(out, tile.offset);
  out.Unsigned(tile.start_partition);
  Write(out, tile.partitions);
  out.Signed(tile.partition_step);
  WriteStepRegister(out, tile.partition_step_from);
  out.Unsigned(tile.num_dims);
  for (int i = 0; i < tile.num_dims; ++i) {
    out.Signed(tile.dims[i].step);
    Write(out, tile.dims[i].count);
    WriteStepRegister(out, tile.dims[i].step_from);
  }
}

struct WriteOperand {
  Writer& out;
  void Tag(OperandTag tag) const { out.Unsigned(static_cast<uint64_t>(tag)); }

  void operator()(std::monostate) const { Tag(OperandTag::kNone); }
  void operator()(const AccessPattern& tile) const {
    Tag(OperandTag::kTile);
    Write(out, tile);
  }
  void operator()(double value) const {
    Tag(OperandTag::kNumber);
    out.Unsigned(std::bit_cast<uint64_t>(value));
  }
  void operator()(int64_t value) const {
    Tag(OperandTag::kInteger);
    out.Signed(value);
  }
  void operator()(const RegisterOperand& value) const {
    Tag(OperandTag::kRegister);
    out.Unsigned(value.reg);
  }
  void operator()(const Affine& value) const {
    Tag(OperandTag::kAffine);
    Write(out, value);
  }
  void operator()(AluOp op) const {
    Tag(OperandTag::kAlu);
    out.Unsigned(static_cast<uint64_t>(op));
  }
  void operator()(ActivationFunction op) const {
    Tag(OperandTag::kActivation);
    out.Unsigned(static_cast<uint64_t>(op));
  }
  void operator()(const std::string& text) const {
    Tag(OperandTag::kText);
    out.Bytes(text);
  }
  void operator()(const std::vector<int64_t>& values) const {
    Tag(OperandTag::kIntegers);
    out.Unsigned(values.size());
    for (const int64_t value : values) out.Signed(value);
  }
};

void Write(Writer& out, const std::vector<SemaphoreUse>& uses) {
  out.Unsigned(uses.size());
  for (const SemaphoreUse& use : uses) {
    out.Unsigned(use.semaphore);
    out.Signed(use.value);
  }
}

std::string Tensors(const Program& program) {
  Writer out;
  out.Unsigned(program.tensors.size());
  for (const TensorDecl& tensor : program.tensors) {
    out.Bytes(tensor.name);
    out.Unsigned(static_cast<uint64_t>(tensor.kind));
    out.Signed(tensor.bytes);
    out.Unsigned(tensor.byte_offset);
    out.Unsigned(tensor.constant);
  }
  return std::move(out).Take();
}

std::string Registers(const Program& program) {
  Writer out;
  out.Unsigned(program.registers.size());
  for (const RegisterDecl& decl : program.registers) {
    out.Signed(decl.min);
    out.Signed(decl.max);
    out.Signed(decl.scalar_slot);
  }
  return std::move(out).Take();
}

std::string Strings(const std::vector<std::string>& strings) {
  Writer out;
  out.Unsigned(strings.size());
  for (const std::string& text : strings) out.Bytes(text);
  return std::move(out).Take();
}

std::string Instructions(const Program& program) {
  Writer out;
  out.Unsigned(program.instructions.size());
  for (const Instruction& instruction : program.instructions) {
    out.Unsigned(static_cast<uint64_t>(instruction.opcode));
    out.Unsigned(static_cast<uint64_t>(instruction.engine));
    out.Unsigned(instruction.source);
    Write(out, instruction.waits);
    Write(out, instruction.updates);
    out.Unsigned(instruction.operands.size());
    for (const Operand& operand : instruction.operands) std::visit(WriteOperand{out}, operand);
  }
  return std::move(out).Take();
}

}  // namespace

std::string Encode(const Program& program) {
  using namespace container;  // NOLINT(google-build-using-namespace): field positions
  const std::pair<Section, std::string> sections[] = {
      {Section::kName, program.name},
      {Section::kTensors, Tensors(program)},
      {Section::kRegisters, Registers(program)},
      {Section::kConstants, Strings(program.constants)},
      {Section::kInstructions, Instructions(program)},
      {Section::kSources, Strings(program.sources)},
      {Section::kMetadata, program.metadata},
  };
  static_assert(std::size(sections) == kNumSections);
  std::string bytes(kHeaderBytes, '\0');
  Put<uint32_t>(bytes, kSectionsAt, kNumSections);
  size_t entry = kSectionsAt + 4;
  for (const auto& [section, data] : sections) {
    Put<uint32_t>(bytes, entry, static_cast<uint32_t>(section));
    Put<uint64_t>(bytes, entry + 4, bytes.size() - kHeaderBytes);
    Put<uint64_t>(bytes, entry + 12, data.size());
    entry += kSectionEntryBytes;
    bytes += data;
  }
  Put<uint64_t>(bytes, 0, kMagic);
  Put<uint64_t>(bytes, kHeaderSizeAt, kHeaderBytes);
  Put<uint64_t>(bytes, kDataSizeAt, bytes.size() - kHeaderBytes);
  Put<uint64_t>(bytes, kVersionAt, kFormatVersion);
  Put<uint32_t>(bytes, kCoresAt, 1);
  Put<uint64_t>(bytes, kTableHashAt, InstructionTableHash());
  const std::string_view target = RowOf(program.target).name;
  bytes.replace(kTargetAt, target.size(), target);
  const std::string name = program.name.substr(0, kNameBytes - 1);
  bytes.replace(kNameAt, name.size(), name);
  Put<uint64_t>(bytes, kChecksumAt, Checksum(bytes));
  return bytes;
}

}  // namespace neuron::isa
