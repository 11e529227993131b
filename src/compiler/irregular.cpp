#include "compiler/irregular.h"

#include "compiler/gpsimd.h"
#include "compiler/operands.h"
#include "compiler/wide_kernel.h"

namespace neuron::compiler {
namespace {

using hlo::Instruction;
using hlo::Opcode;
using isa::WideOp;

// The spans of the kernel's results, in tuple order.
std::vector<AccessPattern> ResultSpans(EmitContext& ctx, const Kernel& kernel) {
  std::vector<AccessPattern> spans;
  if (!kernel.hero->shape().is_tuple())
    return {FlatTile(ctx, kernel.hero, kernel.hero->shape().dtype)};
  for (const Instruction* element : kernel.results)
    spans.push_back(FlatTile(ctx, element, element->shape().dtype));
  return spans;
}

Status AppendOperands(EmitContext& ctx, const Instruction& hero,
                      std::vector<AccessPattern>& tiles) {
  for (const Instruction* operand : hero.operands()) {
    NEURON_ASSIGN_OR_RETURN(const AccessPattern span, DenseOperand(ctx, operand));
    tiles.push_back(span);
  }
  return OkStatus();
}

// Results, then operands, then parameters.
template <typename Parameters>
Status EmitPlain(EmitContext& ctx, const Kernel& kernel, const char* name, const Parameters& p) {
  std::vector<AccessPattern> tiles = ResultSpans(ctx, kernel);
  const int64_t outputs = static_cast<int64_t>(tiles.size());
  NEURON_RETURN_IF_ERROR(AppendOperands(ctx, *kernel.hero, tiles));
  EmitGpSimd(ctx, name, outputs, std::move(tiles), p);
  return OkStatus();
}

// `parameter 0 op parameter 1` of a commutative operator, or parameter 1 itself (kCopy); kNone for
// anything else, which a program says.
WideOp SingleOperator(const hlo::Computation& computation) {
  const Instruction* root = computation.root();
  const auto number = [](const Instruction* x) {
    return x->opcode() == Opcode::kParameter ? x->attributes().parameter_number : int64_t{-1};
  };
  if (computation.Parameters().size() != 2) return WideOp::kNone;
  if (number(root) == 1) return WideOp::kCopy;
  switch (root->opcode()) {
    case Opcode::kAdd:
    case Opcode::kMultiply:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor: {
      const int64_t a = number(root->operand(0)), b = number(root->operand(1));
      return a >= 0 && b >= 0 && a != b ? WideOpOf(*root) : WideOp::kNone;
    }
    default:
      return WideOp::kNone;
  }
}

Status SetCombiner(const hlo::Computation& computation, WideOp& op, isa::WideProgram& program) {
  op = SingleOperator(computation);
  if (op != WideOp::kNone) return OkStatus();
  NEURON_ASSIGN_OR_RETURN(program, WideProgramOf(computation));
  return OkStatus();
}

std::vector<isa::KernelWindow> WindowOf(const Instruction& hero) {
  std::vector<isa::KernelWindow> window;
  for (const hlo::WindowDimension& w : hero.attributes().window)
    window.push_back({.size = w.size,
                      .stride = w.stride,
                      .padding_low = w.padding_low,
                      .padding_high = w.padding_high,
                      .window_dilation = w.window_dilation,
                      .base_dilation = w.base_dilation});
  return window;
}

}  // namespace

Status EmitSort(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& sort = *kernel.hero;
  isa::SortParameters p;
  p.dims = sort.operand(0)->shape().dims;
  p.dimension = sort.attributes().dimensions.at(0);
  const hlo::Computation& comparator = *sort.called()[0];
  // lhs < rhs of one operand is a key; the kernel then compares integers.
  const Instruction* root = comparator.root();
  if (root->opcode() == Opcode::kCompare && root->operand(0)->opcode() == Opcode::kParameter &&
      root->operand(1)->opcode() == Opcode::kParameter) {
    const int64_t a = root->operand(0)->attributes().parameter_number;
    const int64_t b = root->operand(1)->attributes().parameter_number;
    const hlo::Comparison comparison = root->attributes().comparison;
    const bool less = comparison == hlo::Comparison::kLt;
    if ((less || comparison == hlo::Comparison::kGt) && a / 2 == b / 2 && a != b)
      p.keys.push_back({.operand = a / 2, .descending = less == (a > b)});
  }
  if (p.keys.empty()) {
    NEURON_ASSIGN_OR_RETURN(p.comparator, WideProgramOf(comparator));
  }
  return EmitPlain(ctx, kernel, "sort", p);
}

Status EmitGatherGeneral(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& gather = *kernel.hero;
  const hlo::GatherDimensions& d = gather.attributes().gather;
  return EmitPlain(ctx, kernel, "gather_general",
                   isa::GatherParameters{
                       .operand_dims = gather.operand(0)->shape().dims,
                       .index_dims = gather.operand(1)->shape().dims,
                       .out_dims = gather.shape().dims,
                       .offset_dims = d.offset_dims,
                       .collapsed_slice_dims = d.collapsed_slice_dims,
                       .start_index_map = d.start_index_map,
                       .operand_batching_dims = d.operand_batching_dims,
                       .start_indices_batching_dims = d.start_indices_batching_dims,
                       .index_vector_dim = d.index_vector_dim,
                       .slice_sizes = d.slice_sizes,
                   });
}

Status EmitScatterGeneral(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& scatter = *kernel.hero;
  const hlo::ScatterDimensions& d = scatter.attributes().scatter;
  const size_t values = scatter.operands().size() / 2;
  isa::ScatterParameters p{
      .operand_dims = scatter.operand(0)->shape().dims,
      .index_dims = scatter.operand(static_cast<int64_t>(values))->shape().dims,
      .update_dims = scatter.operand(static_cast<int64_t>(values) + 1)->shape().dims,
      .update_window_dims = d.update_window_dims,
      .inserted_window_dims = d.inserted_window_dims,
      .scatter_dims_to_operand_dims = d.scatter_dims_to_operand_dims,
      .input_batching_dims = d.input_batching_dims,
      .scatter_indices_batching_dims = d.scatter_indices_batching_dims,
      .index_vector_dim = d.index_vector_dim,
      .combiner = WideOp::kCopy,
      .program = {},
  };
  NEURON_RETURN_IF_ERROR(SetCombiner(*scatter.called()[0], p.combiner, p.program));
  return EmitPlain(ctx, kernel, "scatter_general", p);
}

Status EmitRngBitGenerator(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& rng = *kernel.hero;
  const hlo::Shape& state = rng.operand(0)->shape();
  const int64_t words = state.num_bytes() / 8;
  if (rng.attributes().rng_algorithm == 1)
    return Unimplemented("compiler: rng-bit-generator ", rng.name(),
                         ": only Philox (algorithm 2) exists, got three-fry");
  return EmitPlain(ctx, kernel, "philox_bits", isa::PhiloxBitsParameters{.state_words = words});
}

Status EmitFft(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& fft = *kernel.hero;
  isa::FftParameters p;
  p.type = fft.attributes().fft_type;
  p.lengths = fft.attributes().fft_length;
  const Dims& dims = fft.shape().dims;
  for (size_t d = 0; d + p.lengths.size() < dims.size(); ++d) p.batch *= dims[d];
  return EmitPlain(ctx, kernel, "fft", p);
}

Status EmitTriangularSolve(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& solve = *kernel.hero;
  const hlo::Attributes& a = solve.attributes();
  const Dims& dims = solve.shape().dims;
  isa::TriangularSolveParameters p;
  p.n = solve.operand(0)->shape().dims.back();
  p.m = a.left_side ? dims.back() : dims[dims.size() - 2];
  for (size_t d = 0; d + 2 < dims.size(); ++d) p.batch *= dims[d];
  p.left_side = a.left_side;
  p.lower = a.lower;
  p.unit_diagonal = a.unit_diagonal;
  p.transpose = a.transpose_a ? 1 : 0;
  return EmitPlain(ctx, kernel, "triangular_solve", p);
}

Status EmitCholesky(EmitContext& ctx, const Kernel& kernel) {
  const Dims& dims = kernel.hero->shape().dims;
  isa::CholeskyParameters p;
  p.n = dims.back();
  for (size_t d = 0; d + 2 < dims.size(); ++d) p.batch *= dims[d];
  p.lower = kernel.hero->attributes().lower;
  return EmitPlain(ctx, kernel, "cholesky", p);
}

Status EmitReduceWindowGeneral(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& window = *kernel.hero;
  isa::ReduceWindowParameters p;
  p.dims = window.operand(0)->shape().dims;
  p.out_dims = window.shape().is_tuple() ? window.shape().elements[0].dims : window.shape().dims;
  p.window = WindowOf(window);
  NEURON_RETURN_IF_ERROR(SetCombiner(*window.called()[0], p.op, p.program));
  return EmitPlain(ctx, kernel, "reduce_window_wide", p);
}

Status EmitSelectAndScatterGeneral(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& hero = *kernel.hero;
  isa::SelectAndScatterParameters p;
  p.dims = hero.operand(0)->shape().dims;
  p.source_dims = hero.operand(1)->shape().dims;
  p.window = WindowOf(hero);
  NEURON_ASSIGN_OR_RETURN(p.select, WideProgramOf(*hero.called()[0]));
  p.scatter = SingleOperator(*hero.called()[1]);
  if (p.scatter == WideOp::kNone)
    return Unimplemented("compiler: select-and-scatter ", hero.name(),
                         " combines by more than one operator");
  return EmitPlain(ctx, kernel, "select_and_scatter_general", p);
}

bool IsKnownCustomCall(const Instruction& call) {
  return call.attributes().custom_call_target == "TopK" && call.shape().is_tuple() &&
         call.shape().elements.size() == 2;
}

Status EmitTopK(EmitContext& ctx, const Kernel& kernel) {
  const Instruction& call = *kernel.hero;
  const Dims& dims = call.operand(0)->shape().dims;
  isa::TopkParameters p;
  p.length = dims.back();
  for (size_t d = 0; d + 1 < dims.size(); ++d) p.rows *= dims[d];
  p.k = call.shape().elements[0].dims.back();
  // A call may say so in its configuration.
  p.largest = call.attributes().largest &&
              call.attributes().backend_config.find("largest=0") == std::string::npos &&
              call.attributes().backend_config.find("largest = false") == std::string::npos;
  return EmitPlain(ctx, kernel, "topk", p);
}

}  // namespace neuron::compiler
