#ifndef FIRN_TENSOR_DISPATCH_H_
#define FIRN_TENSOR_DISPATCH_H_

// The per-thread state that Apply consults, and the interfaces behind which autograd/ stands.
// tensor/ never links autograd/: autograd installs a GradRecorder when it is linked in, and the
// capture a CaptureRecorder for the length of its scope.

#include <cstdint>
#include <memory>
#include <string>

#include "absl/types/span.h"
#include "firn/device/arguments.h"
#include "firn/device/status_fwd.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct OpDef;

namespace internal {
class WaitingCall;  // tensor/internal/waiting_call.h
}

// Records operations for backward, and runs it.
class GradRecorder {
 public:
  virtual ~GradRecorder() = default;
  virtual void Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                      absl::Span<Tensor> out) = 0;
  virtual void Backward(const Tensor& root, const Tensor& seed, bool retain_graph) = 0;
};

// Records every operation of a captured run.
class CaptureRecorder {
 public:
  virtual ~CaptureRecorder() = default;
  virtual void Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                      absl::Span<const Tensor> out) = 0;
  // Called before an operation writes into its argument `t`; an error says that this cannot be
  // captured.
  virtual absl::Status BeforeWrite(const Tensor& t) = 0;
  // Called before that: whether a call without results, which only writes into its arguments, is to
  // wait for the end of the run. Such a call is recorded as if it had run, and handed over.
  virtual bool ShallWait(const OpDef& /*op*/, absl::Span<const TensorRef> /*in*/) { return false; }
  virtual void PutOff(const OpDef& /*op*/, absl::Span<const TensorRef> /*in*/,
                      std::shared_ptr<internal::WaitingCall> /*call*/) {}
  // Before a call, of which nothing is checked yet.
  virtual void BeforeCall(const OpDef& /*op*/, absl::Span<const TensorRef> /*in*/) {}
  // Before elements of `t` are read past the calls.
  virtual void BeforeRead(const Tensor& /*t*/) {}
  // Called before operations that the capture does not see (NoCaptureScope): runs all calls that
  // were put off.
  virtual void Settle() {}
  // Whether elements may be read on the host now, and whether a tensor may be made from host
  // memory; else an error that says what to do instead.
  virtual absl::Status OnHostRead(const Tensor& t) = 0;
  virtual absl::Status OnHostData(const TensorSpec& spec) = 0;
  // Before code other than a backward pass reads the gradient of `t`, and before it replaces or
  // clears it.
  virtual void BeforeGetGrad(const Tensor& t) = 0;
  virtual void BeforeSetGrad(const Tensor& t) = 0;
  // The first function: code read `state`, which is called `name`, and may behave differently when
  // its value differs. The second: code set it, and every run acts as if it set it again. `turns`:
  // `state` is a mode, which can be turned back; else it becomes true once, when the event that
  // `name` describes has happened.
  // Other threads may set it, so it is read and written by the compiler's atomic builtins:
  // <atomic> is long, and every source that includes firn.h would read it.
  using SwitchState = std::shared_ptr<const bool>;
  virtual void BeforeGetSwitch(const SwitchState& /*state*/, const std::string& /*name*/,
                               bool /*turns*/) {}
  virtual void BeforeSetSwitch(const SwitchState& /*state*/) {}
  // Before the elements of `t`, which the run did not make, get another handle.
  virtual void BeforeDetach(const Tensor& /*t*/) {}
};

// Sees every operation before and after it ran: anomaly mode, profilers, hooks. Observers form a
// stack: one that is installed while another is there passes both calls on to it.
class ApplyObserver {
 public:
  virtual ~ApplyObserver() = default;
  // Nothing is checked yet: inputs may be wrong. AfterApply follows on the same thread, with no
  // other operation in between, unless this one fails.
  virtual void BeforeApply(const OpDef& /*op*/, absl::Span<const TensorRef> /*in*/,
                           AttrsRef /*attrs*/) {}
  virtual void AfterApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                          absl::Span<const Tensor> out) = 0;
};

// The interface by which Apply uses an AutocastScope (tensor/autocast.h).
class Autocaster {
 public:
  virtual DType dtype() const = 0;
  // Converts x to `dtype`, recorded like any conversion.
  virtual Tensor Convert(const Tensor& x, DType dtype) = 0;

 protected:
  ~Autocaster() = default;
};

struct DispatchState {
  bool grad_enabled = true;
  CaptureRecorder* capture = nullptr;
  ApplyObserver* observer = nullptr;
  Autocaster* autocast = nullptr;
  uint32_t capture_number = 0;  // of `capture`; no two in a process have the same

  // 0: none.
  uint32_t running_capture() const { return capture == nullptr ? 0 : capture_number; }
};
}  // namespace inner

namespace inner::internal {
inline thread_local constinit inner::DispatchState dispatch_state;
inline constinit inner::GradRecorder* grad_recorder = nullptr;  // set once, before main()
}  // namespace inner::internal

namespace inner {
inline DispatchState& ThisThread() { return inner::internal::dispatch_state; }

// CaptureRecorder::OnHostRead of the capture that runs on this thread, if one does: code that reads
// elements without a call, such as a writer of files, asks it first.
absl::Status CheckHostRead(const Tensor& t);
}  // namespace inner

// While one lives on a thread, nothing is recorded for backward there.
class NoGradScope {
 public:
  [[nodiscard]] NoGradScope() : saved_(inner::ThisThread().grad_enabled) {
    inner::ThisThread().grad_enabled = false;
  }
  ~NoGradScope() { inner::ThisThread().grad_enabled = saved_; }
  NoGradScope(const NoGradScope&) = delete;
  NoGradScope& operator=(const NoGradScope&) = delete;

 private:
  bool saved_;
};

// Turns recording on (or off) inside a NoGradScope.
class GradScope {
 public:
  [[nodiscard]] explicit GradScope(inner::Flag enabled = true)
      : saved_(inner::ThisThread().grad_enabled) {
    inner::ThisThread().grad_enabled = enabled;
  }
  ~GradScope() { inner::ThisThread().grad_enabled = saved_; }
  GradScope(const GradScope&) = delete;
  GradScope& operator=(const GradScope&) = delete;

 private:
  bool saved_;
};

// While one lives on a thread, a capture there does not see the calls that run. It is for values
// that a captured run finds ready, such as the first values of a parameter.
class NoCaptureScope {
 public:
  [[nodiscard]] NoCaptureScope() : saved_(inner::ThisThread().capture) {
    if (saved_ != nullptr) saved_->Settle();  // what runs here may look at anything
    inner::ThisThread().capture = nullptr;
  }
  ~NoCaptureScope() { inner::ThisThread().capture = saved_; }
  NoCaptureScope(const NoCaptureScope&) = delete;
  NoCaptureScope& operator=(const NoCaptureScope&) = delete;

 private:
  inner::CaptureRecorder* saved_;
};

inline bool GradEnabled() { return inner::ThisThread().grad_enabled; }

}  // namespace firn

#endif  // FIRN_TENSOR_DISPATCH_H_
