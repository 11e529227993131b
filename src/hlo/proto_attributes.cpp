#include "hlo/proto_attributes.h"

#include "hlo/proto_fields.h"
#include "hlo/shape_rules.h"

namespace neuron::hlo {
namespace {

Status ReadWindow(std::string_view bytes, std::vector<WindowDimension>& window) {
  namespace n = proto::window;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number != n::kDimensions) continue;
    WindowDimension d;
    // What is not written is 0, not our default.
    d.size = d.stride = d.window_dilation = d.base_dilation = 0;
    WireReader inner(r.Bytes(f));
    for (WireField g; inner.Next(g);) {
      switch (g.number) {
        case n::kSize:
          d.size = inner.Int(g);
          break;
        case n::kStride:
          d.stride = inner.Int(g);
          break;
        case n::kPaddingLow:
          d.padding_low = inner.Int(g);
          break;
        case n::kPaddingHigh:
          d.padding_high = inner.Int(g);
          break;
        case n::kWindowDilation:
          d.window_dilation = inner.Int(g);
          break;
        case n::kBaseDilation:
          d.base_dilation = inner.Int(g);
          break;
        case n::kReversal:
          d.reversal = inner.Bool(g);
          break;
        default:
          break;
      }
    }
    NEURON_RETURN_IF_ERROR(inner.status());
    window.push_back(d);
  }
  return r.status();
}

Status ReadPadding(std::string_view bytes, std::vector<PaddingDimension>& padding) {
  namespace n = proto::padding;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number != n::kDimensions) continue;
    PaddingDimension d;
    WireReader inner(r.Bytes(f));
    for (WireField g; inner.Next(g);) {
      switch (g.number) {
        case n::kLow:
          d.low = inner.Int(g);
          break;
        case n::kHigh:
          d.high = inner.Int(g);
          break;
        case n::kInterior:
          d.interior = inner.Int(g);
          break;
        default:
          break;
      }
    }
    NEURON_RETURN_IF_ERROR(inner.status());
    padding.push_back(d);
  }
  return r.status();
}

Status ReadSlice(std::string_view bytes, Attributes& a) {
  namespace n = proto::slice;
  int64_t start = 0, limit = 0, stride = 0;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kStart:
        start = r.Int(f);
        break;
      case n::kLimit:
        limit = r.Int(f);
        break;
      case n::kStride:
        stride = r.Int(f);
        break;
      default:
        break;
    }
  }
  a.slice_starts.push_back(start);
  a.slice_limits.push_back(limit);
  a.slice_strides.push_back(stride);
  return r.status();
}

Status ReadDot(std::string_view bytes, DotDimensions& d) {
  namespace n = proto::dot;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kLhsContracting:
        r.AppendInts(f, d.lhs_contracting);
        break;
      case n::kRhsContracting:
        r.AppendInts(f, d.rhs_contracting);
        break;
      case n::kLhsBatch:
        r.AppendInts(f, d.lhs_batch);
        break;
      case n::kRhsBatch:
        r.AppendInts(f, d.rhs_batch);
        break;
      default:
        break;
    }
  }
  return r.status();
}

Status ReadConvolution(std::string_view bytes, ConvolutionDimensions& d) {
  namespace n = proto::convolution;
  d.input_feature = d.kernel_input_feature = d.output_feature = 0;  // not written: 0
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kKernelInputFeature:
        d.kernel_input_feature = r.Int(f);
        break;
      case n::kKernelOutputFeature:
        d.kernel_output_feature = r.Int(f);
        break;
      case n::kKernelSpatial:
        r.AppendInts(f, d.kernel_spatial);
        break;
      case n::kInputBatch:
        d.input_batch = r.Int(f);
        break;
      case n::kInputFeature:
        d.input_feature = r.Int(f);
        break;
      case n::kOutputBatch:
        d.output_batch = r.Int(f);
        break;
      case n::kOutputFeature:
        d.output_feature = r.Int(f);
        break;
      case n::kInputSpatial:
        r.AppendInts(f, d.input_spatial);
        break;
      case n::kOutputSpatial:
        r.AppendInts(f, d.output_spatial);
        break;
      default:
        break;
    }
  }
  return r.status();
}

