#ifndef FIRN_TESTS_ERROR_OF_H_
#define FIRN_TESTS_ERROR_OF_H_

#include <string>

#include "absl/status/status.h"
#include "firn/tensor/error.h"

namespace firn::testing {

// The status of the firn::Error that `f` throws; OK if it throws no error.
template <class F>
absl::Status StatusOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return absl::Status(e.code(), e.what());
  }
  return absl::OkStatus();
}

// The message of that error; "" if there is no error.
template <class F>
std::string ErrorOf(F f) {
  return std::string(StatusOf(f).message());
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_ERROR_OF_H_
