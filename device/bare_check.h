#ifndef FIRN_DEVICE_BARE_CHECK_H_
#define FIRN_DEVICE_BARE_CHECK_H_

// FIRN_DCHECK(condition) of device/check.h without parts, for headers that firn.h includes: the
// parts are joined by Abseil, which takes long to compile.
#if !defined(NDEBUG) || defined(FIRN_DCHECK_ALWAYS)
#define FIRN_BARE_DCHECK(condition)                  \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::firn::inner::internal::CheckFailed(__FILE__, __LINE__, #condition))
#else
#define FIRN_BARE_DCHECK(condition) static_cast<void>(false && static_cast<bool>(condition))
#endif

namespace firn::inner::internal {

// Prints "file:line: check failed: condition" to stderr and aborts.
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);

}  // namespace firn::inner::internal

#endif  // FIRN_DEVICE_BARE_CHECK_H_