Status ReadGather(std::string_view bytes, GatherDimensions& d) {
  namespace n = proto::gather;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kOffsetDims:
        r.AppendInts(f, d.offset_dims);
        break;
      case n::kCollapsedSliceDims:
        r.AppendInts(f, d.collapsed_slice_dims);
        break;
      case n::kStartIndexMap:
        r.AppendInts(f, d.start_index_map);
        break;
      case n::kIndexVectorDim:
        d.index_vector_dim = r.Int(f);
        break;
      case n::kOperandBatchingDims:
        r.AppendInts(f, d.operand_batching_dims);
        break;
      case n::kStartIndicesBatchingDims:
        r.AppendInts(f, d.start_indices_batching_dims);
        break;
      default:
        break;
    }
  }
  return r.status();
}

Status ReadScatter(std::string_view bytes, ScatterDimensions& d) {
  namespace n = proto::scatter;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kUpdateWindowDims:
        r.AppendInts(f, d.update_window_dims);
        break;
      case n::kInsertedWindowDims:
        r.AppendInts(f, d.inserted_window_dims);
        break;
      case n::kScatterDimsToOperandDims:
        r.AppendInts(f, d.scatter_dims_to_operand_dims);
        break;
      case n::kIndexVectorDim:
        d.index_vector_dim = r.Int(f);
        break;
      case n::kInputBatchingDims:
        r.AppendInts(f, d.input_batching_dims);
        break;
      case n::kScatterIndicesBatchingDims:
        r.AppendInts(f, d.scatter_indices_batching_dims);
        break;
      default:
        break;
    }
  }
  return r.status();
}

Status ReadTriangularSolve(std::string_view bytes, InstructionRecord& record) {
  namespace n = proto::triangular_solve;
  Attributes& a = record.attributes;
  int64_t transpose = n::kNoTranspose;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    switch (f.number) {
      case n::kLeftSide:
        a.left_side = r.Bool(f);
        break;
      case n::kLower:
        a.lower = r.Bool(f);
        break;
      case n::kUnitDiagonal:
        a.unit_diagonal = r.Bool(f);
        break;
      case n::kTranspose:
        transpose = r.Int(f);
        break;
      default:
        break;
    }
  }
  if (transpose == n::kAdjoint && IsComplex(record.shape.dtype))
    return Unimplemented("triangular-solve with the adjoint of a complex matrix");
  a.transpose_a = transpose == n::kTransposed || transpose == n::kAdjoint;
  return r.status();
}

Status ReadGroup(std::string_view bytes, std::vector<std::vector<int64_t>>& groups) {
  std::vector<int64_t>& ids = groups.emplace_back();
  WireReader r(bytes);
  for (WireField f; r.Next(f);)
    if (f.number == proto::replica_group::kIds) r.AppendInts(f, ids);
  return r.status();
}

Status ReadPair(std::string_view bytes, std::vector<std::vector<int64_t>>& groups) {
  namespace n = proto::source_target;
  std::vector<int64_t>& pair = groups.emplace_back(2);
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number == n::kSource) pair[0] = r.Int(f);
    if (f.number == n::kTarget) pair[1] = r.Int(f);
  }
  return r.status();
}

