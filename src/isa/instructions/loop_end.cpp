#include "isa/row.h"

namespace neuron::isa {
namespace {}  // namespace

constinit const InstructionDef kDef_loop_end{
    .mnemonic = "loop_end",
    .summary = "End a counted loop.",
    .doc = "Ends the innermost open loop.",
    .engines = Bit(Engine::kSync),
    .source = "NKI 0.6 reference, nki.language.fori_loop",
};

}  // namespace neuron::isa
