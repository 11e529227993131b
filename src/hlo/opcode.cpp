#include "hlo/opcode.h"

#include <string>
#include <unordered_map>

namespace neuron::hlo {
namespace {

struct Row {
  std::string_view name, builder_name;
  int arity;
};
constexpr Row kRows[] = {
#define V(name, text, arity) {text, #name, arity},
    NEURON_HLO_OPCODES(V)
#undef V
};

constexpr std::string_view kOptimised =
    "XLA's optimisations make it; pass the module as it is before them";
constexpr std::string_view kHost =
    "a program has arguments and results only; pass what it carries as one of them";
constexpr std::string_view kOrder =
    "it orders effects, of which a program has none; leave it out of the module";
constexpr std::string_view kInverse =
    "say it with logarithms, exponentials and square roots, as XLA's clients do";

struct Reason {
  std::string_view name, why;
};
// All opcodes of XLA that kRows has not.
constexpr Reason kReasons[] = {
    {"acos", kInverse},
    {"acosh", kInverse},
    {"add-dependency", kOptimised},
    {"after-all", kOrder},
    {"asin", kInverse},
    {"asinh", kInverse},
    {"async-done", kOptimised},
    {"async-start", kOptimised},
    {"async-update", kOptimised},
    {"atanh", kInverse},
    {"bitcast", kOptimised},
    {"copy-done", kOptimised},
    {"copy-start", kOptimised},
    {"cosh", kInverse},
    {"domain", kOptimised},
    {"infeed", kHost},
    {"outfeed", kHost},
    {"ragged-all-to-all", "rows that differ in length are to be padded for all-to-all"},
    {"ragged-dot", "say it with gather and dot, or one dot per group"},
    {"recv", kHost},
    {"recv-done", kHost},
    {"rng-get-and-update-state", "pass the state as an argument to rng-bit-generator"},
    {"scaled-dot", "multiply by the scales and use dot"},
    {"send", kHost},
    {"send-done", kHost},
    {"sinh", kInverse},
    {"stochastic-convert", "convert rounds to nearest; add the random bits before truncating"},
};

}  // namespace

std::string_view WhyNoOpcode(std::string_view name) {
  for (const Reason& reason : kReasons)
    if (reason.name == name) return reason.why;
  return "";
}

std::vector<Opcode> AllOpcodes() {
  std::vector<Opcode> all(std::size(kRows));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<Opcode>(i);
  return all;
}
std::string_view OpcodeName(Opcode opcode) { return kRows[static_cast<size_t>(opcode)].name; }
std::string_view OpcodeBuilderName(Opcode opcode) {
  return kRows[static_cast<size_t>(opcode)].builder_name;
}
int OpcodeArity(Opcode opcode) { return kRows[static_cast<size_t>(opcode)].arity; }

std::optional<Opcode> OpcodeFromName(std::string_view name) {
  static const auto* by_name = [] {
    auto* map = new std::unordered_map<std::string_view, Opcode>;
    for (size_t i = 0; i < std::size(kRows); ++i) (*map)[kRows[i].name] = static_cast<Opcode>(i);
    return map;
  }();
  const auto found = by_name->find(name);
  if (found == by_name->end()) return std::nullopt;
  return found->second;
}

bool IsElementwise(Opcode opcode) {
  switch (opcode) {
    case Opcode::kAbs:
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kAtan2:
    case Opcode::kCbrt:
    case Opcode::kCeil:
    case Opcode::kClamp:
    case Opcode::kClz:
    case Opcode::kCompare:
    case Opcode::kComplex:
    case Opcode::kConvert:
    case Opcode::kCopy:
    case Opcode::kCos:
    case Opcode::kDivide:
    case Opcode::kErf:
    case Opcode::kExp:
    case Opcode::kExpm1:
    case Opcode::kFloor:
    case Opcode::kImag:
    case Opcode::kIsFinite:
    case Opcode::kLog:
    case Opcode::kLog1p:
    case Opcode::kLogistic:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kNegate:
    case Opcode::kNot:
    case Opcode::kOr:
    case Opcode::kPopcnt:
    case Opcode::kPower:
    case Opcode::kReal:
    case Opcode::kReducePrecision:
    case Opcode::kRemainder:
    case Opcode::kRoundNearestAfz:
    case Opcode::kRoundNearestEven:
    case Opcode::kRsqrt:
    case Opcode::kSelect:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kShiftRightLogical:
    case Opcode::kSign:
    case Opcode::kSin:
    case Opcode::kSqrt:
    case Opcode::kSubtract:
    case Opcode::kTan:
    case Opcode::kTanh:
    case Opcode::kXor:
      return true;
    default:
      return false;
  }
}

}  // namespace neuron::hlo
