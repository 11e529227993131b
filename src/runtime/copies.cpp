// Copies of runtime.h.
#include <utility>

#include "runtime/process.h"
#include "runtime/runtime.h"

namespace neuron::runtime {
namespace {

// A transfer to the device of at most this size is copied aside, so that the caller need not wait
// for what stands before it in the stream.
constexpr int64_t kMaxStaged = 64 << 10;
// Host time under which waking the worker costs more than the copy.
constexpr int64_t kMaxInline = 64 << 10;

Status CheckBytes(int64_t bytes) {
  return bytes >= 0 ? OkStatus() : InvalidArgument("copy: the size must not be negative: ", bytes);
}

}  // namespace

Status CopyToDevice(int device, StreamId stream, void* device_to, const void* host_from,
                    int64_t bytes, bool blocking) {
  if (bytes == 0) return OkStatus();
  NEURON_RETURN_IF_ERROR(CheckBytes(bytes));
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  CopyTask copy{.kind = CopyTask::Kind::kToDevice,
                .to = device_to,
                .from = host_from,
                .bytes = bytes,
                .staged = {}};
  if (bytes <= kMaxStaged && !(blocking && found->queue().IsIdle(stream))) {
    copy.staged.assign(static_cast<const char*>(host_from), static_cast<size_t>(bytes));
    return found->queue().Submit(stream, std::move(copy), true);
  }
  if (blocking) return found->queue().SubmitAndWait(stream, std::move(copy));
  return found->queue().Submit(stream, std::move(copy), bytes <= kMaxInline);
}

Status CopyToHost(int device, StreamId stream, void* host_to, const void* device_from,
                  int64_t bytes, bool blocking) {
  if (bytes == 0) return OkStatus();
  NEURON_RETURN_IF_ERROR(CheckBytes(bytes));
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  CopyTask copy{.kind = CopyTask::Kind::kToHost,
                .to = host_to,
                .from = device_from,
                .bytes = bytes,
                .staged = {}};
  if (blocking) return found->queue().SubmitAndWait(stream, std::move(copy));
  return found->queue().Submit(stream, std::move(copy), bytes <= kMaxInline);
}

Status CopyOnDevice(int device, StreamId stream, void* to, const void* from, int64_t bytes) {
  if (bytes == 0) return OkStatus();
  NEURON_RETURN_IF_ERROR(CheckBytes(bytes));
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  return found->queue().Submit(
      stream,
      CopyTask{
          .kind = CopyTask::Kind::kOnDevice, .to = to, .from = from, .bytes = bytes, .staged = {}},
      bytes <= kMaxInline);
}

Status Fill(int device, StreamId stream, void* to, uint8_t byte, int64_t bytes) {
  if (bytes == 0) return OkStatus();
  NEURON_RETURN_IF_ERROR(CheckBytes(bytes));
  NEURON_ASSIGN_OR_RETURN(Device * found, GetDevice(device));
  return found->queue().Submit(
      stream,
      CopyTask{.kind = CopyTask::Kind::kFill, .byte = byte, .to = to, .bytes = bytes, .staged = {}},
      bytes <= kMaxInline);
}

}  // namespace neuron::runtime
