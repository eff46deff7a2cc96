#ifndef FIRN_DEVICE_TESTING_H_
#define FIRN_DEVICE_TESTING_H_

#include <cstdint>

namespace firn {

// For tests of error paths: while one is in scope, the n-th allocation of host memory that the
// constructing thread asks for (1 is the next) fails with ResourceExhausted; all others are served.
// 0 fails none and counts only. Walk all error paths of a function with
//
//   for (int64_t n = 1;; ++n) {
//     ScopedAllocationFailure failure(n);
//     const absl::Status status = Function();
//     if (!failure.triggered()) break;
//     EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
//   }
//
// Costs other code nothing, since only this thread allocates past its cache meanwhile. Does not
// nest. Belongs to the thread that made it.
class ScopedAllocationFailure {
 public:
  explicit ScopedAllocationFailure(int64_t n);
  ~ScopedAllocationFailure();
  ScopedAllocationFailure(const ScopedAllocationFailure&) = delete;
  ScopedAllocationFailure& operator=(const ScopedAllocationFailure&) = delete;

  // Allocations asked for so far, the failed one included.
  int64_t allocations() const;

  // Whether the n-th allocation was reached.
  bool triggered() const;
};

}  // namespace firn

#endif  // FIRN_DEVICE_TESTING_H_
