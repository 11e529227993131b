// Dot and convolution.
#include <algorithm>

#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

// The element type of the result: stated, or that of the operands.
StatusOr<DType> ResultType(const ShapeQuery& q) {
  const DType a = q.operand(0).dtype, b = q.operand(1).dtype;
  if (q.stated != nullptr && q.stated->is_array()) return q.stated->dtype;
  if (a != b)
    return ShapeError(q, "element types differ, ", DTypeName(a), " and ", DTypeName(b),
                      "; convert one or state the result's");
  return a;
}

StatusOr<Shape> InferDot(const ShapeQuery& q) {
  const Shape& a = q.operand(0);
  const Shape& b = q.operand(1);
  const DotDimensions& d = q.attributes.dot;
  const auto check_side = [&](const char* side, const Shape& x, const std::vector<int64_t>& batch,
                              const std::vector<int64_t>& contracting) -> Status {
    std::vector<int64_t> used = batch;
    used.insert(used.end(), contracting.begin(), contracting.end());
    if (!AreDistinctDimensions(used, x.rank()))
      return ShapeError(q, side, " batch ", ListText(batch), " and contracting ",
                        ListText(contracting), " dimensions must be distinct and in range");
    return OkStatus();
  };
  NEURON_RETURN_IF_ERROR(check_side("lhs", a, d.lhs_batch, d.lhs_contracting));
  NEURON_RETURN_IF_ERROR(check_side("rhs", b, d.rhs_batch, d.rhs_contracting));
  const auto check_pairs = [&](const char* kind, const std::vector<int64_t>& of_a,
                               const std::vector<int64_t>& of_b) -> Status {
    if (of_a.size() != of_b.size())
      return ShapeError(q, of_a.size(), " lhs and ", of_b.size(), " rhs ", kind, " dimensions");
    for (size_t i = 0; i < of_a.size(); ++i)
      if (a.dims[static_cast<size_t>(of_a[i])] != b.dims[static_cast<size_t>(of_b[i])])
        return ShapeError(q, kind, " dimension ", of_a[i], " of lhs and ", of_b[i],
                          " of rhs have different extents");
    return OkStatus();
  };
  NEURON_RETURN_IF_ERROR(check_pairs("batch", d.lhs_batch, d.rhs_batch));
  NEURON_RETURN_IF_ERROR(check_pairs("contracting", d.lhs_contracting, d.rhs_contracting));
  NEURON_ASSIGN_OR_RETURN(const DType dtype, ResultType(q));

  std::vector<int64_t> dims;
  for (const int64_t batch : d.lhs_batch) dims.push_back(a.dims[static_cast<size_t>(batch)]);
  const auto append_free = [&](const Shape& x, const std::vector<int64_t>& batch,
                               const std::vector<int64_t>& contracting) {
    for (int64_t i = 0; i < x.rank(); ++i)
      if (std::ranges::find(batch, i) == batch.end() &&
          std::ranges::find(contracting, i) == contracting.end())
        dims.push_back(x.dims[static_cast<size_t>(i)]);
  };
  append_free(a, d.lhs_batch, d.lhs_contracting);
  append_free(b, d.rhs_batch, d.rhs_contracting);
  return Shape::Array(dtype, std::move(dims));
}

Status CheckNumbering(const ShapeQuery& q, const char* what, int64_t first, int64_t second,
                      const std::vector<int64_t>& spatial, int64_t rank) {
  std::vector<int64_t> all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (static_cast<int64_t>(all.size()) != rank || !AreDistinctDimensions(all, rank))
    return ShapeError(q, what, " dimension numbers ", ListText(all),
                      " must be a permutation of its ", rank, " dimensions");
  return OkStatus();
}

StatusOr<Shape> InferConvolution(const ShapeQuery& q) {
  const Shape& x = q.operand(0);
  const Shape& kernel = q.operand(1);
  const ConvolutionDimensions& c = q.attributes.convolution;
  if (x.rank() != kernel.rank() || x.rank() < 2)
    return ShapeError(q, "input and kernel must have one rank of at least 2");
  NEURON_RETURN_IF_ERROR(
      CheckNumbering(q, "input", c.input_batch, c.input_feature, c.input_spatial, x.rank()));
  NEURON_RETURN_IF_ERROR(CheckNumbering(q, "kernel", c.kernel_input_feature,
                                        c.kernel_output_feature, c.kernel_spatial, x.rank()));
  NEURON_RETURN_IF_ERROR(
      CheckNumbering(q, "output", c.output_batch, c.output_feature, c.output_spatial, x.rank()));

  const auto extent = [](const Shape& s, int64_t d) { return s.dims[static_cast<size_t>(d)]; };
  const int64_t feature_groups = q.attributes.feature_group_count;
  const int64_t batch_groups = q.attributes.batch_group_count;
  const int64_t features = extent(x, c.input_feature), batch = extent(x, c.input_batch);
  const int64_t outputs = extent(kernel, c.kernel_output_feature);
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1))
    return ShapeError(q, "one of feature_group_count ", feature_groups, " and batch_group_count ",
                      batch_groups, " must be 1, the other positive");
  const auto needed = CheckedMultiply(extent(kernel, c.kernel_input_feature), feature_groups);
  if (needed != features)
    return ShapeError(q, "the input has ", features, " features, the kernel takes ",
                      extent(kernel, c.kernel_input_feature), " in each of ", feature_groups,
                      " groups");
  if (outputs % feature_groups != 0 || outputs % batch_groups != 0 || batch % batch_groups != 0)
    return ShapeError(q, "groups must divide ", outputs, " output features and batch ", batch);

  std::vector<int64_t> spatial;
  for (size_t i = 0; i < c.input_spatial.size(); ++i) {
    spatial.push_back(extent(x, c.input_spatial[i]));
    if (i < q.attributes.window.size() &&
        q.attributes.window[i].size != extent(kernel, c.kernel_spatial[i]))
      return ShapeError(q, "window size ", q.attributes.window[i].size,
                        " differs from the kernel's ", extent(kernel, c.kernel_spatial[i]));
  }
  NEURON_ASSIGN_OR_RETURN(const std::vector<int64_t> walked,
                          WindowOutputDims(q, spatial, q.attributes.window));
  NEURON_ASSIGN_OR_RETURN(const DType dtype, ResultType(q));
  Shape result = Shape::Array(dtype, x.dims);
  result.dims[static_cast<size_t>(c.output_batch)] = batch / batch_groups;
  result.dims[static_cast<size_t>(c.output_feature)] = outputs;
  for (size_t i = 0; i < walked.size(); ++i)
    result.dims[static_cast<size_t>(c.output_spatial[i])] = walked[i];
  return result;
}

}  // namespace

StatusOr<Shape> InferContractionShape(const ShapeQuery& q) {
  NEURON_RETURN_IF_ERROR(CheckArrays(q));
  return q.opcode == Opcode::kDot ? InferDot(q) : InferConvolution(q);
}

}  // namespace neuron::hlo
