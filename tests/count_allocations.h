#ifndef FIRN_TESTS_COUNT_ALLOCATIONS_H_
#define FIRN_TESTS_COUNT_ALLOCATIONS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"

namespace firn::testing {

// How often `f` asks any heap for memory, libraries and threads of the process included: counts
// malloc and its kind, which operator new calls. The program's malloc is replaced for that, so it
// runs without sanitizers. One call at a time.
int64_t AllocationsIn(absl::FunctionRef<void()> f);

}  // namespace firn::testing

#endif  // FIRN_TESTS_COUNT_ALLOCATIONS_H_
