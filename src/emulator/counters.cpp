#include "emulator/counters.h"

#include "base/status.h"

namespace neuron::emulator {

void Counters::Add(const Counters& other) {
  for (int i = 0; i < kMaxOpcodes; ++i) instructions[i] += other.instructions[i];
  tensor_multiplies += other.tensor_multiplies;
  dma_bytes_read += other.dma_bytes_read;
  dma_bytes_written += other.dma_bytes_written;
  executions += other.executions;
}

std::string Counters::ToJson() const {
  std::string json =
      StrCat("{\"executions\":", executions, ",\"tensor_multiplies\":", tensor_multiplies,
             ",\"dma_bytes_read\":", dma_bytes_read, ",\"dma_bytes_written\":", dma_bytes_written,
             ",\"instructions\":{");
  bool first = true;
  for (size_t i = 0; i < isa::InstructionTable().size(); ++i) {
    if (instructions[i] == 0) continue;
    json +=
        StrCat(first ? "" : ",", '"', isa::InstructionTable()[i]->mnemonic, "\":", instructions[i]);
    first = false;
  }
  return json + "}}";
}

}  // namespace neuron::emulator
