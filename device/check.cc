// The end of a process that found one of its own invariants broken. Written with stdio, which works
// during static construction and destruction too.
#include "firn/device/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

#include "firn/device/bare_check.h"

namespace firn::inner::internal {

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, condition,
               message.empty() ? "" : ": ", message.c_str());
  std::fflush(stderr);
  std::abort();
}

void CheckFailed(const char* file, int line, const char* condition) {
  CheckFailed(file, line, condition, "");
}

}  // namespace firn::inner::internal
