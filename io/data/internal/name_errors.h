#ifndef FIRN_IO_DATA_INTERNAL_NAME_ERRORS_H_
#define FIRN_IO_DATA_INTERNAL_NAME_ERRORS_H_

// Errors about one of many samples say which one.

#include <cstdint>
#include <string>

#include "absl/types/span.h"
#include "firn/io/data/dataset.h"
#include "firn/tensor/error.h"

namespace firn::io::internal {

// Throws the error again: "<who>: <name>: <what it said>".
[[noreturn]] void RaiseNamed(const std::string& name, const Error& error, const char* who);

[[noreturn]] void RaiseIndex(int64_t i, int64_t size, const char* what, const char* who);
// Throws OutOfRange, "<who>: <what> 7 is outside [0, 5)", unless 0 <= i < size.
inline void CheckIndex(int64_t i, int64_t size, const char* what = "index",
                       const char* who = "dataset") {
  if (i < 0 || i >= size) [[unlikely]]
    RaiseIndex(i, size, what, who);
}

// f(), its firn::Error with the name of sample `i` in front. What else it throws stays as it is.
template <class F>
auto WithNameOf(const Dataset& dataset, int64_t i, const char* who, F f) {
  try {
    return f();
  } catch (const Error& error) {
    RaiseNamed(dataset.NameOf(i), error, who);
  }
}

// Stack(samples), which are those of the dataset with these indices or were made of them, with
// their names in errors.
Sample StackOf(const Dataset& dataset, absl::Span<const int64_t> indices,
               absl::Span<const Sample> samples);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_NAME_ERRORS_H_
