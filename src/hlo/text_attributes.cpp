#include "hlo/text_attributes.h"

#include <cstdio>
#include <functional>

#include "hlo/collective.h"
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

using Texts = std::vector<std::string>;

void AddList(Texts& texts, const char* name, const std::vector<int64_t>& values) {
  if (!values.empty()) texts.push_back(std::string(name) + "=" + ListText(values));
}
void AddFlag(Texts& texts, const char* name, bool value) {
  if (value) texts.push_back(std::string(name) + "=true");
}
void AddCount(Texts& texts, const char* name, int64_t value, int64_t otherwise) {
  if (value != otherwise) texts.push_back(std::string(name) + "=" + std::to_string(value));
}

// One field of a window: "stride=2x2", left out if it is `otherwise` everywhere.
void AddWindowField(std::string& out, const std::vector<WindowDimension>& window, const char* name,
                    const std::string& otherwise,
                    const std::function<std::string(const WindowDimension&)>& text) {
  std::string field;
  bool plain = true;
  for (const WindowDimension& d : window) {
    const std::string value = text(d);
    plain &= value == otherwise;
    field += (field.empty() ? "" : "x") + value;
  }
  if (!plain) out += (out.empty() ? "" : " ") + std::string(name) + "=" + field;
}

std::string WindowText(const std::vector<WindowDimension>& window) {
  std::string out;
  const auto number = [](int64_t WindowDimension::* member) {
    return [member](const WindowDimension& d) { return std::to_string(d.*member); };
  };
  AddWindowField(out, window, "size", "", number(&WindowDimension::size));
  AddWindowField(out, window, "stride", "1", number(&WindowDimension::stride));
  AddWindowField(out, window, "pad", "0_0", [](const WindowDimension& d) {
    return std::to_string(d.padding_low) + "_" + std::to_string(d.padding_high);
  });
  AddWindowField(out, window, "lhs_dilate", "1", number(&WindowDimension::base_dilation));
  AddWindowField(out, window, "rhs_dilate", "1", number(&WindowDimension::window_dilation));
  AddWindowField(out, window, "rhs_reversal", "0",
                 [](const WindowDimension& d) { return std::string(d.reversal ? "1" : "0"); });
  return "window={" + out + "}";
}

// "bf01": which role each dimension has; spatial ones are numbered.
std::string RoleText(char first_role, int64_t first, char second_role, int64_t second,
                     const std::vector<int64_t>& spatial) {
  std::string out(spatial.size() + 2, '?');
  out[static_cast<size_t>(first)] = first_role;
  out[static_cast<size_t>(second)] = second_role;
  for (size_t i = 0; i < spatial.size(); ++i)
    out[static_cast<size_t>(spatial[i])] = static_cast<char>('0' + i);
  return out;
}

void AddConvolution(Texts& texts, const Attributes& a) {
  const ConvolutionDimensions& c = a.convolution;
  if (!a.window.empty()) texts.push_back(WindowText(a.window));
  texts.push_back(
      "dim_labels=" + RoleText('b', c.input_batch, 'f', c.input_feature, c.input_spatial) + "_" +
      RoleText('i', c.kernel_input_feature, 'o', c.kernel_output_feature, c.kernel_spatial) + "->" +
      RoleText('b', c.output_batch, 'f', c.output_feature, c.output_spatial));
  AddCount(texts, "feature_group_count", a.feature_group_count, 1);
  AddCount(texts, "batch_group_count", a.batch_group_count, 1);
}

void AddSlice(Texts& texts, const Attributes& a) {
  std::string out;
  for (size_t d = 0; d < a.slice_starts.size(); ++d) {
    out += (d == 0 ? "[" : ", [") + std::to_string(a.slice_starts[d]) + ":" +
           std::to_string(a.slice_limits[d]);
    if (a.slice_strides[d] != 1) out += ":" + std::to_string(a.slice_strides[d]);
    out += "]";
  }
  texts.push_back("slice={" + out + "}");
}

