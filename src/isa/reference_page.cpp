#include "isa/reference_page.h"

#include "isa/instruction.h"

namespace neuron::isa {
namespace {

std::string Engines(const InstructionDef& row) {
  std::string text(EngineName(DefaultEngine(row)));
  for (int i = 1; i < kNumEngines; ++i) {
    const Engine engine = static_cast<Engine>(i);
    if ((row.engines & Bit(engine)) != 0 && engine != DefaultEngine(row))
      text += StrCat(", ", EngineName(engine));
  }
  return text;
}

std::string Memories(uint8_t mask) {
  std::string text;
  for (const auto& [memory, name] :
       {std::pair{Memory::kSbuf, "SBUF"}, std::pair{Memory::kPsum, "PSUM"},
        std::pair{Memory::kHbm, "HBM"}})
    if ((mask & static_cast<uint8_t>(memory)) != 0) text += StrCat(text.empty() ? "" : ", ", name);
  return text;
}

std::string DTypes(DTypeMask mask) {
  if (mask == 0) return "any";
  std::string text;
  for (int i = 1; i < 256; ++i) {
    const DType dtype = static_cast<DType>(i);
    const bool known = i < 56 || i >= 200;  // the numbers between share bits with those from 200 on
    if (known && ByteSize(dtype) != 0 && Contains(mask, dtype))
      text += StrCat(text.empty() ? "" : " ", DTypeName(dtype));
  }
  return text;
}

std::string_view KindText(OperandKind kind) {
  switch (kind) {
    case OperandKind::kTile:
      return "tile";
    case OperandKind::kNumber:
      return "number";
    case OperandKind::kInteger:
      return "integer";
    case OperandKind::kScalarOrTile:
      return "number, register or tile";
    case OperandKind::kAffine:
      return "register expression";
    case OperandKind::kRegister:
      return "register";
    case OperandKind::kAlu:
      return "ALU operator";
    case OperandKind::kActivation:
      return "activation function";
    case OperandKind::kFlag:
      return "flag";
    case OperandKind::kText:
      return "text";
    case OperandKind::kIntegers:
      return "integers";
    case OperandKind::kTiles:
      return "any number of tiles";
  }
  return "?";
}

std::string InstructionText(const InstructionDef& row) {
  std::string text = StrCat("\n### ", row.mnemonic, row.ours ? " (ours)" : "", "\n\n", row.summary,
                            "\n\n", row.doc, "\n\n");
  if (!row.operands.empty())
    text += "| operand | what | memories | dtypes | |\n|---|---|---|---|---|\n";
  for (const OperandDef& operand : row.operands) {
    const bool tile = operand.memories != 0;
    text += StrCat("| ", operand.name, operand.optional ? " (optional)" : "", " | ",
                   KindText(operand.kind),
                   operand.role == Role::kIn    ? ""
                   : operand.role == Role::kOut ? ", written"
                                                : ", read and written",
                   " | ", tile ? Memories(operand.memories) : "", " | ",
                   tile ? DTypes(operand.dtypes) : "", " | ", operand.doc, " |\n");
  }
  text += StrCat(row.operands.empty() ? "" : "\n", "Engines: ", Engines(row), ".");
  if (row.since != Target::kTrn2) text += StrCat(" From ", RowOf(row.since).name, " on.");
  if (!row.cost_doc.empty()) text += StrCat(" Cost: ", row.cost_doc, ".");
  return text + StrCat(" Source: ", row.source, ".\n");
}

}  // namespace

std::string ReferencePage() {
  std::string text =
      "<!-- Generated from the tables of src/isa; edit there, run `make generate`. -->\n"
      "# Instruction set\n\n"
      "What a NeuronCore program consists of. Granularity and names are those of the public "
      "`nki.isa`; rows\nmarked *ours* extend it. Costs are cycles of the executing engine "
      "(N: elements per partition, P:\npartitions); a tile is an access pattern over SBUF, PSUM or "
      "HBM. How numbers behave stands in\n`src/isa/operators.h`.\n\n"
      "## Targets\n\n| | ";
  for (const TargetRow& row : Targets()) text += StrCat(row.name, " | ");
  text += "\n|---|";
  for (size_t i = 0; i < Targets().size(); ++i) text += "---|";
  const auto line = [&text](std::string_view name, auto value) {
    text += StrCat("\n| ", name, " | ");
    for (const TargetRow& row : Targets()) text += StrCat(value(row), " | ");
  };
  line("physical cores", [](const TargetRow& r) { return r.physical_cores; });
  line("HBM of the chip, GiB", [](const TargetRow& r) { return r.hbm_bytes >> 30; });
  line("SBUF per partition, KiB",
       [](const TargetRow& r) { return r.sbuf_bytes_per_partition >> 10; });
  line("PSUM per partition, KiB",
       [](const TargetRow& r) { return r.psum_bytes_per_partition >> 10; });
  line("PSUM bank, bytes", [](const TargetRow& r) { return r.psum_bank_bytes; });
  line("moving columns of a matmul", [](const TargetRow& r) { return r.max_moving_free; });
  line("Tensor clock, GHz", [](const TargetRow& r) { return r.tensor_clock_hz / 1e9; });
  line("Vector clock, GHz", [](const TargetRow& r) { return r.vector_clock_hz / 1e9; });
  line("Scalar clock, GHz", [](const TargetRow& r) { return r.scalar_clock_hz / 1e9; });
  line("GpSimd clock, GHz", [](const TargetRow& r) { return r.gpsimd_clock_hz / 1e9; });
  line("HBM per core, GB/s",
       [](const TargetRow& r) { return r.hbm_bytes_per_second_per_core / 1e9; });
  line("DMA engines per core", [](const TargetRow& r) { return r.dma_engines_per_core; });
  line("DMA engine, GB/s",
       [](const TargetRow& r) { return r.dma_bytes_per_second_per_engine / 1e9; });
  text += "\n\n## Instructions\n";
  for (const InstructionDef* row : InstructionTable()) text += InstructionText(*row);
  text +=
      "\n## ALU operators\n\n| name | arity | kind | reduction | | source "
      "|\n|---|---|---|---|---|---|\n";
  for (const AluRow& row : AluRows())
    text += StrCat("| ", row.name, " | ", static_cast<int>(row.arity), " | ",
                   row.bitvec ? "bitvec" : "arithmetic", " | ", row.reduction ? "yes" : "", " | ",
                   row.ours ? "ours" : "", " | ", row.source, " |\n");
  text += "\n## Activation functions\n\n| name | | source |\n|---|---|---|\n";
  for (const ActivationRow& row : ActivationRows())
    text += StrCat("| ", row.name, " | ", row.ours ? "ours" : "", " | ", row.source, " |\n");
  return text;
}

}  // namespace neuron::isa
