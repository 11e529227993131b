#include "isa/row.h"

namespace neuron::isa {
namespace {

using namespace sendrecv_operands;

constexpr OperandDef kOperands[] = {
    In("src", kSbuf, kAnyDType, "[P, N]"),
    Out("dst", kSbuf, kAnyDType, "[P, N], src's dtype"),
    Value("send_to_rank", OperandKind::kInteger, "core that gets src: 0 or 1"),
    Value("recv_from_rank", OperandKind::kInteger, "core that dst comes from: 0 or 1"),
    Value("pipe_id", OperandKind::kInteger, "names the exchange"),
    Optional(Value("dma_engine", OperandKind::kInteger, "1 dma, 2 gpsimd_dma; 1 if absent")),
};
static_assert(std::size(kOperands) == kCount);

Status Check(const Instruction& instruction, Target) {
  NEURON_RETURN_IF_ERROR(CheckSameShape(instruction, "sendrecv.shape", {kSrc, kDst}));
  NEURON_RETURN_IF_ERROR(CheckSameDType(instruction, "sendrecv.dtype", kSrc, kDst));
  for (const size_t operand : {size_t{kSendToRank}, size_t{kRecvFromRank}})
    NEURON_RETURN_IF_ERROR(
        CheckRange("sendrecv.rank", "a rank", IntegerAt(instruction, operand), 0, 1));
  const int64_t engine = IntegerAt(instruction, kDmaEngine, 1);
  NEURON_RETURN_IF_ERROR(CheckRange("sendrecv.dma_engine", "dma_engine", engine, 1, 2));
  if (engine != static_cast<int64_t>(DmaEngine::kGpSimdDma)) return OkStatus();
  const int64_t size = ByteSize(TileAt(instruction, kSrc).dtype);
  // Documented: 1024, 512 and 256 bytes for 32, 16 and 8-bit types.
  return CheckRange("sendrecv.gpsimd_dma", "elements per partition", ElementsOf(instruction, kSrc),
                    1, size > 4 ? 0 : 256);
}

double Cost(const CostInput& input) {
  return DmaNs(input, kSrc, 0.5);  // inferred: a transfer from SBUF to SBUF, half the rate
}

}  // namespace

constinit const InstructionDef kDef_sendrecv{
    .mnemonic = "sendrecv",
    .summary = "Exchange tiles with the other core of a logical core.",
    .doc =
        "Both physical cores of a logical core issue it with the same pipe_id; dst on this core = "
        "src of core "
        "recv_from_rank, bits moved. What it writes is there, and src may be overwritten, once "
        "both came.",
    .engines = Bit(Engine::kDma),
    .operands = kOperands,
    .check = Check,
    .cost = Cost,
    .cost_doc = "as dma_copy, at half its rate",
    .source = "NKI 0.6 reference, nki.isa.sendrecv",
};

}  // namespace neuron::isa
