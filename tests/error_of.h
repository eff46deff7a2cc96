#ifndef FIRN_TESTS_ERROR_OF_H_
#define FIRN_TESTS_ERROR_OF_H_

#include <string>

#include "absl/status/status.h"
#include "firn/tensor/error.h"

namespace firn::testing {

// The firn::Error that `f` throws, OK when it throws none.
template <class F>
absl::Status StatusOf(F f) {
  try {
    f();
  } catch (const Error& e) {
    return absl::Status(e.code(), e.what());
  }
  return absl::OkStatus();
}

// What it says, "" when there is none.
template <class F>
std::string ErrorOf(F f) {
  return std::string(StatusOf(f).message());
}

}  // namespace firn::testing

#endif  // FIRN_TESTS_ERROR_OF_H_
