#ifndef FIRN_IO_VALUE_OR_RAISE_H_
#define FIRN_IO_VALUE_OR_RAISE_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/tensor/error.h"

namespace firn::io {

// The value; throws firn::Error for an error status, with `who`, the function that the program
// called. Functions that throw use it around those that return a status.
template <class T>
T ValueOrRaise(absl::StatusOr<T> result, std::string_view who) {
  RaiseIfError(result.status(), who);
  return *std::move(result);
}

}  // namespace firn::io

#endif  // FIRN_IO_VALUE_OR_RAISE_H_
