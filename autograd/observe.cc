// Brings the two places where operations run, Apply and the executor, under one interface.

#include "firn/autograd/observe.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/error.h"

namespace firn {
namespace {

// While an instance lives, the operations on this thread are an observer's own.
class Unobserved {
 public:
  Unobserved() : observer_(std::exchange(ThisThread().observer, nullptr)) {}
  ~Unobserved() {
    ExecutionObserverScope::Exchange(executions_);
    ThisThread().observer = observer_;
  }
  Unobserved(const Unobserved&) = delete;
  Unobserved& operator=(const Unobserved&) = delete;

 private:
  NoCaptureScope no_capture_;  // first, since only this may fail
  ApplyObserver* observer_;
  ExecutionObserverScope* executions_ = ExecutionObserverScope::Exchange(nullptr);
  NoGradScope no_grad_;
};

template <class F>
absl::Status Aside(F f) {
  const Unobserved scope;
  return f();
}

absl::Status Named(const char* name, const absl::Status& status) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(name, ": ", status.message()));
}

[[noreturn]] void Raise(const char* name, const absl::Status& status) {
  const PathScope no_path(nullptr);  // the message names it
  RaiseStatus(status, name);
}

}  // namespace

OperationObserver::OperationObserver(const char* name)
    : name_(name), outer_(ThisThread().observer), execution_(this) {
  ThisThread().observer = this;
}

OperationObserver::~OperationObserver() { ThisThread().observer = outer_; }

void OperationObserver::BeforeApply(const OpDef& op, absl::Span<const TensorRef> in,
                                    AttrsRef attrs) {
  if (outer_ != nullptr) outer_->BeforeApply(op, in, attrs);
  const absl::Status status = Aside([&] { return Before({op, in, attrs, {}}); });
  if (!status.ok()) Raise(name_, status);
}

void OperationObserver::AfterApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                                   absl::Span<const Tensor> out) {
  const absl::Status status = Aside([&] { return After({op, in, attrs, out}); });
  if (!status.ok()) Raise(name_, status);
  if (outer_ != nullptr) outer_->AfterApply(op, in, attrs, out);
}

absl::Status OperationObserver::BeforeStep(const ExecutionStep& step) {
  return Named(name_, Aside([&] { return Before(OperationCall(step)); }));
}

absl::Status OperationObserver::AfterStep(const ExecutionStep& step) {
  return Named(name_, Aside([&] { return After(OperationCall(step)); }));
}

}  // namespace firn
