// Capture: a scope that shows every operation of one run to a recorder.

#include "firn/autograd/graph/capture.h"

#include <atomic>
#include <cstdint>
#include <utility>

#include "firn/autograd/graph/recorder.h"
#include "firn/device/comm/started.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/pending.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

// Installs a recorder on this thread. Another recorder may be installed already, around a
// NoCaptureScope.
class CaptureScope {
 public:
  explicit CaptureScope(GraphRecorder* recorder) {
    static std::atomic<uint32_t> captures{0};
    ThisThread().capture = recorder;
    ThisThread().capture_number = ++captures;
    autograd::sweep_capture = recorder;
  }
  ~CaptureScope() {
    ThisThread().capture = nullptr;
    ThisThread().capture_number = number_;
    autograd::sweep_capture = sweep_;
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;

 private:
  const uint32_t number_ = ThisThread().capture_number;
  autograd::SweepCapture* const sweep_ = autograd::sweep_capture;
};

void CheckInputs(absl::Span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      RaiseStatus(InvalidArgument("input ", i, " is an undefined tensor"), "capture");
    }
    if (IsPending(inputs[i])) RaiseStatus(PendingError(inputs[i]), "capture");
    if (GradEnabled() && inputs[i].requires_grad()) {
      RaiseStatus(FailedPrecondition("input ", i,
                                     " wants a gradient, which no run of a graph gives"
                                     " it; make it a state by not passing it, or detach it"),
                  "capture");
    }
  }
}

// What the captured code gets: the elements as the graph takes them, row-major, without history and
// in memory of their own. The reason is that values are known by where they lie: a tensor that
// shares an input's memory without being the input is a state, and two views of one tensor must be
// two inputs.
TensorList Given(absl::Span<const Tensor> inputs) {
  TensorList given;
  for (const Tensor& t : inputs) {
    absl::StatusOr<Tensor> copy =
        AllocateTensor(TensorSpec::Contiguous(t.dtype(), t.shape(), t.device()));
    RaiseIfError(copy.status(), "capture");
    RaiseIfError(CopyElements(t.spec(), t.impl()->data, copy->spec(), copy->impl()->data),
                 "capture");
    given.push_back(*std::move(copy));
  }
  return given;
}

void CheckResults(const TensorList& results) {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) {
      RaiseStatus(InvalidArgument("result ", i, " is an undefined tensor"), "capture");
    }
  }
}

}  // namespace

Captured inner::Capture(CaptureFn fn, absl::Span<const Tensor> inputs) {
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("a capture is running on this thread already"), "capture");
  }
  CheckInputs(inputs);
  const TensorList given = Given(inputs);
  GraphRecorder recorder(given);
  const uint64_t started = comm::StartedSoFar();
  try {
    TensorList results;
    {
      const CaptureScope scope(&recorder);
      results = fn(given);
    }
    RaiseIfError(comm::WaitForAllSince(started), "capture");  // as runs of the graph do
    CheckResults(results);
    return recorder.Finish(std::move(results));
  } catch (...) {
    comm::WaitForAllSince(started).IgnoreError();  // they write into what Undo puts back
    recorder.Undo();
    throw;
  }
}

}  // namespace firn
