#include <pybind11/stl.h>

#include "isa/instruction.h"
#include "isa/public_names.h"
#include "nki/bindings.h"

namespace neuron::nki {

namespace py = pybind11;

namespace {

using Record = py::typing::Dict<py::str, py::object>;
using Records = py::typing::List<Record>;
using AluTuple = py::typing::Tuple<py::str, py::int_, py::bool_, py::bool_>;  // arity, bitvec, ours
using ActivationTuple = py::typing::Tuple<py::str, py::bool_>;                // ours
using PublicTuple = py::typing::Tuple<py::str, py::str>;                      // mnemonic

constexpr std::string_view kKindNames[] = {"tile",   "number",   "integer",  "scalar_or_tile",
                                           "affine", "register", "alu",      "activation",
                                           "flag",   "text",     "integers", "tiles"};
constexpr std::string_view kRoleNames[] = {"in", "out", "inout"};

Record OperandDict(const isa::OperandDef& operand) {
  Record d;
  d["name"] = operand.name;
  d["kind"] = kKindNames[static_cast<size_t>(operand.kind)];
  d["role"] = kRoleNames[static_cast<size_t>(operand.role)];
  d["memories"] = operand.memories;
  d["optional"] = operand.optional;
  d["doc"] = operand.doc;
  return d;
}

Record InstructionDict(const isa::InstructionDef& row) {
  Record d;
  d["mnemonic"] = row.mnemonic;
  d["summary"] = row.summary;
  d["doc"] = row.doc;
  d["cost"] = row.cost_doc;
  d["source"] = row.source;
  d["ours"] = row.ours;
  d["since"] = isa::RowOf(row.since).name;
  py::list engines;  // the default first
  engines.append(isa::EngineName(isa::DefaultEngine(row)));
  for (int i = 1; i < isa::kNumEngines; ++i) {
    const isa::Engine engine = static_cast<isa::Engine>(i);
    if ((row.engines & isa::Bit(engine)) != 0 && engine != isa::DefaultEngine(row))
      engines.append(isa::EngineName(engine));
  }
  d["engines"] = engines;
  py::list operands;
  for (const isa::OperandDef& operand : row.operands) operands.append(OperandDict(operand));
  d["operands"] = operands;
  return d;
}

}  // namespace

void BindTables(py::module_& m) {
  m.def("instructions", [] {
    Records rows;
    for (const isa::InstructionDef* row : isa::InstructionTable())
      rows.append(InstructionDict(*row));
    return rows;
  });
  m.def("public_names", [] {
    py::typing::List<PublicTuple> rows;
    for (const isa::PublicName& name : isa::PublicNames())
      rows.append(py::make_tuple(name.name, name.mnemonic));
    return rows;
  });
  m.def("alu_operators", [] {
    py::typing::List<AluTuple> rows;
    for (const isa::AluRow& row : isa::AluRows())
      rows.append(py::make_tuple(row.name, static_cast<int>(row.arity), row.bitvec, row.ours));
    return rows;
  });
  m.def("activation_functions", [] {
    py::typing::List<ActivationTuple> rows;
    for (const isa::ActivationRow& row : isa::ActivationRows())
      rows.append(py::make_tuple(row.name, row.ours));
    return rows;
  });
  m.def("targets", [] {
    Records rows;
    for (const isa::TargetRow& row : isa::Targets()) {
      Record d;
      d["name"] = row.name;
      d["alias"] = row.alias;
      d["sbuf_bytes_per_partition"] = row.sbuf_bytes_per_partition;
      d["psum_bytes_per_partition"] = row.psum_bytes_per_partition;
      d["psum_bank_bytes"] = row.psum_bank_bytes;
      d["max_moving_free"] = row.max_moving_free;
      d["generation"] = static_cast<int>(row.target) + 1;  // trn2 is the third
      rows.append(d);
    }
    return rows;
  });
}

}  // namespace neuron::nki
