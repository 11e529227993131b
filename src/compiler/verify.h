// What every pass must leave behind, checked: Options::verify. An internal error names the rule.
#pragma once

#include "compiler/kernel_plan.h"

namespace neuron::compiler {

// Operands precede their users and every shape is the one its rule gives. Loops and branches are
// exempt from the latter: their operands are leaves, and their results those that change.
Status VerifyCanonical(const CanonicalModule& canonical);

// `pass` made this plan. Every member stands in one kernel, behind what it reads there; what it
// reads of earlier kernels is stored by these (or in its place, placement.h); all results are
// computed; views stay inside their buffers.
Status VerifyPlan(const CanonicalModule& canonical, const Plan& plan, std::string_view pass);

}  // namespace neuron::compiler
