#ifndef FIRN_DEVICE_CHECK_H_
#define FIRN_DEVICE_CHECK_H_

#include <string>

#include "firn/device/message.h"

// FIRN_CHECK(condition, parts...) ends the process with file, line, the condition and the parts put
// together when the condition is false. It guards invariants that only Firn's own code can break: a
// caller's mistake is a Status (device/status_macros.h), never a check.
//
//   FIRN_CHECK(block.data != nullptr, "freed twice, size class ", block.size_class);
#define FIRN_CHECK(condition, ...)                                            \
  (__builtin_expect(static_cast<bool>(condition), 1)                          \
       ? static_cast<void>(0)                                                 \
       : ::firn::inner::internal::CheckFailed(__FILE__, __LINE__, #condition, \
                                              ::firn::inner::internal::Message(__VA_ARGS__)))

// The same in debug builds, and with FIRN_DCHECK_ALWAYS defined; otherwise the condition is
// compiled but not evaluated.
#if !defined(NDEBUG) || defined(FIRN_DCHECK_ALWAYS)
#define FIRN_DCHECK(condition, ...) FIRN_CHECK(condition __VA_OPT__(, ) __VA_ARGS__)
#else
#define FIRN_DCHECK(condition, ...) static_cast<void>(false && static_cast<bool>(condition))
#endif

namespace firn::inner {
// Whether this file was compiled as a debug build's are.
#ifdef NDEBUG
inline constexpr bool kAssertions = false;
#else
inline constexpr bool kAssertions = true;
#endif
}  // namespace firn::inner

namespace firn::inner::internal {

// Prints "file:line: check failed: condition: message" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition,
                              const std::string& message);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_CHECK_H_
