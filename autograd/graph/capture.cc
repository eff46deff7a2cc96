// Capture: a scope that shows every operation of one run to a recorder.

#include "autograd/graph/capture.h"

#include <utility>

#include "autograd/graph/recorder.h"
#include "device/status_macros.h"
#include "tensor/dispatch.h"
#include "tensor/error.h"
#include "tensor/pending.h"
#include "tensor/reorder.h"

namespace firn {
namespace {

// Installs a recorder on this thread.
class CaptureScope {
 public:
  explicit CaptureScope(GraphRecorder* recorder) {
    ThisThread().capture = recorder;
    autograd::storage_holder = recorder;
  }
  ~CaptureScope() {
    ThisThread().capture = nullptr;
    autograd::storage_holder = nullptr;
  }
  CaptureScope(const CaptureScope&) = delete;
  CaptureScope& operator=(const CaptureScope&) = delete;
};

void CheckInputs(absl::Span<const Tensor> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) {
      RaiseStatus(InvalidArgument("input ", i, " is an undefined tensor"), "capture");
    }
    if (IsPending(inputs[i])) RaiseStatus(PendingError(inputs[i]), "capture");
    for (size_t j = 0; j < i; ++j) {
      if (inputs[i].impl()->storage == inputs[j].impl()->storage) {
        RaiseStatus(InvalidArgument("inputs ", j, " and ", i, " share their elements; clone one"),
                    "capture");
      }
    }
  }
}

// What the captured code gets: the elements as the graph takes them, row-major and without history.
TensorList Given(absl::Span<const Tensor> inputs) {
  TensorList given;
  for (const Tensor& t : inputs) {
    absl::StatusOr<Tensor> plain = t.is_contiguous()
                                       ? WrapStorage(t.impl()->storage, t.impl()->data, t.spec())
                                       : Reordered(t, 0);
    RaiseIfError(plain.status(), "capture");
    given.push_back(*std::move(plain));
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

Captured Capture(CaptureFn fn, absl::Span<const Tensor> inputs) {
  if (ThisThread().capture != nullptr) {
    RaiseStatus(FailedPrecondition("a capture is running on this thread already"), "capture");
  }
  CheckInputs(inputs);
  const TensorList given = Given(inputs);
  GraphRecorder recorder(given);
  try {
    TensorList results;
    {
      const CaptureScope scope(&recorder);
      results = fn(given);
    }
    CheckResults(results);
    return recorder.Finish(std::move(results));
  } catch (...) {
    recorder.Undo();
    throw;
  }
}

}  // namespace firn
