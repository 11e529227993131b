// Status and StatusOr: how everything below src/torch reports what failed.
//
// A message says who, what was expected, what came and what to do; factories join their arguments:
//   return InvalidArgument("nc_matmul: stationary has ", k, " partitions, trn2 allows 128");
// Nothing here throws. A Status is a plain value, safe to copy between threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

namespace neuron {

enum class StatusCode : uint8_t {
  kOk = 0,
  kInvalidArgument,     // the caller's value is wrong whatever the state
  kInvalidHandle,       // a handle that names nothing (any more)
  kNotFound,            // a name that is not in a table
  kOutOfRange,          // an index or an address beyond its extent
  kFailedPrecondition,  // right call, wrong state (not initialised, closed, busy)
  kResourceExhausted,   // memory, cores, queue slots
  kUnimplemented,       // legal, but not supported here
  kDataLoss,            // a file or a program that fails its checksum
  kTimeout,
  kUnavailable,  // try again, or elsewhere
  kInternal,     // our own bug
};

std::string_view StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : ""; }
  std::string ToString() const;  // "INVALID_ARGUMENT: message"

  // The same status with `prefix` before the message: where an error passes through a caller
  // that knows more (a file, an op). Requires !ok().
  Status WithPrefix(std::string_view prefix) const;

 private:
  struct Rep {
    StatusCode code;
    std::string message;
  };
  std::shared_ptr<const Rep> rep_;
};

inline Status OkStatus() { return Status(); }

template <typename... Parts>
std::string StrCat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return std::move(out).str();
}

#define NEURON_STATUS_FACTORY(Name)                       \
  template <typename... Parts>                            \
  Status Name(const Parts&... parts) {                    \
    return Status(StatusCode::k##Name, StrCat(parts...)); \
  }                                                       \
  inline bool Is##Name(const Status& s) { return s.code() == StatusCode::k##Name; }
NEURON_STATUS_FACTORY(InvalidArgument)
NEURON_STATUS_FACTORY(InvalidHandle)
NEURON_STATUS_FACTORY(NotFound)
NEURON_STATUS_FACTORY(OutOfRange)
NEURON_STATUS_FACTORY(FailedPrecondition)
NEURON_STATUS_FACTORY(ResourceExhausted)
NEURON_STATUS_FACTORY(Unimplemented)
NEURON_STATUS_FACTORY(DataLoss)
NEURON_STATUS_FACTORY(Timeout)
NEURON_STATUS_FACTORY(Unavailable)
NEURON_STATUS_FACTORY(Internal)
#undef NEURON_STATUS_FACTORY

[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& message);

// Our own invariant: prints file, line and message, then aborts. Never for what a user can cause.
#define NEURON_CHECK(condition, ...)                                                           \
  do {                                                                                         \
    if (!(condition)) [[unlikely]]                                                             \
      ::neuron::CheckFailed(__FILE__, __LINE__, #condition, ::neuron::StrCat("" __VA_ARGS__)); \
  } while (false)

template <typename T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(Status status) : status_(std::move(status)) {  // NOLINT(google-explicit-constructor)
    NEURON_CHECK(!status_.ok(), "StatusOr built from an OK status");
  }
  StatusOr(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  // Require ok().
  const T& value() const& {
    CheckOk();
    return *value_;
  }
  T& value() & {
    CheckOk();
    return *value_;
  }
  T&& value() && {
    CheckOk();
    return *std::move(value_);
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }

 private:
  void CheckOk() const { NEURON_CHECK(ok(), "StatusOr holds: ", status_.ToString()); }
  Status status_;
  std::optional<T> value_;
};

#define NEURON_RETURN_IF_ERROR(expr)                                      \
  do {                                                                    \
    if (::neuron::Status status_ = (expr); !status_.ok()) return status_; \
  } while (false)

#define NEURON_STATUS_CONCAT_INNER(a, b) a##b
#define NEURON_STATUS_CONCAT(a, b) NEURON_STATUS_CONCAT_INNER(a, b)
#define NEURON_ASSIGN_OR_RETURN_IMPL(tmp, lhs, expr) \
  auto tmp = (expr);                                 \
  if (!tmp.ok()) return tmp.status();                \
  lhs = std::move(tmp).value()
// NEURON_ASSIGN_OR_RETURN(const Shape shape, InferDot(a, b));
#define NEURON_ASSIGN_OR_RETURN(lhs, expr) \
  NEURON_ASSIGN_OR_RETURN_IMPL(NEURON_STATUS_CONCAT(status_or_, __LINE__), lhs, expr)

}  // namespace neuron
