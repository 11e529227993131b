#include <cstring>
#include <unordered_map>

#include "hlo/collective.h"
#include "hlo/proto.h"
#include "hlo/proto_fields.h"
#include "hlo/wire.h"

namespace neuron::hlo {
namespace {

WireWriter WriteShape(const Shape& shape) {
  namespace f = proto::shape;
  WireWriter w;
  if (shape.kind == Shape::Kind::kToken) w.Int(f::kElementType, f::kToken);
  if (shape.is_tuple()) {
    w.Int(f::kElementType, f::kTuple);
    for (const Shape& element : shape.elements) w.Message(f::kTupleShapes, WriteShape(element));
  }
  if (!shape.is_array()) return w;
  w.Int(f::kElementType, static_cast<int64_t>(shape.dtype));
  w.Ints(f::kDimensions, shape.dims);
  WireWriter layout;
  std::vector<int64_t> minor_to_major;
  for (int64_t d = shape.rank(); d-- > 0;) minor_to_major.push_back(d);
  layout.Ints(proto::layout::kMinorToMajor, minor_to_major);
  w.Message(f::kLayout, layout);
  // XLA wants one flag for each dimension.
  std::vector<int64_t> dynamic(shape.dynamic.begin(), shape.dynamic.end());
  dynamic.resize(shape.dims.size());
  w.Ints(f::kIsDynamic, dynamic);
  return w;
}

template <typename T>
std::vector<int64_t> Widen(const std::string& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return {values.begin(), values.end()};
}

std::vector<int64_t> IntegersOf(const Literal& literal) {
  switch (literal.shape().dtype) {
    case DType::kS32:
      return Widen<int32_t>(literal.bytes());
    case DType::kU32:
      return Widen<uint32_t>(literal.bytes());
    default:
      return Widen<int64_t>(literal.bytes());  // u64 travels as the same 64 bits
  }
}

WireWriter WriteLiteral(const Literal& literal) {
  namespace f = proto::literal;
  WireWriter w;
  w.Message(f::kShape, WriteShape(literal.shape()));
  const f::Elements elements = f::ElementsOf(literal.shape().dtype);
  NEURON_CHECK(elements.field != 0, "no literal of ", DTypeName(literal.shape().dtype));
  if (elements.storage == f::Storage::kVarints)
    w.Ints(elements.field, IntegersOf(literal));
  else
    w.Bytes(elements.field, literal.bytes());
  return w;
}

WireWriter WriteWindow(const std::vector<WindowDimension>& window) {
  namespace f = proto::window;
  WireWriter w;
  for (const WindowDimension& d : window) {
    WireWriter dimension;
    dimension.Int(f::kSize, d.size);
    dimension.Int(f::kStride, d.stride);
    dimension.Int(f::kPaddingLow, d.padding_low);
    dimension.Int(f::kPaddingHigh, d.padding_high);
    dimension.Int(f::kWindowDilation, d.window_dilation);
    dimension.Int(f::kBaseDilation, d.base_dilation);
    dimension.Int(f::kReversal, d.reversal);
    w.Message(f::kDimensions, dimension);
  }
  return w;
}

WireWriter WritePadding(const std::vector<PaddingDimension>& padding) {
  namespace f = proto::padding;
  WireWriter w;
  for (const PaddingDimension& d : padding) {
    WireWriter dimension;
    dimension.Int(f::kLow, d.low);
    dimension.Int(f::kHigh, d.high);
    dimension.Int(f::kInterior, d.interior);
    w.Message(f::kDimensions, dimension);
  }
  return w;
}

WireWriter WriteDot(const DotDimensions& d) {
  namespace f = proto::dot;
  WireWriter w;
  w.Ints(f::kLhsContracting, d.lhs_contracting);
  w.Ints(f::kRhsContracting, d.rhs_contracting);
  w.Ints(f::kLhsBatch, d.lhs_batch);
  w.Ints(f::kRhsBatch, d.rhs_batch);
  return w;
}

WireWriter WriteConvolution(const ConvolutionDimensions& d) {
  namespace f = proto::convolution;
  WireWriter w;
  w.Int(f::kKernelInputFeature, d.kernel_input_feature);
  w.Int(f::kKernelOutputFeature, d.kernel_output_feature);
  w.Ints(f::kKernelSpatial, d.kernel_spatial);
  w.Int(f::kInputBatch, d.input_batch);
  w.Int(f::kInputFeature, d.input_feature);
  w.Int(f::kOutputBatch, d.output_batch);
  w.Int(f::kOutputFeature, d.output_feature);
  w.Ints(f::kInputSpatial, d.input_spatial);
  w.Ints(f::kOutputSpatial, d.output_spatial);
  return w;
}

WireWriter WriteGather(const GatherDimensions& d) {
  namespace f = proto::gather;
  WireWriter w;
  w.Ints(f::kOffsetDims, d.offset_dims);
  w.Ints(f::kCollapsedSliceDims, d.collapsed_slice_dims);
  w.Ints(f::kStartIndexMap, d.start_index_map);
  w.Int(f::kIndexVectorDim, d.index_vector_dim);
  w.Ints(f::kOperandBatchingDims, d.operand_batching_dims);
  w.Ints(f::kStartIndicesBatchingDims, d.start_indices_batching_dims);
  return w;
}

WireWriter WriteScatter(const ScatterDimensions& d) {
  namespace f = proto::scatter;
  WireWriter w;
  w.Ints(f::kUpdateWindowDims, d.update_window_dims);
  w.Ints(f::kInsertedWindowDims, d.inserted_window_dims);
  w.Ints(f::kScatterDimsToOperandDims, d.scatter_dims_to_operand_dims);
  w.Int(f::kIndexVectorDim, d.index_vector_dim);
  w.Ints(f::kInputBatchingDims, d.input_batching_dims);
  w.Ints(f::kScatterIndicesBatchingDims, d.scatter_indices_batching_dims);
  return w;
}

void WriteCompare(WireWriter& w, const Instruction& i) {
  namespace f = proto::instruction;
  constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  w.Text(f::kComparisonDirection, kDirections[static_cast<size_t>(i.attributes().comparison)]);
  const DType dtype = i.operand(0)->shape().dtype;
  const bool is_unsigned = IsUnsigned(dtype) || dtype == DType::kPred;
  w.Text(f::kComparisonType, i.attributes().total_order ? "TOTALORDER"
                             : IsSigned(dtype)          ? "SIGNED"
                             : is_unsigned              ? "UNSIGNED"
                                                        : "FLOAT");
}

void WriteSlice(WireWriter& w, const Attributes& a) {
  namespace f = proto::slice;
  for (size_t d = 0; d < a.slice_starts.size(); ++d) {
    WireWriter dimension;
    dimension.Int(f::kStart, a.slice_starts[d]);
    dimension.Int(f::kLimit, a.slice_limits[d]);
    dimension.Int(f::kStride, a.slice_strides[d]);
    w.Message(proto::instruction::kSliceDimensions, dimension);
  }
}

void WriteTriangularSolve(WireWriter& w, const Attributes& a) {
  namespace f = proto::triangular_solve;
  WireWriter options;
  options.Int(f::kLeftSide, a.left_side);
  options.Int(f::kLower, a.lower);
  options.Int(f::kUnitDiagonal, a.unit_diagonal);
  options.Int(f::kTranspose, a.transpose_a ? f::kTransposed : f::kNoTranspose);
  w.Message(proto::instruction::kTriangularSolve, options);
}

void WriteCholesky(WireWriter& w, const Attributes& a) {
  WireWriter options;
  options.Int(proto::cholesky::kLower, a.lower);
  w.Message(proto::instruction::kCholesky, options);
}

void WriteCollective(WireWriter& w, const Instruction& i) {
  namespace f = proto::instruction;
  const Attributes& a = i.attributes();
  const bool pairs =
      i.opcode() == Opcode::kCollectivePermute || i.opcode() == Opcode::kCollectivePermuteStart;
  for (const std::vector<int64_t>& group : a.groups) {
    WireWriter inner;
    if (pairs) {
      inner.Int(proto::source_target::kSource, group[0]);
      inner.Int(proto::source_target::kTarget, group[1]);
    } else {
      inner.Ints(proto::replica_group::kIds, group);
    }
    w.Message(pairs ? f::kSourceTargetPairs : f::kReplicaGroups, inner);
  }
  w.Int(f::kChannelId, a.channel_id);
  w.Int(f::kUseGlobalDeviceIds, a.use_global_device_ids);
}

// The attributes that belong to the opcode.
void WriteAttributes(WireWriter& w, const Instruction& i) {
  namespace f = proto::instruction;
  const Attributes& a = i.attributes();
  w.Ints(f::kDimensions, a.dimensions);
  if (!a.window.empty()) w.Message(f::kWindow, WriteWindow(a.window));
  switch (i.opcode()) {
    case Opcode::kParameter:
      w.Int(f::kParameterNumber, a.parameter_number);
      break;
    case Opcode::kConstant:
      w.Message(f::kLiteral, WriteLiteral(a.literal));
      break;
    case Opcode::kGetTupleElement:
      w.Int(f::kTupleIndex, a.tuple_index);
      break;
    case Opcode::kCompare:
      WriteCompare(w, i);
      break;
    case Opcode::kSlice:
      WriteSlice(w, a);
      break;
    case Opcode::kDynamicSlice:
      w.Ints(f::kDynamicSliceSizes, a.dynamic_slice_sizes);
      break;
    case Opcode::kPad:
      w.Message(f::kPadding, WritePadding(a.padding));
      break;
    case Opcode::kDot:
      w.Message(f::kDot, WriteDot(a.dot));
      break;
    case Opcode::kConvolution:
      w.Message(f::kConvolution, WriteConvolution(a.convolution));
      w.Int(f::kFeatureGroupCount, a.feature_group_count);
      w.Int(f::kBatchGroupCount, a.batch_group_count);
      break;
    case Opcode::kGather:
      w.Message(f::kGather, WriteGather(a.gather));
      w.Ints(f::kGatherSliceSizes, a.gather.slice_sizes);
      w.Int(f::kIndicesAreSorted, a.gather.indices_are_sorted);
      break;
    case Opcode::kScatter:
      w.Message(f::kScatter, WriteScatter(a.scatter));
      w.Int(f::kIndicesAreSorted, a.scatter.indices_are_sorted);
      w.Int(f::kUniqueIndices, a.scatter.unique_indices);
      break;
    case Opcode::kSort:
      w.Int(f::kIsStable, a.is_stable);
      break;
    case Opcode::kTopK:
      w.Int(f::kTopK, a.k);
      w.Int(f::kLargest, a.largest);
      break;
    case Opcode::kRng:
      w.Int(f::kDistribution, a.rng_algorithm);
      break;
    case Opcode::kRngBitGenerator:
      w.Int(f::kRngAlgorithm, a.rng_algorithm);
      break;
    case Opcode::kReducePrecision:
      w.Int(f::kExponentBits, a.exponent_bits);
      w.Int(f::kMantissaBits, a.mantissa_bits);
      break;
    case Opcode::kFft:
      w.Int(f::kFftType, a.fft_type);
      w.Ints(f::kFftLength, a.fft_length);
      break;
    case Opcode::kTriangularSolve:
      WriteTriangularSolve(w, a);
      break;
    case Opcode::kCholesky:
      WriteCholesky(w, a);
      break;
    case Opcode::kCustomCall:
      w.Text(f::kCustomCallTarget, a.custom_call_target);
      w.Bytes(f::kBackendConfig, a.backend_config);
      break;
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      w.Float(f::kEpsilon, a.epsilon);
      w.Int(f::kFeatureIndex, a.feature_index);
      break;
    case Opcode::kFusion:
      w.Text(f::kFusionKind, a.backend_config);
      break;
    default:
      if (IsCollective(i.opcode())) WriteCollective(w, i);
      break;
  }
}

WireWriter WriteProgramShape(const Computation& c) {
  namespace f = proto::program_shape;
  WireWriter w;
  const std::vector<Instruction*> parameters = c.Parameters();
  for (const Instruction* p : parameters) w.Message(f::kParameters, WriteShape(p->shape()));
  w.Message(f::kResult, WriteShape(c.root()->shape()));
  for (const Instruction* p : parameters) w.Text(f::kParameterNames, p->name());
  return w;
}

class ModuleWriter {
 public:
  std::string Write(const Module& module) {
    namespace f = proto::module;
    const std::vector<Computation*> order = module.PostOrder();
    for (const Computation* c : order)
      computation_ids_[c] = static_cast<int64_t>(computation_ids_.size()) + 1;
    for (const Computation* c : order)
      for (const auto& i : c->instructions())
        if (i->opcode() == Opcode::kFusion)
          for (const Computation* called : i->called()) fusion_[called] = true;
    WireWriter w;
    w.Text(f::kName, module.name());
    w.Text(f::kEntryName, module.entry()->name());
    w.Int(f::kEntryId, computation_ids_.at(module.entry()));
    for (const Computation* c : order) w.Message(f::kComputations, WriteComputation(*c));
    w.Message(f::kProgramShape, WriteProgramShape(*module.entry()));
    w.Int(f::kId, 1);
    if (!module.aliases().empty()) w.Message(f::kAlias, WriteAliases(module));
    return std::move(w).Take();
  }