void AddPadding(Texts& texts, const Attributes& a) {
  std::string out;
  for (const PaddingDimension& d : a.padding) {
    out += (out.empty() ? "" : "x") + std::to_string(d.low) + "_" + std::to_string(d.high);
    if (d.interior != 0) out += "_" + std::to_string(d.interior);
  }
  texts.push_back("padding=" + out);
}

void AddDot(Texts& texts, const DotDimensions& d) {
  AddList(texts, "lhs_batch_dims", d.lhs_batch);
  AddList(texts, "lhs_contracting_dims", d.lhs_contracting);
  AddList(texts, "rhs_batch_dims", d.rhs_batch);
  AddList(texts, "rhs_contracting_dims", d.rhs_contracting);
}

void AddGather(Texts& texts, const GatherDimensions& g) {
  texts.push_back("offset_dims=" + ListText(g.offset_dims));
  texts.push_back("collapsed_slice_dims=" + ListText(g.collapsed_slice_dims));
  texts.push_back("start_index_map=" + ListText(g.start_index_map));
  AddList(texts, "operand_batching_dims", g.operand_batching_dims);
  AddList(texts, "start_indices_batching_dims", g.start_indices_batching_dims);
  texts.push_back("index_vector_dim=" + std::to_string(g.index_vector_dim));
  texts.push_back("slice_sizes=" + ListText(g.slice_sizes));
  AddFlag(texts, "indices_are_sorted", g.indices_are_sorted);
}

void AddScatter(Texts& texts, const ScatterDimensions& s) {
  texts.push_back("update_window_dims=" + ListText(s.update_window_dims));
  texts.push_back("inserted_window_dims=" + ListText(s.inserted_window_dims));
  texts.push_back("scatter_dims_to_operand_dims=" + ListText(s.scatter_dims_to_operand_dims));
  AddList(texts, "input_batching_dims", s.input_batching_dims);
  AddList(texts, "scatter_indices_batching_dims", s.scatter_indices_batching_dims);
  texts.push_back("index_vector_dim=" + std::to_string(s.index_vector_dim));
  AddFlag(texts, "indices_are_sorted", s.indices_are_sorted);
  AddFlag(texts, "unique_indices", s.unique_indices);
}

void AddTriangularSolve(Texts& texts, const Attributes& a) {
  AddFlag(texts, "left_side", a.left_side);
  AddFlag(texts, "lower", a.lower);
  AddFlag(texts, "unit_diagonal", a.unit_diagonal);
  texts.emplace_back(a.transpose_a ? "transpose_a=TRANSPOSE" : "transpose_a=NO_TRANSPOSE");
}

std::string FloatText(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
}

void AddCollective(Texts& texts, const char* what, const Attributes& a) {
  AddCount(texts, "channel_id", a.channel_id, 0);
  std::string groups;
  for (const auto& group : a.groups) groups += (groups.empty() ? "" : ",") + ListText(group);
  texts.push_back(std::string(what) + "={" + groups + "}");
  AddFlag(texts, "use_global_device_ids", a.use_global_device_ids);
  AddList(texts, "dimensions", a.dimensions);
}

void AddCalled(Texts& texts, const Instruction& i) {
  const std::vector<Computation*>& called = i.called();
  if (called.empty()) return;
  switch (i.opcode()) {
    case Opcode::kWhile:
      texts.push_back("condition=" + called[0]->name());
      texts.push_back("body=" + called[1]->name());
      return;
    case Opcode::kSelectAndScatter:
      texts.push_back("select=" + called[0]->name());
      texts.push_back("scatter=" + called[1]->name());
      return;
    case Opcode::kConditional: {
      if (i.operand(0)->shape().dtype == DType::kPred) {
        texts.push_back("true_computation=" + called[0]->name());
        texts.push_back("false_computation=" + called[1]->name());
        return;
      }
      std::string names;
      for (const Computation* c : called) names += (names.empty() ? "" : ", ") + c->name();
      texts.push_back("branch_computations={" + names + "}");
      return;
    }
    case Opcode::kFusion:
      texts.push_back("calls=" + called[0]->name());
      return;
    default:
      texts.push_back("to_apply=" + called[0]->name());
  }
}

