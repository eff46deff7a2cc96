#ifndef FIRN_TESTS_COUNT_INSTRUCTIONS_H_
#define FIRN_TESTS_COUNT_INSTRUCTIONS_H_

#include <cstdint>
#include <optional>

#include "absl/functional/function_ref.h"

namespace firn::testing {

// The counts also depend on the compiler.
#if defined(__clang__)
inline constexpr bool kByClang = true;
#else
inline constexpr bool kByClang = false;
#endif

// How many instructions f executes, libraries included, in a copy of this process that has one
// thread and sees nothing of what f changes. Repeatable; a few hundred more than f itself.
// Empty if the machine forbids tracing. Throws if f ended the copy.
std::optional<int64_t> InstructionsIn(absl::FunctionRef<void()> f);

}  // namespace firn::testing

#endif  // FIRN_TESTS_COUNT_INSTRUCTIONS_H_
