// Field numbers of the messages that HloModuleProto is made of.
// Source: openxla/xla, xla/service/hlo.proto and xla/xla_data.proto (message names as there).
#pragma once

#include <cstdint>

#include "base/dtype.h"

namespace neuron::hlo::proto {

using Field = uint32_t;

namespace module {  // HloModuleProto
constexpr Field kName = 1, kEntryName = 2, kComputations = 3, kProgramShape = 4, kId = 5,
                kEntryId = 6, kAlias = 8, kIsDynamic = 11;
}
namespace alias {  // HloInputOutputAliasProto and its AliasEntryProto
constexpr Field kEntries = 1;
constexpr Field kOutputIndex = 1, kParameter = 2, kParameterIndex = 3, kKind = 4;
constexpr int64_t kMayAlias = 1;
}  // namespace alias
namespace computation {  // HloComputationProto
constexpr Field kName = 1, kInstructions = 2, kProgramShape = 4, kId = 5, kRootId = 6,
                kIsFusion = 7;
}
namespace program_shape {  // ProgramShapeProto
constexpr Field kParameters = 1, kResult = 2, kParameterNames = 3;
}
namespace shape {  // ShapeProto
constexpr Field kElementType = 2, kDimensions = 3, kTupleShapes = 4, kLayout = 5, kIsDynamic = 6;
constexpr int64_t kTuple = 13, kToken = 17;
}  // namespace shape
namespace layout {  // LayoutProto
constexpr Field kMinorToMajor = 1;
}
namespace instruction {  // HloInstructionProto
constexpr Field kName = 1, kOpcode = 2, kShape = 3, kMetadata = 7, kLiteral = 8,
                kParameterNumber = 9, kFusionKind = 11, kTupleIndex = 13, kDimensions = 14,
                kWindow = 15, kConvolution = 16, kSliceDimensions = 17, kExponentBits = 18,
                kMantissaBits = 19, kDynamicSliceSizes = 20, kPadding = 21, kDistribution = 23,
                kEpsilon = 24, kFeatureIndex = 25, kChannelId = 26, kCustomCallTarget = 28,
                kDot = 30, kFftType = 31, kFftLength = 32, kGather = 33, kGatherSliceSizes = 34,
                kId = 35, kOperandIds = 36, kCalledIds = 38, kBackendConfig = 43, kScatter = 48,
                kReplicaGroups = 49, kFeatureGroupCount = 50, kSourceTargetPairs = 52,
                kOperandShapesWithLayout = 57, kBatchGroupCount = 58, kTriangularSolve = 59,
                kIsStable = 60, kCholesky = 62, kComparisonDirection = 63, kIndicesAreSorted = 67,
                kUniqueIndices = 69, kRngAlgorithm = 70, kUseGlobalDeviceIds = 71,
                kComparisonType = 72, kTopK = 81, kLargest = 85, kCollectiveDevices = 87,
                kIotaDevices = 92;
}
namespace replica_group {  // ReplicaGroup
constexpr Field kIds = 1;
}
namespace source_target {  // HloInstructionProto.SourceTarget
constexpr Field kSource = 1, kTarget = 2;
}
namespace device_list {  // CollectiveDeviceListProto and its IotaReplicaGroupListProto
constexpr Field kGroups = 1, kIota = 2;
constexpr Field kNumGroups = 1, kGroupSize = 2, kReshape = 3, kTranspose = 4;
}  // namespace device_list
namespace metadata {  // OpMetadata
constexpr Field kOpName = 2;
}
namespace slice {  // HloInstructionProto.SliceDimensions
constexpr Field kStart = 1, kLimit = 2, kStride = 3;
}
namespace padding {  // PaddingConfig and its PaddingConfigDimension
constexpr Field kDimensions = 1;
constexpr Field kLow = 1, kHigh = 2, kInterior = 3;
}  // namespace padding
namespace window {  // Window and WindowDimension
constexpr Field kDimensions = 1;
constexpr Field kSize = 1, kStride = 2, kPaddingLow = 3, kPaddingHigh = 4, kWindowDilation = 5,
                kBaseDilation = 6, kReversal = 7;
}  // namespace window
namespace dot {  // DotDimensionNumbers
constexpr Field kLhsContracting = 1, kRhsContracting = 2, kLhsBatch = 3, kRhsBatch = 4;
}
namespace convolution {  // ConvolutionDimensionNumbers
constexpr Field kKernelInputFeature = 3, kKernelOutputFeature = 4, kKernelSpatial = 6,
                kInputBatch = 7, kInputFeature = 8, kOutputBatch = 9, kOutputFeature = 10,
                kInputSpatial = 11, kOutputSpatial = 12;
}
namespace gather {  // GatherDimensionNumbers
constexpr Field kOffsetDims = 1, kCollapsedSliceDims = 2, kStartIndexMap = 3, kIndexVectorDim = 4,
                kOperandBatchingDims = 5, kStartIndicesBatchingDims = 6;
}
namespace scatter {  // ScatterDimensionNumbers
constexpr Field kUpdateWindowDims = 1, kInsertedWindowDims = 2, kScatterDimsToOperandDims = 3,
                kIndexVectorDim = 4, kInputBatchingDims = 5, kScatterIndicesBatchingDims = 6;
}
namespace triangular_solve {  // TriangularSolveOptions
constexpr Field kLeftSide = 1, kLower = 2, kUnitDiagonal = 3, kTranspose = 4;
constexpr int64_t kNoTranspose = 1, kTransposed = 2, kAdjoint = 3;
}  // namespace triangular_solve
namespace cholesky {  // CholeskyOptions
constexpr Field kLower = 1;
}

namespace literal {  // LiteralProto
constexpr Field kShape = 1;

// Where a dtype's elements stand: in a list of varints or floats, or as their bytes.
enum class Storage : uint8_t { kVarints, kBytes };
struct Elements {
  Field field;
  Storage storage;
};
// Packed lists of float and double are their bytes too; field 0: no literal of this dtype.
constexpr Elements ElementsOf(DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return {2, Storage::kBytes};  // packed bool: one byte each
    case DType::kU8:
      return {3, Storage::kBytes};
    case DType::kS32:
      return {4, Storage::kVarints};
    case DType::kS64:
      return {5, Storage::kVarints};
    case DType::kU32:
      return {6, Storage::kVarints};
    case DType::kU64:
      return {7, Storage::kVarints};
    case DType::kF32:
      return {8, Storage::kBytes};
    case DType::kF64:
      return {9, Storage::kBytes};
    case DType::kF16:
      return {11, Storage::kBytes};
    case DType::kC64:
      return {12, Storage::kBytes};
    case DType::kBF16:
      return {13, Storage::kBytes};
    case DType::kS8:
      return {15, Storage::kBytes};
    case DType::kU16:
      return {16, Storage::kBytes};
    case DType::kS16:
      return {17, Storage::kBytes};
    case DType::kC128:
      return {18, Storage::kBytes};
    case DType::kF8E5M2:
      return {19, Storage::kBytes};
    case DType::kF8E4M3FN:
      return {20, Storage::kBytes};
    case DType::kF8E4M3:
      return {28, Storage::kBytes};
    case DType::kF4E2M1FN:
      return {32, Storage::kBytes};
    case DType::kF8E8M0FNU:
      return {33, Storage::kBytes};
    default:
      return {0, Storage::kBytes};
  }
}
}  // namespace literal

}  // namespace neuron::hlo::proto
