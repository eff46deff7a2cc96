#ifndef FIRN_TENSOR_ERROR_H_
#define FIRN_TENSOR_ERROR_H_

#include <concepts>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "firn/device/status_fwd.h"

namespace firn {

// What eager functions throw on a caller's mistake or a failed resource. what() reads
// "conv2d at net.stem.conv1: weight [64, 3, 7, 7] wants 3 input channels, x is ...".
// Holds no tensors, so a handler may free memory and go on.
class Error : public std::runtime_error {
 public:
  Error(const absl::Status& status, const std::string& what);
  // Its code tells the kind: kInvalidArgument, kOutOfRange, kResourceExhausted, kDataLoss, ...;
  // code that names one includes absl/status/status.h.
  const absl::Status& status() const { return *status_; }
  absl::StatusCode code() const;

 private:
  std::shared_ptr<const absl::Status> status_;  // shared by copies, which cannot fail
};

// Names the part of a program (a module, usually) that runs in this scope on this thread; error
// messages, anomaly reports and captured graphs show the scopes joined by dots. Costs two pointer
// writes. `name` must outlive the scope.
class PathScope {
 public:
  // The name outlives the scope.
  [[nodiscard]] explicit PathScope(const std::string& name) : name_(&name), outer_(innermost_) {
    innermost_ = this;
  }
  [[nodiscard]] explicit PathScope(std::string&&) = delete;
  // Resumes a path that Interned() or Intern() gave (null: no path) whatever scopes are open around
  // this one: work done later on behalf of that part of the program, or by a module, which knows
  // its whole path wherever it is called from.
  [[nodiscard]] explicit PathScope(const std::string* interned)
      : name_(interned), outer_(innermost_), interned_(interned), resumed_(true) {
    innermost_ = this;
  }
  ~PathScope() { innermost_ = outer_; }
  PathScope(const PathScope&) = delete;
  PathScope& operator=(const PathScope&) = delete;

  // "net.stem.conv1", or "" outside any scope.
  static std::string Current();
  // The same as a string that lives for ever, so that records can keep a pointer; null outside any
  // scope. Built once per scope object.
  static const std::string* Interned();
  // An equal string that lives for ever; one address for one text.
  static const std::string* Intern(const std::string& path);

 private:
  const std::string* name_;  // null only when resumed
  PathScope* outer_;
  const std::string* interned_ = nullptr;
  bool resumed_ = false;
  static inline thread_local constinit PathScope* innermost_ = nullptr;
};

// The single place where a bad status becomes an exception: throws Error with
// "<op> at <module path>: <message>". Requires: !status.ok().
[[noreturn]] void RaiseStatus(const absl::Status& status, std::string_view op);

namespace inner {
// Runs `f` and throws its errors under the name `op`, which the user called; f's operations have
// other names.
template <class F>
auto InNameOf(std::string_view op, const F& f) -> decltype(f()) {
  try {
    return f();
  } catch (const Error& error) {
    RaiseStatus(error.status(), op);
  }
}
}  // namespace inner

// A template because absl::Status is only declared here.
template <std::same_as<absl::Status> Status>
void RaiseIfError(const Status& status, std::string_view op) {
  if (!status.ok()) [[unlikely]]
    RaiseStatus(status, op);
}

}  // namespace firn

#endif  // FIRN_TENSOR_ERROR_H_
