#include "isa/wide_program.h"

#include "isa/kernel_parameters.h"

namespace neuron::isa {
namespace {

struct Row {
  std::string_view name;
  int arity;
};
constexpr Row kRows[] = {
#define V(name, arity) {#name, arity},
    NEURON_WIDE_OPS(V)
#undef V
};

}  // namespace

std::string_view WideOpName(WideOp op) { return kRows[static_cast<size_t>(op)].name; }
int WideOpArity(WideOp op) { return kRows[static_cast<size_t>(op)].arity; }

StridedView DenseView(const std::vector<int64_t>& dims) {
  StridedView view;
  view.strides.resize(dims.size());
  int64_t stride = 1;
  for (size_t d = dims.size(); d-- > 0;) {
    view.strides[d] = stride;
    stride *= dims[d];
  }
  return view;
}

}  // namespace neuron::isa