// [groups, size] of an iota that is reshaped and transposed: "[2,4]<=[4,2]T(1,0)".
Status ReadIotaGroups(std::string_view bytes, std::vector<std::vector<int64_t>>& groups) {
  namespace n = proto::device_list;
  constexpr int64_t kMostReplicas = 1 << 20;
  int64_t count = 0, size = 0;
  std::vector<int64_t> dims, order;
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number == n::kNumGroups) count = r.Int(f);
    if (f.number == n::kGroupSize) size = r.Int(f);
    if (f.number == n::kReshape) r.AppendInts(f, dims);
    if (f.number == n::kTranspose) r.AppendInts(f, order);
  }
  NEURON_RETURN_IF_ERROR(r.status());
  const auto total = CheckedElements(dims);
  if (!total || dims.empty() || count < 1 || size < 1 || CheckedMultiply(count, size) != *total ||
      *total > kMostReplicas || order.size() != dims.size() ||
      !AreDistinctDimensions(order, static_cast<int64_t>(dims.size())))
    return InvalidArgument(count, " groups of ", size, " replicas do not make up ", ListText(dims));
  std::vector<int64_t> steps(dims.size(), 1), index(dims.size());
  for (size_t d = dims.size() - 1; d-- > 0;) steps[d] = steps[d + 1] * dims[d + 1];
  for (int64_t i = 0; i < *total; ++i) {
    if (i % size == 0) groups.emplace_back();
    int64_t id = 0;
    for (size_t d = 0; d < order.size(); ++d) id += index[d] * steps[static_cast<size_t>(order[d])];
    groups.back().push_back(id);
    for (size_t d = order.size(); d-- > 0;) {
      if (++index[d] < dims[static_cast<size_t>(order[d])]) break;
      index[d] = 0;
    }
  }
  return OkStatus();
}

Status ReadDeviceList(std::string_view bytes, std::vector<std::vector<int64_t>>& groups) {
  namespace n = proto::device_list;
  groups.clear();  // the older field says the same
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    if (f.number == n::kGroups) NEURON_RETURN_IF_ERROR(ReadGroup(r.Bytes(f), groups));
    if (f.number == n::kIota) NEURON_RETURN_IF_ERROR(ReadIotaGroups(r.Bytes(f), groups));
  }
  return r.status();
}

Status ReadComparison(std::string_view text, Comparison& comparison) {
  constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  for (size_t i = 0; i < std::size(kDirections); ++i) {
    if (text != kDirections[i]) continue;
    comparison = static_cast<Comparison>(i);
    return OkStatus();
  }
  return InvalidArgument("compare: no direction '", text, "'; expected EQ, NE, GE, GT, LE or LT");
}

