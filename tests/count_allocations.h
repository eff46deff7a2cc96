#ifndef FIRN_TESTS_COUNT_ALLOCATIONS_H_
#define FIRN_TESTS_COUNT_ALLOCATIONS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace firn::testing {

// How often `f` asks any heap for memory, libraries and threads of the process included: malloc and
// its kind, to which operator new comes. The program gets a malloc of its own for that, so no
// sanitizer stands beside it. One call at a time.
int64_t AllocationsIn(absl::FunctionRef<void()> f);

}  // namespace firn::testing

#endif  // FIRN_TESTS_COUNT_ALLOCATIONS_H_
