#include "torch/memory_formats.h"

#include <ATen/core/Tensor.h>
#include <c10/core/MemoryFormat.h>

#include <algorithm>
#include <string_view>

namespace neuron::pytorch {
namespace {

using Arguments = std::span<const c10::IValue>;

// CPU's transposed convolution of volumes is contiguous.
bool IsNotTransposed(Arguments arguments) { return !arguments[6].toBool(); }
bool Always(Arguments) { return true; }

// The first result is channels_last if one of the first `deciding` arguments is. tests/conformance
// finds what is missing here (test_channels_last_matches_cpu).
struct Row {
  std::string_view op;
  size_t deciding;
  bool (*has_volumes)(Arguments) = Always;
};
constexpr Row kRows[] = {
    {"aten::convolution", 2, IsNotTransposed},
    {"aten::reflection_pad2d", 1},
    {"aten::reflection_pad3d", 1},
    {"aten::replication_pad2d", 1},
    {"aten::replication_pad3d", 1},
    {"aten::channel_shuffle", 1},
};

}  // namespace

void SetMemoryFormats(const OpEntry& entry, Arguments arguments, MetaResult& meta) {
  const std::string_view op = entry.row->overload;
  const Row* row = std::ranges::find(kRows, op, &Row::op);
  if (row == std::end(kRows) || meta.returns.empty()) return;
  TensorMeta& result = meta.returns[0];
  const auto wants = [&](c10::MemoryFormat format, size_t rank) {
    return result.sizes.size() == rank &&
           std::ranges::any_of(arguments.first(row->deciding), [&](const c10::IValue& value) {
             return value.isTensor() && value.toTensor().defined() &&
                    value.toTensor().suggest_memory_format() == format;
           });
  };
  if (wants(c10::MemoryFormat::ChannelsLast, 4))
    result.strides = c10::get_channels_last_strides_2d(at::IntArrayRef(result.sizes));
  else if (wants(c10::MemoryFormat::ChannelsLast3d, 5) && row->has_volumes(arguments))
    result.strides = c10::get_channels_last_strides_3d(at::IntArrayRef(result.sizes));
}

}  // namespace neuron::pytorch
