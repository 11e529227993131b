// XLA's HLO text. Layouts are left out: they are always row major, which is what XLA's parser
// assumes.
#include <charconv>
#include <cmath>

#include "hlo/module.h"
#include "hlo/text_attributes.h"

namespace neuron::hlo {
namespace {

void AppendNumber(std::string& out, double value, bool single) {
  if (std::isnan(value)) {
    out += std::signbit(value) ? "-nan" : "nan";
    return;
  }
  if (std::isinf(value)) {
    out += value < 0 ? "-inf" : "inf";
    return;
  }
  char buffer[32];  // the shortest text that reads back as the same value
  const auto end = single ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value))
                          : std::to_chars(buffer, buffer + sizeof buffer, value);
  out.append(buffer, end.ptr);
}

void AppendElement(std::string& out, const Literal& literal, int64_t index) {
  const DType dtype = literal.shape().dtype;
  if (dtype == DType::kPred) {
    out += literal.AsInt64(index) ? "true" : "false";
  } else if (dtype == DType::kU64) {
    out += std::to_string(static_cast<uint64_t>(literal.AsInt64(index)));
  } else if (IsInteger(dtype)) {
    out += std::to_string(literal.AsInt64(index));
  } else if (IsComplex(dtype)) {
    const Literal parts(Shape::Array(dtype == DType::kC64 ? DType::kF32 : DType::kF64, {2}),
                        literal.bytes().substr(static_cast<size_t>(index * ByteSize(dtype)),
                                               static_cast<size_t>(ByteSize(dtype))));
    out += "(";
    AppendNumber(out, parts.AsDouble(0), dtype == DType::kC64);
    out += ", ";
    AppendNumber(out, parts.AsDouble(1), dtype == DType::kC64);
    out += ")";
  } else {
    AppendNumber(out, literal.AsDouble(index), dtype != DType::kF64);
  }
}

// Nested braces, one level per dimension; none for a scalar.
void AppendElements(std::string& out, const Literal& literal, size_t dimension, int64_t& next) {
  const std::vector<int64_t>& dims = literal.shape().dims;
  if (dimension == dims.size()) {
    AppendElement(out, literal, next++);
    return;
  }
  out += "{";
  for (int64_t i = 0; i < dims[dimension]; ++i) {
    if (i != 0) out += ", ";
    AppendElements(out, literal, dimension + 1, next);
  }
  out += "}";
}

std::string ArgumentText(const Instruction& i) {
  std::string out;
  if (i.opcode() == Opcode::kParameter) return std::to_string(i.attributes().parameter_number);
  if (i.opcode() == Opcode::kConstant) {
    int64_t next = 0;
    AppendElements(out, i.attributes().literal, 0, next);
    return out;
  }
  for (const Instruction* operand : i.operands()) {
    if (!out.empty()) out += ", ";
    out += operand->name();
  }
  return out;
}

// Text between quotes, as C escapes it.
std::string Quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + "\"";
}

void AppendInstruction(std::string& out, const Instruction& i, bool is_root, bool with_metadata) {
  out += is_root ? "  ROOT " : "  ";
  out += i.name() + " = " + i.shape().ToString() + " " + std::string(OpcodeName(i.opcode())) + "(" +
         ArgumentText(i) + ")";
  for (const std::string& attribute : AttributeTexts(i)) out += ", " + attribute;
  if (with_metadata && !i.metadata().empty())
    out += ", metadata={op_name=" + Quote(i.metadata()) + "}";
  out += "\n";
}

std::string AliasText(const Module& module) {
  std::string out;
  const bool tuple = module.entry()->root()->shape().is_tuple();
  for (const InputOutputAlias& alias : module.aliases()) {
    out += out.empty() ? ", input_output_alias={ " : ", ";
    out += tuple ? "{" + std::to_string(alias.output) + "}" : "{}";
    out += ": (" + std::to_string(alias.parameter) + ", {}, may-alias)";
  }
  return out.empty() ? out : out + " }";
}

}  // namespace

std::string Module::ToText(bool with_metadata) const {
  std::string out = "HloModule " + name_;
  if (entry_ == nullptr) return out + "\n";
  if (entry_->root() != nullptr) out += AliasText(*this);
  out += "\n";
  for (const Computation* c : PostOrder()) {
    out += c == entry_ ? "\nENTRY " : "\n";
    out += c->name() + " {\n";
    for (const auto& i : c->instructions())
      AppendInstruction(out, *i, i.get() == c->root(), with_metadata);
    out += "}\n";
  }
  return out;
}

}  // namespace neuron::hlo
