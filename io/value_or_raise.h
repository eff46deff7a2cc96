#ifndef FIRN_IO_VALUE_OR_RAISE_H_
#define FIRN_IO_VALUE_OR_RAISE_H_

#include <string_view>
#include <utility>

#include "absl/status/statusor.h"
#include "firn/tensor/error.h"

namespace firn::io {

// The value, or firn::Error with the status, `who` being the function that a program calls: where
// readers with a status end and those that throw begin.
template <class T>
T ValueOrRaise(absl::StatusOr<T> result, std::string_view who) {
  RaiseIfError(result.status(), who);
  return *std::move(result);
}

}  // namespace firn::io

#endif  // FIRN_IO_VALUE_OR_RAISE_H_
