#ifndef FIRN_DEVICE_STATUS_MACROS_H_
#define FIRN_DEVICE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "firn/device/inner.h"
#include "firn/device/message.h"

// Leaves the function with the status of `expr` (an absl::Status) unless it is OK.
#define FIRN_RETURN_IF_ERROR(...)                                     \
  do {                                                                \
    ::absl::Status firn_status_ = (__VA_ARGS__);                      \
    if (__builtin_expect(!firn_status_.ok(), 0)) return firn_status_; \
  } while (false)

// Leaves the function with the status of `expr` (an absl::StatusOr<T>) unless it holds a value,
// which is otherwise moved into `lhs`:
//   FIRN_ASSIGN_OR_RETURN(const Block block, allocator.Allocate(bytes, tag));
#define FIRN_ASSIGN_OR_RETURN(lhs, ...) \
  FIRN_ASSIGN_OR_RETURN_IMPL_(FIRN_CONCAT_(firn_status_or_, __COUNTER__), lhs, (__VA_ARGS__))

// Leaves the function with `status` when `condition` holds; the status is made only then.
//   FIRN_RETURN_IF(k <= 0, InvalidArgument("max_pool2d: kernel is ", k, " (want >= 1)"));
#define FIRN_RETURN_IF(condition, ...)                       \
  do {                                                       \
    if (__builtin_expect(static_cast<bool>(condition), 0)) { \
      return (__VA_ARGS__);                                  \
    }                                                        \
  } while (false)

#define FIRN_CONCAT_(a, b) FIRN_CONCAT_IMPL_(a, b)
#define FIRN_CONCAT_IMPL_(a, b) a##b
#define FIRN_ASSIGN_OR_RETURN_IMPL_(result, lhs, expr)                      \
  auto result = expr;                                                       \
  if (__builtin_expect(!result.ok(), 0)) return std::move(result).status(); \
  lhs = *std::move(result)

namespace firn {

// One error of each code Firn uses, with the parts put together as by absl::StrCat
// (std::string_view is accepted too). A message names the operation, what was expected and what
// came: "conv2d: weight is [64, 3, 7, 7] but x has 4 channels (want 3)".

// The arguments are wrong whatever the state: shapes, dtypes, sizes.
template <class... Parts>
absl::Status InvalidArgument(const Parts&... parts) {
  return absl::InvalidArgumentError(internal::Message(parts...));
}

// The arguments would be fine in another state: a pending parameter, a freed graph.
template <class... Parts>
absl::Status FailedPrecondition(const Parts&... parts) {
  return absl::FailedPreconditionError(internal::Message(parts...));
}

// An index or a position beyond the end.
template <class... Parts>
absl::Status OutOfRange(const Parts&... parts) {
  return absl::OutOfRangeError(internal::Message(parts...));
}

// Memory (or disk) ran out, or a limit was reached.
template <class... Parts>
absl::Status ResourceExhausted(const Parts&... parts) {
  return absl::ResourceExhaustedError(internal::Message(parts...));
}

// A file or a stream is damaged.
template <class... Parts>
absl::Status DataLoss(const Parts&... parts) {
  return absl::DataLossError(internal::Message(parts...));
}

// A name, a file or a key does not exist.
template <class... Parts>
absl::Status NotFound(const Parts&... parts) {
  return absl::NotFoundError(internal::Message(parts...));
}

// Legal, but no kernel or code path does it.
template <class... Parts>
absl::Status Unimplemented(const Parts&... parts) {
  return absl::UnimplementedError(internal::Message(parts...));
}

// The device or service is not there: no CUDA in this build, no GPU in this machine.
template <class... Parts>
absl::Status Unavailable(const Parts&... parts) {
  return absl::UnavailableError(internal::Message(parts...));
}

// Something below Firn failed in a way that no caller can mend.
template <class... Parts>
absl::Status Internal(const Parts&... parts) {
  return absl::InternalError(internal::Message(parts...));
}

}  // namespace firn

#endif  // FIRN_DEVICE_STATUS_MACROS_H_