Status ReadField(WireReader& r, const WireField& f, InstructionRecord& record) {
  namespace n = proto::instruction;
  Attributes& a = record.attributes;
  switch (f.number) {
    case n::kName:
      record.name = r.Bytes(f);
      break;
    case n::kOpcode:
      record.opcode = r.Bytes(f);
      break;
    case n::kId:
      record.id = r.Int(f);
      break;
    case n::kOperandIds:
      r.AppendInts(f, record.operand_ids);
      break;
    case n::kCalledIds:
      r.AppendInts(f, record.called_ids);
      break;
    case n::kShape: {
      NEURON_ASSIGN_OR_RETURN(record.shape, ReadShape(r.Bytes(f)));
      break;
    }
    case n::kLiteral: {
      NEURON_ASSIGN_OR_RETURN(a.literal, ReadLiteral(r.Bytes(f)));
      break;
    }
    case n::kMetadata: {
      WireReader inner(r.Bytes(f));
      for (WireField g; inner.Next(g);)
        if (g.number == proto::metadata::kOpName) record.metadata = inner.Bytes(g);
      return inner.status();
    }
    case n::kCholesky: {
      WireReader inner(r.Bytes(f));
      for (WireField g; inner.Next(g);)
        if (g.number == proto::cholesky::kLower) a.lower = inner.Bool(g);
      return inner.status();
    }
    case n::kParameterNumber:
      a.parameter_number = r.Int(f);
      break;
    case n::kTupleIndex:
      a.tuple_index = r.Int(f);
      break;
    case n::kDimensions:
      r.AppendInts(f, a.dimensions);
      break;
    case n::kWindow:
      return ReadWindow(r.Bytes(f), a.window);
    case n::kConvolution:
      return ReadConvolution(r.Bytes(f), a.convolution);
    case n::kSliceDimensions:
      return ReadSlice(r.Bytes(f), a);
    case n::kExponentBits:
      a.exponent_bits = static_cast<int>(r.Int(f));
      break;
    case n::kMantissaBits:
      a.mantissa_bits = static_cast<int>(r.Int(f));
      break;
    case n::kDynamicSliceSizes:
      r.AppendInts(f, a.dynamic_slice_sizes);
      break;
    case n::kPadding:
      return ReadPadding(r.Bytes(f), a.padding);
    case n::kCustomCallTarget:
      a.custom_call_target = r.Bytes(f);
      break;
    case n::kFusionKind:
    case n::kBackendConfig:
      a.backend_config = r.Bytes(f);
      break;
    case n::kDot:
      return ReadDot(r.Bytes(f), a.dot);
    case n::kFftType:
      a.fft_type = static_cast<int>(r.Int(f));
      break;
    case n::kFftLength:
      r.AppendInts(f, a.fft_length);
      break;
    case n::kGather:
      return ReadGather(r.Bytes(f), a.gather);
    case n::kGatherSliceSizes:
      r.AppendInts(f, a.gather.slice_sizes);
      break;
    case n::kScatter:
      return ReadScatter(r.Bytes(f), a.scatter);
    case n::kFeatureGroupCount:
      a.feature_group_count = r.Int(f);
      break;
    case n::kBatchGroupCount:
      a.batch_group_count = r.Int(f);
      break;
    case n::kTriangularSolve:
      return ReadTriangularSolve(r.Bytes(f), record);
    case n::kIsStable:
      a.is_stable = r.Bool(f);
      break;
    case n::kTopK:
      a.k = r.Int(f);
      break;
    case n::kLargest:
      a.largest = r.Bool(f);
      break;
    case n::kComparisonDirection:
      return ReadComparison(r.Bytes(f), a.comparison);
    case n::kComparisonType:
      a.total_order = r.Bytes(f) == "TOTALORDER";
      break;
    case n::kIndicesAreSorted:
      a.gather.indices_are_sorted = a.scatter.indices_are_sorted = r.Bool(f);
      break;
    case n::kUniqueIndices:
      a.scatter.unique_indices = r.Bool(f);
      break;
    case n::kDistribution:
    case n::kRngAlgorithm:
      a.rng_algorithm = static_cast<int>(r.Int(f));
      break;
    case n::kReplicaGroups:
      return ReadGroup(r.Bytes(f), a.groups);
    case n::kSourceTargetPairs:
      return ReadPair(r.Bytes(f), a.groups);
    case n::kCollectiveDevices:
      return ReadDeviceList(r.Bytes(f), a.groups);
    case n::kIotaDevices:
      a.groups.clear();
      return ReadIotaGroups(r.Bytes(f), a.groups);
    case n::kChannelId:
      a.channel_id = r.Int(f);
      break;
    case n::kUseGlobalDeviceIds:
      a.use_global_device_ids = r.Bool(f);
      break;
    case n::kEpsilon:
      a.epsilon = r.Float(f);
      break;
    case n::kFeatureIndex:
      a.feature_index = r.Int(f);
      break;
    default:
      break;  // hints, shardings and schedules
  }
  return OkStatus();
}

// Fields that XLA writes for ops that have no use of them go back to their defaults, so that equal
// instructions have equal attributes.
void DropUnused(InstructionRecord& record) {
  Attributes& a = record.attributes;
  if (record.opcode != "topk") {
    a.k = 0;
    a.largest = true;
  }
  if (record.opcode != "gather") a.gather = {};
  if (record.opcode != "scatter") a.scatter = {};
  if (!record.opcode.starts_with("batch-norm-")) a.feature_index = 0;
  if (record.opcode != "convolution") {
    a.convolution = {};
    a.feature_group_count = a.batch_group_count = 1;
  }
  // Not written means one group.
  if (a.feature_group_count == 0) a.feature_group_count = 1;
  if (a.batch_group_count == 0) a.batch_group_count = 1;
  if (record.opcode != "custom-call" && record.opcode != "fusion") a.backend_config.clear();
}

}  // namespace

StatusOr<InstructionRecord> ReadInstruction(std::string_view bytes) {
  InstructionRecord record;
  record.attributes.largest = false;  // unless it is written
  WireReader r(bytes);
  for (WireField f; r.Next(f);) {
    const Status read = ReadField(r, f, record);
    if (!read.ok()) return read.WithPrefix("instruction '" + record.name + "': ");
  }
  NEURON_RETURN_IF_ERROR(r.status());
  DropUnused(record);
  return record;
}

}  // namespace neuron::hlo
