#include <pybind11/operators.h>
#include <pybind11/stl.h>

#include <tuple>

#include "isa/access_pattern.h"
#include "nki/bindings.h"
#include "nki/operand_conversion.h"

namespace neuron::nki {

namespace py = pybind11;

namespace {

using Dims = std::vector<std::tuple<int64_t, int64_t>>;

isa::AccessPattern Pattern(isa::Memory memory, int dtype, int64_t partitions,
                           const AffineLike& offset, const Dims& dims) {
  isa::AccessPattern pattern;
  pattern.memory = memory;
  pattern.dtype = static_cast<DType>(dtype);
  pattern.partitions = partitions;
  pattern.offset = ValueOrRaise(ToAffine(offset));
  if (dims.size() > isa::AccessPattern::kMaxDims)
    Raise(InvalidArgument("an access pattern has at most ", isa::AccessPattern::kMaxDims,
                          " free dimensions after merging, got ", dims.size()));
  pattern.num_dims = static_cast<uint8_t>(dims.size());
  for (size_t i = 0; i < dims.size(); ++i)
    pattern.dims[i] = {std::get<0>(dims[i]), std::get<1>(dims[i])};
  return pattern;
}

}  // namespace

void BindPatterns(py::module_& m) {
  py::class_<isa::RegisterOperand>(m, "Register")
      .def_readonly("number", &isa::RegisterOperand::reg)
      .def("__repr__", [](const isa::RegisterOperand& r) { return StrCat("r", r.reg); });

  py::class_<isa::Affine>(m, "Affine")
      .def(py::init([](const AffineLike& value) { return ValueOrRaise(ToAffine(value)); }),
           py::arg("value"))
      .def_readonly("base", &isa::Affine::base)
      .def_property_readonly("is_constant", &isa::Affine::is_constant)
      .def(
          "plus",
          [](const isa::Affine& a, const AffineLike& b) {
            const isa::Affine other = ValueOrRaise(ToAffine(b));
            if (a.num_terms + other.num_terms > isa::Affine::kMaxTerms)
              Raise(InvalidArgument("an index expression has at most ", isa::Affine::kMaxTerms,
                                    " run-time terms"));
            return a + other;
          },
          py::arg("other"))
      .def(
          "times", [](const isa::Affine& a, int64_t factor) { return a * factor; },
          py::arg("factor"))
      .def(py::self == py::self)
      .def("__repr__", [](const isa::Affine& a) { return isa::ToString(a); });

  py::class_<isa::AccessPattern>(m, "AccessPattern")
      .def("__repr__", [](const isa::AccessPattern& p) { return isa::ToString(p); });
  // dtype is XLA's number; dims are (step, count) in elements, outermost first.
  const auto on_chip = [](isa::Memory memory) {
    return [memory](int dtype, int start_partition, int64_t partitions,
                    const AffineLike& byte_offset, const Dims& dims) {
      isa::AccessPattern pattern = Pattern(memory, dtype, partitions, byte_offset, dims);
      pattern.start_partition = static_cast<uint8_t>(start_partition);
      return pattern;
    };
  };
  for (const auto& [name, memory] :
       {std::pair{"sbuf", isa::Memory::kSbuf}, std::pair{"psum", isa::Memory::kPsum}})
    m.def(name, on_chip(memory), py::arg("dtype"), py::arg("start_partition"),
          py::arg("partitions"), py::arg("byte_offset"), py::arg("dims"));
  m.def(
      "hbm",
      [](int dtype, int tensor, const AffineLike& byte_offset, int64_t rows, int64_t row_step,
         const Dims& dims) {
        isa::AccessPattern pattern = Pattern(isa::Memory::kHbm, dtype, rows, byte_offset, dims);
        pattern.tensor = static_cast<uint16_t>(tensor);
        pattern.partition_step = row_step;
        return pattern;
      },
      py::arg("dtype"), py::arg("tensor"), py::arg("byte_offset"), py::arg("rows"),
      py::arg("row_step"), py::arg("dims"));
}

}  // namespace neuron::nki
