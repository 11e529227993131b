// NRT_STATUS as text and as Status, in both directions: one row per code.
#pragma once

#include <string_view>

#include "base/status.h"
#include "nrt/nrt_abi.h"

namespace neuron::nrt {

bool IsStatus(NRT_STATUS status);                // a number of the published table
std::string_view StatusName(NRT_STATUS status);  // "NRT_RESOURCE"; "NRT_STATUS ?" if not known
std::string_view StatusMeaning(NRT_STATUS status);

// OK for NRT_SUCCESS; else "nrt_load: NRT_RESOURCE (4): <meaning>", the code the row names.
Status ToStatus(NRT_STATUS status, std::string_view call);
// What an implementation of NRT answers for a Status of its own.
NRT_STATUS FromStatus(const Status& status);

}  // namespace neuron::nrt
