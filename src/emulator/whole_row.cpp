#include "emulator/whole_row.h"

#include <algorithm>

namespace neuron::emulator {
namespace {

struct WholeRow : Operation::Payload {
  const KernelTable* kernels = nullptr;
  Domain domain = Domain::kFloat, dst_domain = Domain::kFloat;
  WholeRowFn fn = nullptr;
};

Status Execute(const Operation& operation, Execution& execution) {
  const auto& whole = operation.as<WholeRow>();
  ResolvedTiles<3> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  const Tile& dst = tiles.tile[0];
  const Tile& data = tiles.tile[1];
  std::vector<uint32_t> row_values;
  std::vector<uint32_t> other_values;
  std::vector<uint32_t> results(dst.elements());
  for (int64_t row = 0; row < data.rows(); ++row) {
    const uint32_t* values = ReadWholeRow(*whole.kernels, whole.domain, data, row, &row_values);
    const uint32_t* other =
        operation.tiles.size() > 2
            ? ReadWholeRow(*whole.kernels, whole.domain, tiles.tile[2], row, &other_values)
            : nullptr;
    whole.fn(values, data.elements(), other, results.data(), whole.domain);
    WriteWholeRow(*whole.kernels, whole.dst_domain, dst, row, results.data());
  }
  return OkStatus();
}

}  // namespace

Status DecodeWholeRow(const DecodeInput& input, std::string_view data, std::string_view other,
                      Domain domain, Domain dst_domain, WholeRowFn fn, Operation* op) {
  auto whole = std::make_unique<WholeRow>();
  whole->kernels = &input.kernels;
  whole->domain = domain;
  whole->dst_domain = dst_domain;
  whole->fn = fn;
  input.AddTile(op, "dst");
  input.AddTile(op, data);
  if (!other.empty()) input.AddTile(op, other);
  op->execute = Execute;
  op->payload = std::move(whole);
  return OkStatus();
}

}  // namespace neuron::emulator
