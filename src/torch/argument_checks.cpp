#include "torch/argument_checks.h"

#include <ATen/ExpandUtils.h>
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <string_view>

namespace neuron::pytorch {
namespace {

using Arguments = std::span<const c10::IValue>;
using Check = void (*)(const OpEntry& entry, Arguments arguments,
                       std::span<const at::Tensor* const> tensors);

struct Row {
  std::string_view op;  // of the row, without overload
  Check check;
};

// Contractions do not promote.
void CheckOneDtype(const OpEntry& entry, Arguments, std::span<const at::Tensor* const> tensors) {
  for (const at::Tensor* tensor : tensors)
    TORCH_CHECK(tensor->scalar_type() == tensors[0]->scalar_type(), entry.name,
                ": expected all tensors to have the same dtype, but got: ",
                tensors[0]->scalar_type(), " and ", tensor->scalar_type());
}

void CheckIndexVector(const OpEntry& entry, const at::Tensor& index) {
  TORCH_CHECK_INDEX(index.dim() <= 1, entry.name,
                    ": Index is supposed to be a vector, but got dim: ", index.dim());
  TORCH_CHECK(index.scalar_type() == at::kLong || index.scalar_type() == at::kInt, entry.name,
              ": Expected dtype int32 or int64 for index, but got ", index.scalar_type());
}

void CheckIndexSelect(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  CheckIndexVector(entry, a[2].toTensor());
  if (entry.form == Form::kOut) at::assert_no_internal_overlap(a.back().toTensor());
}

void CheckIndexAdd(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const at::Tensor& self = a[0].toTensor();
  const at::Tensor& index = a[2].toTensor();
  const at::Tensor& source = a[3].toTensor();
  CheckIndexVector(entry, index);
  TORCH_CHECK(self.scalar_type() == source.scalar_type(), entry.name,
              ": self and source should have the same dtype, but got ", self.scalar_type(), " and ",
              source.scalar_type());
  if (self.dim() == 0 || source.dim() == 0) return;
  const int64_t dim = at::maybe_wrap_dim(a[1].toInt(), self.dim());
  bool same = self.dim() == source.dim();
  for (int64_t d = 0; same && d < self.dim(); ++d)
    same = d == dim || self.size(d) == source.size(d);
  TORCH_CHECK(same, entry.name,
              ": source tensor shape must match self tensor shape, excluding the specified "
              "dimension. Got self.shape = ",
              self.sizes(), " source.shape = ", source.sizes());
  TORCH_CHECK(index.numel() == source.size(dim), entry.name, ": Number of indices (", index.numel(),
              ") should be equal to source.size(dim): (", source.size(dim), "), for dim: ", dim);
}

void CheckBucketize(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  if (!a[0].isTensor() || !a[1].isTensor()) return;
  TORCH_CHECK(a[1].toTensor().dim() == 1, entry.name,
              ": boundaries tensor must be 1 dimension, but got dim(", a[1].toTensor().dim(), ")");
}

void CheckComplex(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const auto real = a[0].toTensor().scalar_type(), imag = a[1].toTensor().scalar_type();
  const auto is_part = [](at::ScalarType type) {
    return type == at::kFloat || type == at::kDouble || type == at::kHalf;
  };
  TORCH_CHECK(is_part(real) && is_part(imag), entry.name,
              ": Expected both inputs to be Half, Float or Double tensors but got ", real, " and ",
              imag);
  TORCH_CHECK(real == imag, entry.name, ": Expected object of scalar type ", real,
              " but got scalar type ", imag, " for second argument");
  if (entry.form != Form::kOut) return;
  TORCH_CHECK(a.back().toTensor().scalar_type() == c10::toComplexType(real), entry.name,
              ": Expected object of scalar type ", c10::toComplexType(real),
              " but got scalar type ", a.back().toTensor().scalar_type(), " for argument 'out'");
}

void CheckEmbedding(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const at::Tensor& weight = a[0].toTensor();
  const at::ScalarType index = a[1].toTensor().scalar_type();
  TORCH_CHECK(weight.dim() == 2, entry.name, ": 'weight' must be 2-D, got ", weight.dim(), "-D");
  TORCH_CHECK(index == at::kLong || index == at::kInt, entry.name,
              ": Expected tensor for argument #1 'indices' to have one of the following scalar "
              "types: Long, Int; but got ",
              index, " instead");
}

void CheckMultinomial(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const at::Tensor& p = a[0].toTensor();
  const int64_t samples = a[1].toInt();
  const bool replacement = a[2].toBool();
  TORCH_CHECK(p.dim() == 1 || p.dim() == 2, entry.name, ": prob_dist must be 1 or 2 dim, got ",
              p.dim());
  TORCH_CHECK(at::isFloatingType(p.scalar_type()), entry.name,
              ": multinomial only supports floating-point dtypes for input, got ", p.scalar_type());
  if (entry.form == Form::kOut)
    TORCH_CHECK(a.back().toTensor().scalar_type() == at::kLong, entry.name,
                ": multinomial expects Long tensor out, got: ", a.back().toTensor().scalar_type());
  TORCH_CHECK(samples > 0, entry.name, ": cannot sample n_sample <= 0 samples");
  TORCH_CHECK(replacement || samples <= p.size(-1), entry.name,
              ": cannot sample n_sample > prob_dist.size(-1) samples without replacement");
  TORCH_CHECK(p.size(-1) <= (int64_t{1} << 24), entry.name,
              ": number of categories cannot exceed 2^24");
}

void CheckOutType(const OpEntry& entry, const at::Tensor& out, at::ScalarType expected) {
  TORCH_CHECK(out.scalar_type() == expected, entry.name, ": Expected out tensor to have dtype ",
              expected, ", but got ", out.scalar_type(), " instead");
}

void CheckNonzero(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  if (entry.form == Form::kOut) CheckOutType(entry, a.back().toTensor(), at::kLong);
}

void CheckMaskedSelect(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const at::Tensor& self = a[0].toTensor();
  const at::Tensor& mask = a[1].toTensor();
  TORCH_CHECK(mask.scalar_type() == at::kBool, entry.name,
              ": masked_select: expected BoolTensor for mask, but got ", mask.scalar_type());
  at::infer_size(self.sizes(), mask.sizes());
  if (entry.form != Form::kOut) return;
  TORCH_CHECK(a.back().toTensor().scalar_type() == self.scalar_type(), entry.name,
              ": masked_select(): self and result must have the same scalar type");
}

// Meta kernels do not look at every dimension, and a lowering trusts what it is given.
constexpr std::string_view kOtherRank[] = {
    "aten::stack", "aten::unsqueeze",    "aten::unsqueeze_copy",  "aten::diag_embed",
    "aten::cat",   "aten::linalg_cross", "aten::select_backward", "aten::unfold_backward"};
void CheckDimensions(const OpEntry& entry, std::string_view op, Arguments arguments) {
  if (std::ranges::count(kOtherRank, op) != 0 || arguments.empty() || !arguments[0].isTensor())
    return;
  const int64_t rank = arguments[0].toTensor().dim();
  const auto& schema = entry.op.schema().arguments();
  for (size_t i = 1; i < schema.size(); ++i) {
    if (schema[i].name() != "dim" && schema[i].name() != "dims") continue;
    if (arguments[i].isInt()) at::maybe_wrap_dim(arguments[i].toInt(), rank);
    if (!arguments[i].isIntList()) continue;
    for (const int64_t dim : arguments[i].toIntVector()) at::maybe_wrap_dim(dim, rank);
  }
}

void CheckFloating(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const auto type = a[0].toTensor().scalar_type();
  TORCH_CHECK(at::isFloatingType(type) || at::isComplexType(type), entry.name,
              ": only floating point and complex dtypes are supported, got ", type);
}

void CheckNotEmpty(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  if (entry.args.size() > 1 && entry.args[1].kind == ArgKind::kInt) {  // max.dim
    const at::Tensor& self = a[0].toTensor();
    const int64_t dim = at::maybe_wrap_dim(a[1].toInt(), self.dim());
    TORCH_CHECK_INDEX(self.dim() == 0 || self.size(dim) != 0, entry.name,
                      ": Expected reduction dim ", dim, " to have non-zero size.");
    return;
  }
  if (a.size() > 1 && a[1].isTensor() && entry.form != Form::kOut) return;  // max.other
  TORCH_CHECK(a[0].toTensor().numel() > 0, entry.name,
              ": Expected reduction dim to be specified for input.numel() == 0");
}

void CheckIndexPut(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  TORCH_CHECK(a[0].toTensor().scalar_type() == a[2].toTensor().scalar_type(), entry.name,
              ": Index put requires the source and destination dtypes match, got ",
              a[0].toTensor().scalar_type(), " for the destination and ",
              a[2].toTensor().scalar_type(), " for the source.");
}

void CheckBincount(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const at::Tensor& self = a[0].toTensor();
  TORCH_CHECK(a[2].toInt() >= 0, entry.name, ": minlength should be >= 0");
  TORCH_CHECK(self.dim() == 1 && at::isIntegralType(self.scalar_type(), /*includeBool=*/false),
              entry.name, ": only 1-d non-negative integral inputs");
  if (!a[1].isTensor()) return;
  TORCH_CHECK(a[1].toTensor().sizes() == self.sizes(), entry.name,
              ": weights should be 1-d and have the same length as input");
}

void CheckRepeats(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  const at::Tensor& repeats = a[0].toTensor();
  TORCH_CHECK(repeats.dim() == 1, entry.name, ": only a 1D vector of repeats");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt, entry.name,
              ": repeats has to be Long or Int tensor");
}

void CheckConvolution(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  for (const int64_t step : a[5].toIntVector())
    TORCH_CHECK(step > 0, entry.name, ": dilation should be greater than zero, got ", step);
}

// (values, indices) out
void CheckIndicesOut(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  if (entry.form == Form::kOut) CheckOutType(entry, a.back().toTensor(), at::kLong);
}

void CheckExtremesOut(const OpEntry& entry, Arguments a, std::span<const at::Tensor* const>) {
  if (entry.form != Form::kOut) return;
  for (const c10::IValue& out : a.last(2))
    CheckOutType(entry, out.toTensor(), a[0].toTensor().scalar_type());
}

constexpr Row kRows[] = {
    {"aten::mm", CheckOneDtype},
    {"aten::bmm", CheckOneDtype},
    {"aten::addmm", CheckOneDtype},
    {"aten::baddbmm", CheckOneDtype},
    {"aten::addbmm", CheckOneDtype},
    {"aten::mv", CheckOneDtype},
    {"aten::dot", CheckOneDtype},
    {"aten::vdot", CheckOneDtype},
    {"aten::addmv", CheckOneDtype},
    {"aten::convolution", CheckOneDtype},
    {"aten::convolution", CheckConvolution},
    {"aten::index_select", CheckIndexSelect},
    {"aten::index_add", CheckIndexAdd},
    {"aten::bucketize", CheckBucketize},
    {"aten::complex", CheckComplex},
    {"aten::embedding", CheckEmbedding},
    {"aten::multinomial", CheckMultinomial},
    {"aten::_softmax", CheckFloating},
    {"aten::_log_softmax", CheckFloating},
    {"aten::bincount", CheckBincount},
    {"aten::repeat_interleave", CheckRepeats},
    {"aten::var", CheckFloating},
    {"aten::std", CheckFloating},
    {"aten::var_mean", CheckFloating},
    {"aten::std_mean", CheckFloating},
    {"aten::max", CheckNotEmpty},
    {"aten::min", CheckNotEmpty},
    {"aten::mode", CheckNotEmpty},
    {"aten::aminmax", CheckExtremesOut},
    {"aten::index_put", CheckIndexPut},
    {"aten::_index_put_impl_", CheckIndexPut},
    {"aten::sort", CheckIndicesOut},
    {"aten::topk", CheckIndicesOut},
    {"aten::nonzero", CheckNonzero},
    {"aten::masked_select", CheckMaskedSelect},
};

}  // namespace

void CheckArguments(const OpEntry& entry, std::span<const c10::IValue> arguments,
                    std::span<const at::Tensor* const> tensors) {
  const std::string_view overload = entry.row->overload;
  const std::string_view op = overload.substr(0, overload.find('.'));
  for (const Row& row : kRows)
    if (row.op == op) row.check(entry, arguments, tensors);
  CheckDimensions(entry, op, arguments);
}

}  // namespace neuron::pytorch