constexpr const char* kComparisons[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr const char* kFftTypes[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr const char* kAlgorithms[] = {"rng_default", "rng_three_fry", "rng_philox"};
constexpr const char* kDistributions[] = {"rng_invalid", "rng_uniform", "rng_normal"};

template <size_t n>
const char* NameOf(const char* const (&names)[n], int index) {
  return index >= 0 && index < static_cast<int>(n) ? names[index] : "?";
}

void AddOwn(Texts& texts, const Instruction& i) {
  const Attributes& a = i.attributes();
  switch (i.opcode()) {
    case Opcode::kBroadcast:  // also when empty: a scalar goes everywhere
    case Opcode::kTranspose:
    case Opcode::kReduce:
      texts.push_back("dimensions=" + ListText(a.dimensions));
      break;
    case Opcode::kIota:
      texts.push_back("iota_dimension=" + std::to_string(a.dimensions.at(0)));
      break;
    case Opcode::kGetTupleElement:
      texts.push_back("index=" + std::to_string(a.tuple_index));
      break;
    case Opcode::kCompare:
      texts.push_back("direction=" +
                      std::string(NameOf(kComparisons, static_cast<int>(a.comparison))));
      if (a.total_order) texts.emplace_back("type=TOTALORDER");
      break;
    case Opcode::kSlice:
      AddSlice(texts, a);
      break;
    case Opcode::kDynamicSlice:
      texts.push_back("dynamic_slice_sizes=" + ListText(a.dynamic_slice_sizes));
      break;
    case Opcode::kPad:
      AddPadding(texts, a);
      break;
    case Opcode::kDot:
      AddDot(texts, a.dot);
      break;
    case Opcode::kConvolution:
      AddConvolution(texts, a);
      break;
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      texts.push_back(WindowText(a.window));
      break;
    case Opcode::kGather:
      AddGather(texts, a.gather);
      break;
    case Opcode::kScatter:
      AddScatter(texts, a.scatter);
      break;
    case Opcode::kSort:
      AddList(texts, "dimensions", a.dimensions);
      AddFlag(texts, "is_stable", a.is_stable);
      break;
    case Opcode::kTopK:
      texts.push_back("k=" + std::to_string(a.k));
      texts.emplace_back(a.largest ? "largest=true" : "largest=false");
      break;
    case Opcode::kReducePrecision:
      texts.push_back("exponent_bits=" + std::to_string(a.exponent_bits));
      texts.push_back("mantissa_bits=" + std::to_string(a.mantissa_bits));
      break;
    case Opcode::kFft:
      texts.push_back("fft_type=" + std::string(NameOf(kFftTypes, a.fft_type)));
      AddList(texts, "fft_length", a.fft_length);
      break;
    case Opcode::kTriangularSolve:
      AddTriangularSolve(texts, a);
      break;
    case Opcode::kCholesky:
      AddFlag(texts, "lower", a.lower);
      break;
    case Opcode::kRngBitGenerator:
      texts.push_back("algorithm=" + std::string(NameOf(kAlgorithms, a.rng_algorithm)));
      break;
    case Opcode::kRng:
      texts.push_back("distribution=" + std::string(NameOf(kDistributions, a.rng_algorithm)));
      break;
    case Opcode::kCustomCall:
      texts.push_back("custom_call_target=\"" + a.custom_call_target + "\"");
      break;
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      texts.push_back("epsilon=" + FloatText(a.epsilon));
      texts.push_back("feature_index=" + std::to_string(a.feature_index));
      break;
    case Opcode::kFusion:
      texts.push_back("kind=" + a.backend_config);
      break;
    default:
      if (IsCollective(i.opcode())) {
        const bool pairs = IsCollectivePermute(i.opcode());
        AddCollective(texts, pairs ? "source_target_pairs" : "replica_groups", a);
      } else {
        AddList(texts, "dimensions", a.dimensions);
      }
      break;
  }
}

}  // namespace

std::vector<std::string> AttributeTexts(const Instruction& i) {
  Texts texts;
  AddOwn(texts, i);
  AddCalled(texts, i);
  return texts;
}

}  // namespace neuron::hlo
