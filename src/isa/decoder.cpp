#include <array>
#include <bit>

#include "isa/container.h"
#include "isa/program.h"

namespace neuron::isa {
namespace {

using container::OperandTag;
using container::Reader;
using container::Section;

Affine ReadAffine(Reader& in) {
  Affine affine(in.Signed());
  affine.num_terms = in.Bounded<uint8_t>(Affine::kMaxTerms);
  for (int i = 0; i < affine.num_terms; ++i) {
    affine.terms[i].reg = in.Bounded<Register>(kNoRegister);
    affine.terms[i].coefficient = in.Signed();
  }
  return affine;
}

Count ReadCount(Reader& in) {
  const int64_t max = in.Signed();
  if (max < INT32_MIN || max > INT32_MAX) in.Fail();
  Count count(in.ok() ? max : 0);
  count.reg = in.Bounded<Register>(kNoRegister);
  return count;
}

Register ReadStepRegister(Reader& in) {
  return static_cast<Register>(in.Bounded<Register>(UINT16_MAX) - 1);
}

AccessPattern ReadTile(Reader& in) {
  AccessPattern tile;
  tile.memory = in.Bounded<Memory>(static_cast<uint64_t>(Memory::kHbm));
  if (tile.memory != Memory::kSbuf && tile.memory != Memory::kPsum && tile.memory != Memory::kHbm) {
    in.Fail();
    tile.memory = Memory::kSbuf;
  }
  tile.dtype = in.Bounded<DType>(UINT8_MAX);
  if (ByteSize(tile.dtype) == 0) in.Fail();
  tile.tensor = in.Bounded<uint16_t>(UINT16_MAX);
  tile.offset = ReadAffine(in);
  tile.start_partition = in.Bounded<uint8_t>(UINT8_MAX);
  tile.partitions = ReadCount(in);
  tile.partition_step = in.Signed();
  tile.partition_step_from = ReadStepRegister(in);
  tile.num_dims = in.Bounded<uint8_t>(AccessPattern::kMaxDims);
  for (int i = 0; i < tile.num_dims; ++i) {
    tile.dims[i].step = in.Signed();
    tile.dims[i].count = ReadCount(in);
    tile.dims[i].step_from = ReadStepRegister(in);
  }
  return tile;
}

Operand ReadOperand(Reader& in) {
  switch (in.Bounded<OperandTag>(static_cast<uint64_t>(OperandTag::kIntegers))) {
    case OperandTag::kNone:
      return std::monostate();
    case OperandTag::kTile:
      return ReadTile(in);
    case OperandTag::kNumber:
      return std::bit_cast<double>(in.Unsigned());
    case OperandTag::kInteger:
      return in.Signed();
    case OperandTag::kRegister:
      return RegisterOperand{in.Bounded<Register>(kNoRegister)};
    case OperandTag::kAffine:
      return ReadAffine(in);
    case OperandTag::kAlu:
      return in.Bounded<AluOp>(AluRows().size() - 1);
    case OperandTag::kActivation:
      return in.Bounded<ActivationFunction>(ActivationRows().size() - 1);
    case OperandTag::kText:
      return std::string(in.Bytes());
    case OperandTag::kIntegers: {
      std::vector<int64_t> values(in.Count());
      for (int64_t& value : values) value = in.Signed();
      return values;
    }
  }
  in.Fail();
  return std::monostate();
}

std::vector<SemaphoreUse> ReadSemaphores(Reader& in) {
  std::vector<SemaphoreUse> uses(in.Count());
  for (SemaphoreUse& use : uses) {
    use.semaphore = in.Bounded<uint16_t>(UINT16_MAX);
    use.value = static_cast<int32_t>(in.Signed());
  }
  return uses;
}

Instruction ReadInstruction(Reader& in) {
  Instruction instruction;
  instruction.opcode = in.Bounded<Opcode>(InstructionTable().size() - 1);
  instruction.engine = in.Bounded<Engine>(kNumEngines - 1);
  instruction.source = in.Bounded<uint32_t>(UINT32_MAX);
  instruction.waits = ReadSemaphores(in);
  instruction.updates = ReadSemaphores(in);
  const size_t count = in.Count();
  instruction.operands.reserve(std::min<size_t>(count, 16));
  for (size_t i = 0; i < count && in.ok(); ++i) instruction.operands.push_back(ReadOperand(in));
  return instruction;
}

TensorDecl ReadTensor(Reader& in) {
  TensorDecl tensor;
  tensor.name = in.Bytes();
  tensor.kind = in.Bounded<TensorKind>(static_cast<uint64_t>(TensorKind::kScratch));
  tensor.bytes = in.Signed();
  tensor.byte_offset = in.Bounded<Register>(kNoRegister);
  tensor.constant = in.Bounded<uint32_t>(UINT32_MAX);
  return tensor;
}

RegisterDecl ReadRegister(Reader& in) {
  RegisterDecl decl;
  decl.min = in.Signed();
  decl.max = in.Signed();
  const int64_t slot = in.Signed();
  if (slot < -1 || slot > INT32_MAX - 1) in.Fail();
  decl.scalar_slot = static_cast<int32_t>(slot);
  return decl;
}

// A section that is a count and that many items.
template <typename T, typename Read>
Status ReadAll(std::string_view section, std::string_view what, std::vector<T>& items, Read read) {
  Reader in(section);
  const size_t count = in.Count();
  items.clear();
  for (size_t i = 0; i < count && in.ok(); ++i) items.push_back(read(in));
  if (!in.AtEnd()) return DataLoss("container.section: the ", what, " section is malformed");
  return OkStatus();
}

using SectionTable = std::array<std::string_view, container::kNumSections + 1>;

StatusOr<SectionTable> ReadHeader(std::string_view bytes) {
  using namespace container;  // NOLINT(google-build-using-namespace): field positions
  if (bytes.size() < kHeaderBytes)
    return DataLoss("container.size: ", bytes.size(), " bytes, a program has at least the ",
                    kHeaderBytes, " of its header");
  if (Get<uint64_t>(bytes, 0) != kMagic) {
    if (Get<uint64_t>(bytes, 0) < 0x10000 && Get<uint64_t>(bytes, kHeaderSizeAt) == kHeaderBytes)
      return FailedPrecondition(
          "container.neff: this is a NEFF of neuronx-cc; its instructions run on the chip only. "
          "Compile the model with torchneuron's compiler for the emulator");
    return DataLoss("container.magic: this is no torchneuron program");
  }
  if (Get<uint64_t>(bytes, kVersionAt) != kFormatVersion)
    return FailedPrecondition("container.version: format ", Get<uint64_t>(bytes, kVersionAt),
                              ", this build reads ", kFormatVersion, "; compile again");
  const size_t data_size = bytes.size() - kHeaderBytes;
  if (Get<uint64_t>(bytes, kDataSizeAt) != data_size)
    return DataLoss("container.size: the header announces ", Get<uint64_t>(bytes, kDataSizeAt),
                    " bytes of data, the container has ", data_size);
  if (Get<uint64_t>(bytes, kChecksumAt) != Checksum(bytes))
    return DataLoss("container.checksum: the program is damaged; compile again");
  if (Get<uint64_t>(bytes, kTableHashAt) != InstructionTableHash())
    return FailedPrecondition(
        "container.table: the program was made with another instruction table; compile again");
  SectionTable sections;
  if (Get<uint32_t>(bytes, kSectionsAt) != kNumSections)
    return DataLoss("container.section: ", Get<uint32_t>(bytes, kSectionsAt),
                    " sections, expected ", kNumSections);
  for (uint32_t i = 0; i < kNumSections; ++i) {
    const size_t entry = kSectionsAt + 4 + i * kSectionEntryBytes;
    const uint32_t id = Get<uint32_t>(bytes, entry);
    const uint64_t offset = Get<uint64_t>(bytes, entry + 4);
    const uint64_t size = Get<uint64_t>(bytes, entry + 12);
    if (id == 0 || id > kNumSections || offset > data_size || size > data_size - offset)
      return DataLoss("container.section: entry ", i, " points outside the container");
    sections[id] = bytes.substr(kHeaderBytes + offset, size);
  }
  return sections;
}

}  // namespace

StatusOr<Program> Decode(std::string_view bytes) {
  NEURON_ASSIGN_OR_RETURN(const SectionTable sections, ReadHeader(bytes));
  const auto section = [&](Section id) { return sections[static_cast<size_t>(id)]; };
  const auto text = [](Reader& in) { return std::string(in.Bytes()); };
  Program program;
  const std::string_view target = bytes.substr(container::kTargetAt, container::kTargetBytes);
  const auto known = TargetFromName(target.substr(0, target.find('\0')));
  if (!known) return DataLoss("container.target: the program is for no known target");
  program.target = *known;
  program.name = section(Section::kName);
  program.metadata = section(Section::kMetadata);
  NEURON_RETURN_IF_ERROR(
      ReadAll(section(Section::kTensors), "tensor", program.tensors, ReadTensor));
  NEURON_RETURN_IF_ERROR(
      ReadAll(section(Section::kRegisters), "register", program.registers, ReadRegister));
  NEURON_RETURN_IF_ERROR(
      ReadAll(section(Section::kConstants), "constant", program.constants, text));
  NEURON_RETURN_IF_ERROR(ReadAll(section(Section::kInstructions), "instruction",
                                 program.instructions, ReadInstruction));
  NEURON_RETURN_IF_ERROR(ReadAll(section(Section::kSources), "source", program.sources, text));
  NEURON_RETURN_IF_ERROR(Verify(program));
  return program;
}

}  // namespace neuron::isa
