#ifndef FIRN_AUTOGRAD_OBSERVE_H_
#define FIRN_AUTOGRAD_OBSERVE_H_

// One way to look on while operations run, whether Apply runs them one by one or a StaticGraph as
// its steps: what AnomalyScope, OperationHookScope and the profiler are made of.

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/execution_observer.h"
#include "firn/autograd/operation_call.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/op.h"

namespace firn {

// Looks on from its construction to its destruction, on one thread. Several form a stack: the last
// one made is called last before an operation, and first after it. No observer sees the operations
// that an observer runs itself, and these are neither recorded for backward nor captured. An error
// that an observer returns is thrown by the operation as firn::Error, or ends the run of the graph;
// exceptions pass through.
class OperationObserver : private ApplyObserver, private ExecutionObserver {
 public:
  OperationObserver(const OperationObserver&) = delete;
  OperationObserver& operator=(const OperationObserver&) = delete;

 protected:
  // `name` stands before the observer's errors and must outlive it.
  explicit OperationObserver(const char* name);
  ~OperationObserver() override;

  virtual absl::Status Before(const OperationCall& call) = 0;
  virtual absl::Status After(const OperationCall& call) = 0;

 private:
  void BeforeApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs) final;
  void AfterApply(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                  absl::Span<const Tensor> out) final;
  absl::Status BeforeStep(const ExecutionStep& step) final;
  absl::Status AfterStep(const ExecutionStep& step) final;

  const char* name_;
  ApplyObserver* outer_;
  ExecutionObserverScope execution_;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_OBSERVE_H_
