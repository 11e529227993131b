#include <bit>
#include <vector>

#include "emulator/decoder.h"
#include "emulator/row_io.h"
#include "emulator/row_order.h"

namespace neuron::emulator {
namespace {

constexpr uint32_t kNowhere = 0xffffffffu;

struct Replace : Operation::Payload {
  const KernelTable* kernels = nullptr;
  Domain domain = Domain::kFloat;
  uint32_t imm = 0;
  int indices = -1;  // position of dst_idx among the tiles
};

// Takes the vals from the last to the first; each takes the first place that no other took.
void Match(uint32_t* data, int64_t n, const uint32_t* vals, uint32_t imm, Domain domain,
           uint32_t* found) {
  uint32_t keys[8];
  for (int j = 0; j < 8; ++j) keys[j] = OrderKey(vals[j], domain);
  for (int j = 7; j >= 0; --j) {
    int64_t from = 0;
    for (int later = 7; later > j; --later)
      if (keys[later] == keys[j]) from = found[later] == kNowhere ? n : int64_t{found[later]} + 1;
    found[j] = kNowhere;
    for (int64_t i = from; i < n; ++i) {
      if (OrderKey(data[i], domain) != keys[j]) continue;
      found[j] = static_cast<uint32_t>(i);
      break;
    }
  }
  for (int j = 0; j < 8; ++j)
    if (found[j] != kNowhere) data[found[j]] = imm;
}

Status Execute(const Operation& operation, Execution& execution) {
  const auto& replace = operation.as<Replace>();
  ResolvedTiles<4> tiles;
  NEURON_RETURN_IF_ERROR(tiles.Resolve(operation, execution));
  std::vector<uint32_t> data_buffer, vals_buffer;
  uint32_t found[8];
  for (int64_t row = 0; row < tiles.tile[0].rows(); ++row) {
    uint32_t* data =
        ReadWholeRow(*replace.kernels, replace.domain, tiles.tile[1], row, &data_buffer);
    const uint32_t* vals =
        ReadWholeRow(*replace.kernels, replace.domain, tiles.tile[2], row, &vals_buffer);
    Match(data, tiles.tile[1].elements(), vals, replace.imm, replace.domain, found);
    WriteWholeRow(*replace.kernels, replace.domain, tiles.tile[0], row, data);
    if (replace.indices >= 0)
      WriteWholeRow(*replace.kernels, Domain::kUnsigned, tiles.tile[replace.indices], row, found);
  }
  return OkStatus();
}

Status Decode(const DecodeInput& input, Operation* op) {
  auto replace = std::make_unique<Replace>();
  replace->kernels = &input.kernels;
  if (isa::IsIntegerArithmetic(input.in.instruction()))
    replace->domain = DomainOf(input.in.Tile("data")->dtype);
  const double imm = input.in.Number("imm");
  replace->imm = replace->domain == Domain::kFloat
                     ? std::bit_cast<uint32_t>(static_cast<float>(imm))
                     : static_cast<uint32_t>(static_cast<int64_t>(imm));
  input.AddTile(op, "dst");
  input.AddTile(op, "data");
  input.AddTile(op, "vals");
  replace->indices = input.AddTile(op, "dst_idx");
  op->execute = Execute;
  op->payload = std::move(replace);
  return OkStatus();
}

}  // namespace

extern const InstructionSemantics kSemantics_nc_match_replace8;
const InstructionSemantics kSemantics_nc_match_replace8{Decode};

}  // namespace neuron::emulator
