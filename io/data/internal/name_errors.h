#ifndef FIRN_IO_DATA_INTERNAL_NAME_ERRORS_H_
#define FIRN_IO_DATA_INTERNAL_NAME_ERRORS_H_

// Helpers that put a sample's name into errors about it.

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

// Calls f(); its firn::Error gets the name of sample `i` in front. Other exceptions pass through.
template <class F>
auto WithNameOf(const Dataset& dataset, int64_t i, const char* who, F f) {
  try {
    return f();
  } catch (const Error& error) {
    RaiseNamed(dataset.NameOf(i), error, who);
  }
}

// Stack(samples), with the samples' names in errors. The samples are those of the dataset with
// these indices, or were made of them.
Sample StackOf(const Dataset& dataset, absl::Span<const int64_t> indices,
               absl::Span<const Sample> samples);

}  // namespace firn::io::internal

#endif  // FIRN_IO_DATA_INTERNAL_NAME_ERRORS_H_