 private:
  WireWriter WriteComputation(const Computation& c) {
    namespace f = proto::computation;
    // XLA keeps instructions in a vector indexed by id: small and dense.
    for (const auto& i : c.instructions()) instruction_ids_[i.get()] = next_id_++;
    WireWriter w;
    w.Text(f::kName, c.name());
    for (const auto& i : c.instructions()) w.Message(f::kInstructions, WriteInstruction(*i));
    w.Message(f::kProgramShape, WriteProgramShape(c));
    w.Int(f::kId, computation_ids_.at(&c));
    w.Int(f::kRootId, instruction_ids_.at(c.root()));
    w.Int(f::kIsFusion, fusion_.contains(&c));
    return w;
  }

  WireWriter WriteInstruction(const Instruction& i) const {
    namespace f = proto::instruction;
    WireWriter w;
    w.Text(f::kName, i.name());
    w.Text(f::kOpcode, OpcodeName(i.opcode()));
    w.Message(f::kShape, WriteShape(i.shape()));
    if (!i.metadata().empty()) {
      WireWriter metadata;
      metadata.Text(proto::metadata::kOpName, i.metadata());
      w.Message(f::kMetadata, metadata);
    }
    WriteAttributes(w, i);
    w.Int(f::kId, instruction_ids_.at(&i));
    std::vector<int64_t> operands, called;
    for (const Instruction* operand : i.operands())
      operands.push_back(instruction_ids_.at(operand));
    for (const Computation* c : i.called()) called.push_back(computation_ids_.at(c));
    // XLA lists a loop's body before its condition.
    if (i.opcode() == Opcode::kWhile) std::swap(called[0], called[1]);
    w.Ints(f::kOperandIds, operands);
    w.Ints(f::kCalledIds, called);
    return w;
  }

  static WireWriter WriteAliases(const Module& module) {
    namespace f = proto::alias;
    WireWriter w;
    const bool tuple = module.entry()->root()->shape().is_tuple();
    for (const InputOutputAlias& alias : module.aliases()) {
      WireWriter entry;
      if (tuple) entry.Ints(f::kOutputIndex, std::vector<int64_t>{alias.output});
      entry.Int(f::kParameter, alias.parameter);
      entry.Int(f::kKind, f::kMayAlias);
      w.Message(f::kEntries, entry);
    }
    return w;
  }

  std::unordered_map<const Computation*, int64_t> computation_ids_;
  std::unordered_map<const Instruction*, int64_t> instruction_ids_;
  std::unordered_map<const Computation*, bool> fusion_;
  int64_t next_id_ = 1;
};

}  // namespace

std::string ToProto(const Module& module) { return ModuleWriter().Write(module); }

}  // namespace neuron::hlo
