// The end of a process that found one of its own invariants broken. Written with stdio, which works
// during static construction and destruction too.
#include "device/check.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace firn::inner::internal {

void CheckFailed(const char* file, int line, const char* condition, const std::string& message) {
  std::fprintf(stderr, "%s:%d: check failed: %s%s%s\n", file, line, condition,
               message.empty() ? "" : ": ", message.c_str());
  std::fflush(stderr);
  std::abort();
}

}  // namespace firn::inner::internal
