#include "nki/operand_conversion.h"

#include <pybind11/stl.h>

namespace neuron::nki {

namespace py = pybind11;
using isa::OperandKind;

namespace {

// bool is an int in Python, and NumPy's integers are not: __index__ covers both.
bool IsInteger(py::handle value) { return PyIndex_Check(value.ptr()) != 0; }

int64_t Integer(py::handle value) {
  return py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr())).cast<int64_t>();
}

StatusOr<isa::Operand> Fail(const isa::InstructionDef& row, size_t index, py::handle value,
                            std::string_view expected) {
  const isa::OperandDef& def = row.operands[std::min(index, row.operands.size() - 1)];
  return InvalidArgument(row.mnemonic, ": ", def.name, " is ",
                         py::str(py::type::handle_of(value).attr("__name__")).cast<std::string>(),
                         " ", py::repr(value).cast<std::string>(), ", expected ", expected);
}

}  // namespace

StatusOr<isa::Affine> ToAffine(py::handle value) {
  if (py::isinstance<isa::Affine>(value)) return value.cast<isa::Affine>();
  if (py::isinstance<isa::RegisterOperand>(value))
    return isa::Affine::Of(value.cast<isa::RegisterOperand>().reg);
  if (IsInteger(value)) return isa::Affine(Integer(value));
  return InvalidArgument("a register expression is made of integers and registers, got ",
                         py::repr(value).cast<std::string>());
}

StatusOr<isa::Operand> ToOperand(const isa::InstructionDef& row, size_t index, py::handle value) {
  if (value.is_none()) return isa::Operand();
  const isa::OperandDef& def = row.operands[std::min(index, row.operands.size() - 1)];
  switch (def.kind) {
    case OperandKind::kTile:
      if (py::isinstance<isa::AccessPattern>(value))
        return isa::Operand(value.cast<isa::AccessPattern>());
      return Fail(row, index, value, "a tensor");
    case OperandKind::kScalarOrTile:
    case OperandKind::kTiles:
      if (py::isinstance<isa::AccessPattern>(value))
        return isa::Operand(value.cast<isa::AccessPattern>());
      if (py::isinstance<isa::RegisterOperand>(value))
        return isa::Operand(value.cast<isa::RegisterOperand>());
      if (def.kind == OperandKind::kTiles && IsInteger(value)) return isa::Operand(Integer(value));
      [[fallthrough]];
    case OperandKind::kNumber:
      if (PyNumber_Check(value.ptr()) != 0 && !py::isinstance<isa::Affine>(value))
        return isa::Operand(py::float_(py::reinterpret_borrow<py::object>(value)).cast<double>());
      return Fail(row, index, value,
                  def.kind == OperandKind::kNumber ? "a number" : "a number or a tensor");
    case OperandKind::kInteger:
    case OperandKind::kFlag:
      if (IsInteger(value)) return isa::Operand(Integer(value));
      return Fail(row, index, value, "an integer");
    case OperandKind::kAffine: {
      NEURON_ASSIGN_OR_RETURN(const isa::Affine affine, ToAffine(value));
      return isa::Operand(affine);
    }
    case OperandKind::kRegister:
      if (py::isinstance<isa::RegisterOperand>(value))
        return isa::Operand(value.cast<isa::RegisterOperand>());
      return Fail(row, index, value, "a register");
    case OperandKind::kAlu: {
      const auto op = py::isinstance<py::str>(value) ? isa::AluOpFromName(value.cast<std::string>())
                                                     : std::nullopt;
      if (op) return isa::Operand(*op);
      return Fail(row, index, value, "an operator such as nl.add");
    }
    case OperandKind::kActivation: {
      const auto op = py::isinstance<py::str>(value)
                          ? isa::ActivationFromName(value.cast<std::string>())
                          : std::nullopt;
      if (op) return isa::Operand(*op);
      return Fail(row, index, value, "an activation function such as nl.exp");
    }
    case OperandKind::kText:
      return isa::Operand(value.cast<std::string>());
    case OperandKind::kIntegers:
      return isa::Operand(value.cast<std::vector<int64_t>>());
  }
  return Fail(row, index, value, "something else");
}

}  // namespace neuron::nki
