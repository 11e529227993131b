#include "emulator/gpsimd_kernel.h"

#include <bit>

#include "emulator/decoder.h"

namespace neuron::emulator {
namespace {

constexpr size_t kMaxTiles = 24;

struct Kernel : Operation::Payload {
  GpSimdKernel run = nullptr;
  std::vector<isa::Affine> parameters;
};

// Kernels see dense spans. A tile that is none passes through a copy.
struct Span {
  KernelTensor tensor;
  TileShape flat;
  std::vector<std::byte> copy;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& kernel = operation.as<Kernel>();
  ResolvedTiles<kMaxTiles> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const size_t count = operation.tiles.size();
  std::vector<Span> spans(count);
  std::vector<KernelTensor> tensors(count);
  for (size_t i = 0; i < count; ++i) {
    const Tile& tile = tiles.tile[i];
    Span& span = spans[i];
    span.flat = tile.shape->Flattened();
    KernelTensor& tensor = tensors[i];
    tensor.dtype = tile.shape->dtype;
    tensor.elements = tile.rows() * tile.elements();
    tensor.data = reinterpret_cast<std::byte*>(tile.data);
    if (span.flat.contiguous()) continue;
    span.copy.resize(tensor.elements * tile.shape->element_bytes);
    tensor.data = span.copy.data();
    GatherRow(span.flat, tile.data, 0, tensor.elements, tensor.data);
  }
  std::vector<int64_t> parameters;
  parameters.reserve(kernel.parameters.size());
  for (const isa::Affine& parameter : kernel.parameters)
    parameters.push_back(parameter.Evaluate(execution.registers));
  const Status status = kernel.run(tensors, parameters);
  if (!status.ok()) return status.WithPrefix(StrCat(NameOf(operation), ": "));
  for (size_t i = 0; i < count; ++i)
    if (operation.tiles[i].written && !spans[i].copy.empty())
      ScatterRow(spans[i].flat, tiles.tile[i].data, 0, tensors[i].elements, tensors[i].data);
  return OkStatus();
}

isa::Affine ParameterOf(const isa::Operand& operand) {
  if (const auto* integer = std::get_if<int64_t>(&operand)) return isa::Affine(*integer);
  if (const auto* number = std::get_if<double>(&operand))
    return isa::Affine(std::bit_cast<int64_t>(*number));
  if (const auto* reg = std::get_if<isa::RegisterOperand>(&operand))
    return isa::Affine::Of(reg->reg);
  if (const auto* affine = std::get_if<isa::Affine>(&operand)) return *affine;
  return {};
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto kernel = std::make_unique<Kernel>();
  const auto& name = std::get<std::string>(input.in["name"]);
  kernel->run = FindGpSimdKernel(name);
  if (kernel->run == nullptr)
    return NotFound(NameOf(*op), ": no GpSimd kernel is named '", name, "'");
  const auto& operands = input.in.instruction().operands;
  const auto outputs = static_cast<size_t>(input.in.Integer("num_outputs"));
  for (size_t i = input.in.Find("arguments"); i < operands.size(); ++i) {
    if (std::holds_alternative<isa::AccessPattern>(operands[i])) {
      const int tile = input.AddTile(op, static_cast<int>(i));
      op->tiles[tile].written = op->tiles.size() <= outputs;
    } else if (const auto* list = std::get_if<std::vector<int64_t>>(&operands[i])) {
      for (const int64_t integer : *list) kernel->parameters.emplace_back(integer);
    } else {
      kernel->parameters.push_back(ParameterOf(operands[i]));
    }
  }
  if (op->tiles.size() > kMaxTiles)
    return InvalidArgument(NameOf(*op), ": ", op->tiles.size(), " tiles, at most ", kMaxTiles);
  op->execute = Execute;
  op->payload = std::move(kernel);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_gpsimd_kernel;
const InstructionSemantics kSemantics_gpsimd_kernel{Decode};

}  // namespace neuron::emulator
