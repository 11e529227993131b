// One row lowered by itself, so that XLA can judge it (tests/lowering/replay.py).
#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings.h"
#include "hlo/proto.h"
#include "lowering/strided.h"
#include "lowering/table.h"

namespace neuron::testing {
namespace {

namespace py = pybind11;
using hlo::Builder;
using hlo::Shape;
using lowering::Args;
using lowering::ArgValue;
using lowering::ScalarArg;
using lowering::TensorArg;

DType DTypeOf(const py::handle& name) {
  const auto text = name.cast<std::string>();
  const auto dtype = DTypeFromName(text);
  if (!dtype) throw py::value_error("no dtype is called " + text);
  return *dtype;
}

ScalarArg ScalarOf(const py::handle& value, bool run_time) {
  ScalarArg scalar;
  scalar.run_time = run_time;
  if (py::isinstance<py::bool_>(value)) {
    scalar.kind = ScalarArg::Kind::kBool;
    scalar.integer = value.cast<bool>() ? 1 : 0;
  } else if (py::isinstance<py::int_>(value)) {
    scalar.integer = value.cast<int64_t>();
  } else if (py::isinstance<py::float_>(value)) {
    scalar.kind = ScalarArg::Kind::kFloat;
    scalar.number = value.cast<double>();
  } else {
    scalar.kind = ScalarArg::Kind::kComplex;
    scalar.number = value.cast<std::complex<double>>();
  }
  return scalar;
}

// Arguments arrive as None, bool, str or (tag, ...); tensors become parameters in order.
class Reader {
 public:
  explicit Reader(Builder& b) : b_(b) {}
  int64_t next() const { return next_; }

  ArgValue Read(const py::handle& value) {
    if (value.is_none()) return std::monostate();
    if (py::isinstance<py::bool_>(value)) return value.cast<bool>();
    if (py::isinstance<py::str>(value)) return value.cast<std::string>();
    const auto tuple = value.cast<py::tuple>();
    const auto tag = tuple[0].cast<std::string>();
    if (tag == "tensor") return Tensor(tuple[1], tuple[2]);
    if (tag == "wrapped") return Wrapped(tuple[1], tuple[2]);
    if (tag == "tensors") {
      std::vector<TensorArg> list;
      for (const py::handle item : tuple[1]) {
        const auto pair = item.is_none() ? py::tuple() : item.cast<py::tuple>();
        list.push_back(item.is_none() ? TensorArg() : Tensor(pair[0], pair[1]));
      }
      return list;
    }
    if (tag == "scalar") return ScalarOf(tuple[1], tuple[2].cast<bool>());
    if (tag == "scalars") {
      std::vector<ScalarArg> list;
      for (const py::handle item : tuple[1]) list.push_back(ScalarOf(item, tuple[2].cast<bool>()));
      return list;
    }
    if (tag == "ints") return tuple[1].cast<std::vector<int64_t>>();
    if (tag == "floats") return tuple[1].cast<std::vector<double>>();
    if (tag == "bools") return tuple[1].cast<std::vector<bool>>();
    if (tag == "dtype") return DTypeOf(tuple[1]);
    throw py::value_error("no argument has the tag " + tag);
  }

 private:
  TensorArg Tensor(const py::handle& dtype, const py::handle& dims) {
    const Shape shape = Shape::Array(DTypeOf(dtype), dims.cast<std::vector<int64_t>>());
    return {b_.Parameter(next_++, shape)};
  }
  // A number where the schema says Tensor; tensor_dtype None: a wrapped number.
  static ArgValue Wrapped(const py::handle& value, const py::handle& tensor_dtype) {
    ScalarArg scalar = ScalarOf(value, true);
    if (!tensor_dtype.is_none()) scalar.tensor_dtype = DTypeOf(tensor_dtype);
    return scalar;
  }

