#include "nrt/status_table.h"

namespace neuron::nrt {
namespace {

struct Row {
  NRT_STATUS status;
  std::string_view name;
  StatusCode code;
  std::string_view meaning;
};
#define NEURON_NRT_ROW(status) status, #status
constexpr Row kRows[] = {
    {NEURON_NRT_ROW(NRT_SUCCESS), StatusCode::kOk, "success"},
    {NEURON_NRT_ROW(NRT_FAILURE), StatusCode::kInternal, "failed without a specific cause"},
    {NEURON_NRT_ROW(NRT_INVALID), StatusCode::kInvalidArgument,
     "the program, an argument, or a tensor's name or size is invalid"},
    {NEURON_NRT_ROW(NRT_INVALID_HANDLE), StatusCode::kInvalidHandle, "the handle names nothing"},
    {NEURON_NRT_ROW(NRT_RESOURCE), StatusCode::kResourceExhausted,
     "device memory or another resource ran out"},
    {NEURON_NRT_ROW(NRT_TIMEOUT), StatusCode::kTimeout, "did not end in time"},
    {NEURON_NRT_ROW(NRT_HW_ERROR), StatusCode::kUnavailable, "the hardware failed"},
    {NEURON_NRT_ROW(NRT_QUEUE_FULL), StatusCode::kUnavailable, "the request queue is full"},
    {NEURON_NRT_ROW(NRT_LOAD_NOT_ENOUGH_NC), StatusCode::kResourceExhausted,
     "the program needs more NeuronCores than are free"},
    {NEURON_NRT_ROW(NRT_UNSUPPORTED_NEFF_VERSION), StatusCode::kUnimplemented,
     "this library cannot run programs of that format or version"},
    {NEURON_NRT_ROW(NRT_FAIL_HOST_MEM_ALLOC), StatusCode::kResourceExhausted,
     "host memory ran out"},
    {NEURON_NRT_ROW(NRT_UNINITIALIZED), StatusCode::kFailedPrecondition, "nrt_init was not called"},
    {NEURON_NRT_ROW(NRT_CLOSED), StatusCode::kFailedPrecondition, "nrt_close was called"},
    {NEURON_NRT_ROW(NRT_QUEUE_EMPTY), StatusCode::kUnavailable, "the queue is empty"},
    {NEURON_NRT_ROW(NRT_EXEC_UNIT_UNRECOVERABLE), StatusCode::kInternal,
     "the execution unit is lost; restart the process"},
    {NEURON_NRT_ROW(NRT_EXEC_BAD_INPUT), StatusCode::kInvalidArgument,
     "the inputs of the execution do not fit the program"},
    {NEURON_NRT_ROW(NRT_EXEC_COMPLETED_WITH_NUM_ERR), StatusCode::kOutOfRange,
     "a NaN was produced"},
    {NEURON_NRT_ROW(NRT_EXEC_COMPLETED_WITH_ERR), StatusCode::kInternal,
     "the execution ended with an error"},
    {NEURON_NRT_ROW(NRT_EXEC_NC_BUSY), StatusCode::kUnavailable,
     "the NeuronCore is taken by another model or process"},
    {NEURON_NRT_ROW(NRT_EXEC_OOB), StatusCode::kOutOfRange, "an indirect access was out of bounds"},
    {NEURON_NRT_ROW(NRT_COLL_PENDING), StatusCode::kUnavailable, "a collective is pending"},
    {NEURON_NRT_ROW(NRT_EXEC_HW_ERR_COLLECTIVES), StatusCode::kUnavailable,
     "stuck in a collective"},
    {NEURON_NRT_ROW(NRT_EXEC_HW_ERR_HBM_UE), StatusCode::kDataLoss,
     "uncorrectable error of the HBM"},
    {NEURON_NRT_ROW(NRT_EXEC_HW_ERR_NC_UE), StatusCode::kDataLoss,
     "parity error in on-core memory"},
    {NEURON_NRT_ROW(NRT_EXEC_HW_ERR_DMA_ABORT), StatusCode::kUnavailable, "a DMA engine aborted"},
    {NEURON_NRT_ROW(NRT_EXEC_SW_NQ_OVERFLOW), StatusCode::kUnavailable,
     "the notification queue overflowed"},
    {NEURON_NRT_ROW(NRT_EXEC_HW_ERR_REPAIRABLE_HBM_UE), StatusCode::kDataLoss,
     "repairable error of the HBM"},
    {NEURON_NRT_ROW(NRT_NETWORK_PROXY_FAILURE), StatusCode::kUnavailable,
     "the network proxy failed"},
};
#undef NEURON_NRT_ROW

const Row* Find(NRT_STATUS status) {
  for (const Row& row : kRows) {
    if (row.status == status) return &row;
  }
  return nullptr;
}

}  // namespace

bool IsStatus(NRT_STATUS status) { return Find(status) != nullptr; }

std::string_view StatusName(NRT_STATUS status) {
  const Row* row = Find(status);
  return row ? row->name : "NRT_STATUS ?";
}

std::string_view StatusMeaning(NRT_STATUS status) {
  const Row* row = Find(status);
  return row ? row->meaning : "a status this version does not know";
}

Status ToStatus(NRT_STATUS status, std::string_view call) {
  if (status == NRT_SUCCESS) [[likely]]
    return OkStatus();
  const Row* row = Find(status);
  return Status(row ? row->code : StatusCode::kInternal,
                StrCat(call, ": ", StatusName(status), " (", static_cast<int>(status),
                       "): ", StatusMeaning(status)));
}

NRT_STATUS FromStatus(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return NRT_SUCCESS;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kOutOfRange:
    case StatusCode::kDataLoss:
      return NRT_INVALID;
    case StatusCode::kInvalidHandle:
      return NRT_INVALID_HANDLE;
    case StatusCode::kFailedPrecondition:
      return NRT_FAILURE;
    case StatusCode::kResourceExhausted:
      return NRT_RESOURCE;
    case StatusCode::kUnimplemented:
      return NRT_UNSUPPORTED_NEFF_VERSION;
    case StatusCode::kTimeout:
      return NRT_TIMEOUT;
    case StatusCode::kUnavailable:
      return NRT_EXEC_NC_BUSY;
    case StatusCode::kInternal:
      return NRT_FAILURE;
  }
  return NRT_FAILURE;
}

}  // namespace neuron::nrt
