#include "isa/gpsimd_costs.h"

#include <algorithm>
#include <cmath>

#include "isa/kernel_parameters.h"

namespace neuron::isa {
namespace {

constexpr double kLanes = 128;
constexpr double kWide = 4;       // 32-bit steps of a 64-bit operation
constexpr double kFunction = 20;  // steps of an elementary function

double Volume(const std::vector<int64_t>& dims) {
  double n = 1;
  for (const int64_t dim : dims) n *= static_cast<double>(dim);
  return n;
}
double Log2(double n) { return std::log2(std::max(n, 2.0)); }

double StepsOf(const WideProgram& program) {
  double steps = 0;
  for (const WideInstruction& instruction : program.instructions) {
    switch (instruction.op) {
      case WideOp::kNone:
      case WideOp::kConstant:
        break;
      case WideOp::kCopy:
      case WideOp::kSelect:
      case WideOp::kConvert:
      case WideOp::kBitcastConvert:
      case WideOp::kReal:
      case WideOp::kImag:
      case WideOp::kComplex:
        steps += 1;
        break;
      default:
        steps +=
            WideOpArity(instruction.op) >= 2 || !IsFloating(instruction.dtype) ? kWide : kFunction;
    }
  }
  return std::max(steps, 1.0);
}

double Philox(const PhiloxBitsParameters&, double elements) {
  return elements / 4 * 10 * 2 * kWide;  // ten rounds of two 32 x 32 products per four words
}
double Sort(const SortParameters& p, double) {
  const auto dimension = static_cast<size_t>(p.dimension);
  const double length = dimension < p.dims.size() ? static_cast<double>(p.dims[dimension]) : 1;
  const double compare =
      p.keys.empty() ? StepsOf(p.comparator) : static_cast<double>(p.keys.size());
  return Volume(p.dims) * Log2(length) * (1 + compare);
}
double Topk(const TopkParameters& p, double) {
  // Documented for nki.isa.topk: 4 n + K cycles on 16 partitions.
  return static_cast<double>(p.rows) *
         (4 * static_cast<double>(p.length) + static_cast<double>(p.k)) * kLanes / 16;
}
double Gather(const GatherParameters& p, double) { return 4 * Volume(p.out_dims); }
double Scatter(const ScatterParameters& p, double) {
  return Volume(p.operand_dims) + 6 * Volume(p.update_dims);
}
double Elementwise(const WideElementwiseParameters& p, double) {
  return Volume(p.dims) * StepsOf(p.program);
}
double Reduce(const WideReduceParameters& p, double) {
  return Volume(p.dims) * (p.op == WideOp::kNone ? StepsOf(p.program) : kWide);
}
double Dot(const WideDotParameters& p, double) {
  return Volume(p.batch) * Volume(p.m) * Volume(p.n) * Volume(p.k) * 2 * kWide;
}
double Fft(const FftParameters& p, double) {
  const double n = Volume(p.lengths);
  return static_cast<double>(p.batch) * 5 * n * Log2(n);
}
double TriangularSolve(const TriangularSolveParameters& p, double) {
  const double n = static_cast<double>(p.n);
  return static_cast<double>(p.batch * p.m) * n * n;
}
double Cholesky(const CholeskyParameters& p, double) {
  const double n = static_cast<double>(p.n);
  return static_cast<double>(p.batch) * n * n * n / 3;
}
double Taps(const std::vector<KernelWindow>& window) {
  double taps = 1;
  for (const KernelWindow& w : window) taps *= static_cast<double>(w.size);
  return taps;
}
double ReduceWindow(const ReduceWindowParameters& p, double) {
  const bool scans = Taps(p.window) >= Volume(p.dims);  // runs as one pass
  return Volume(p.out_dims) * (scans ? 1 : Taps(p.window)) *
         (p.op == WideOp::kNone ? StepsOf(p.program) : kWide);
}
double SelectAndScatter(const SelectAndScatterParameters& p, double) {
  return Volume(p.dims) + Volume(p.source_dims) * Taps(p.window) * StepsOf(p.select);
}

template <typename Parameters>
double Evaluate(double (*formula)(const Parameters&, double), std::span<const int64_t> in,
                double elements) {
  const StatusOr<Parameters> parameters = Unpack<Parameters>("", in);
  return parameters.ok() ? formula(*parameters, elements) : elements;
}

struct Row {
  std::string_view kernel;
  double (*steps)(std::span<const int64_t> parameters, double elements);
};
#define NEURON_COST(kernel, formula) \
  {kernel, [](std::span<const int64_t> in, double n) { return Evaluate(formula, in, n); }}
constexpr Row kRows[] = {
    NEURON_COST("cholesky", Cholesky),
    NEURON_COST("fft", Fft),
    NEURON_COST("gather_general", Gather),
    NEURON_COST("philox_bits", Philox),
    NEURON_COST("reduce_window_wide", ReduceWindow),
    NEURON_COST("scatter_general", Scatter),
    NEURON_COST("select_and_scatter_general", SelectAndScatter),
    NEURON_COST("sort", Sort),
    NEURON_COST("topk", Topk),
    NEURON_COST("triangular_solve", TriangularSolve),
    NEURON_COST("wide_dot", Dot),
    NEURON_COST("wide_elementwise", Elementwise),
    NEURON_COST("wide_reduce", Reduce),
};
#undef NEURON_COST

}  // namespace

double GpSimdKernelCycles(std::string_view kernel, std::span<const int64_t> parameters,
                          double elements) {
  for (const Row& row : kRows)
    if (row.kernel == kernel) return std::max(row.steps(parameters, elements), elements) / kLanes;
  return elements / kLanes;
}

}  // namespace neuron::isa