  Builder& b_;
  int64_t next_ = 0;
};

py::dict Lower(const std::string& overload, const py::list& arguments) {
  const lowering::Row* row = lowering::FindRow(overload);
  if (row == nullptr) throw py::key_error(overload);
  Builder b(overload);
  Reader reader(b);
  std::vector<ArgValue> values;
  for (const py::handle value : arguments) values.push_back(reader.Read(value));
  const auto op = static_cast<int32_t>(row - lowering::Rows().data());
  Args args(b, overload, std::move(values), reader.next(), op);
  const lowering::Values results = row->lower(b, args);
  std::vector<hlo::Value> roots;
  py::list places;  // of each result in the tuple, None for an undefined one
  for (const hlo::Value& result : results) {
    if (result.valid()) {
      places.append(roots.size());
      roots.push_back(result);
    } else {
      places.append(py::none());
    }
  }
  const bool can_fail = args.error_record().has_value();
  const size_t error_place = roots.size();
  if (can_fail) roots.push_back(*args.error_record());
  py::object row_count = py::none();  // place in the tuple
  if (args.row_count().has_value()) {
    row_count = py::int_(roots.size());
    roots.push_back(*args.row_count());
  }
  Raise(b.status());
  const hlo::Module module = ValueOrRaise(std::move(b).BuildTuple(roots));
  py::list scalars;
  for (const lowering::ScalarParameter& p : args.scalar_parameters())
    scalars.append(
        py::make_tuple(p.argument, p.element, std::string(DTypeName(p.dtype)), p.hlo_parameter));
  py::dict out;
  out["proto"] = py::bytes(hlo::ToProto(module));
  out["text"] = module.ToText();
  out["results"] = places;
  out["scalars"] = scalars;
  out["philox_parameter"] = args.philox_parameter();
  out["philox_numbers"] = args.philox_numbers();
  out["error_record"] = can_fail ? py::object(py::int_(error_place)) : py::none();
  out["row_count"] = row_count;
  py::list counted;  // (result, dimension)
  for (const lowering::CountedResult& c : args.counted_results())
    counted.append(py::make_tuple(c.result, c.dimension));
  out["counted"] = counted;
  return out;
}

py::list Rows() {
  py::list rows;
  for (const lowering::Row& row : lowering::Rows()) {
    py::dict entry;
    entry["overload"] = std::string(row.overload);
    entry["native"] = static_cast<int>(row.native);
    entry["elementwise"] = (row.flags & lowering::kElementwise) != 0;
    entry["view"] = (row.flags & lowering::kView) != 0;
    entry["random"] = (row.flags & lowering::kRandom) != 0;
    entry["graph_only"] = (row.flags & lowering::kGraphOnly) != 0;
    entry["run_time_scalars"] = row.run_time_scalars;
    entry["mutates"] = row.mutates;
    rows.append(entry);
  }
  return rows;
}

using Dims = std::vector<int64_t>;

py::bytes FromStrided(const std::string& dtype, const Dims& sizes, const Dims& strides) {
  Builder b("from_strided");
  const Shape flat = Shape::Array(DTypeOf(py::str(dtype)), {lowering::FlatExtent(sizes, strides)});
  const hlo::Value roots[] = {lowering::FromStrided(b, b.Parameter(0, flat), sizes, strides)};
  return {hlo::ToProto(ValueOrRaise(std::move(b).BuildTuple(roots)))};
}

py::bytes ToStrided(const std::string& dtype, const Dims& sizes, const Dims& strides) {
  Builder b("to_strided");
  const DType type = DTypeOf(py::str(dtype));
  const hlo::Value flat =
      b.Parameter(0, Shape::Array(type, {lowering::FlatExtent(sizes, strides)}));
  const hlo::Value value = b.Parameter(1, Shape::Array(type, sizes));
  const hlo::Value roots[] = {lowering::ToStrided(b, flat, value, strides)};
  return {hlo::ToProto(ValueOrRaise(std::move(b).BuildTuple(roots)))};
}

}  // namespace

void BindLowering(py::module_& m) {
  py::module_ lowering = m.def_submodule("lowering", "The lowering table, row by row.");
  lowering.def("rows", &Rows);
  lowering.def("lower", &Lower, py::arg("overload"), py::arg("arguments"));
  lowering.def("from_strided", &FromStrided);
  lowering.def("to_strided", &ToStrided);
}

}  // namespace neuron::testing
