#ifndef FIRN_AUTOGRAD_GRAPH_EXECUTION_OBSERVER_H_
#define FIRN_AUTOGRAD_GRAPH_EXECUTION_OBSERVER_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/autograd/graph/graph.h"
#include "firn/tensor/op.h"

namespace firn::inner {

// One step of a run of a frozen graph: an operation that has a kernel (views have none), with the
// memory that it reads and writes. Valid during the call that shows it.
struct ExecutionStep {
  const Instr& instr;
  absl::Span<const Operand> in, out;  // an optional input that is absent has no spec
};

// Sees every step of the frozen graphs that run on a thread, before and after it ran. An error ends
// the run and is its result; so do exceptions, which pass through. Either way the steps before have
// changed their states already.
class ExecutionObserver {
 public:
  virtual ~ExecutionObserver() = default;
  virtual absl::Status BeforeStep(const ExecutionStep& step) = 0;
  virtual absl::Status AfterStep(const ExecutionStep& step) = 0;
};

// Shows runs on this thread to an observer while it lives. Scopes nest: the outermost observer is
// called first before a step, and last after it. For one thread; ended in reverse order.
class ExecutionObserverScope {
 public:
  [[nodiscard]] explicit ExecutionObserverScope(ExecutionObserver* observer)
      : observer_(observer), outer_(innermost_) {
    innermost_ = this;
  }
  ~ExecutionObserverScope() { innermost_ = outer_; }
  ExecutionObserverScope(const ExecutionObserverScope&) = delete;
  ExecutionObserverScope& operator=(const ExecutionObserverScope&) = delete;

  // Null if no observer is installed.
  static const ExecutionObserverScope* Innermost() { return innermost_; }
  // Removes all observers of this thread, for operations that an observer runs itself, and returns
  // them.
  static ExecutionObserverScope* Exchange(ExecutionObserverScope* innermost) {
    return std::exchange(innermost_, innermost);
  }
  const ExecutionObserverScope* outer() const { return outer_; }
  ExecutionObserver& observer() const { return *observer_; }

 private:
  ExecutionObserver* observer_;
  ExecutionObserverScope* outer_;
  static inline thread_local constinit ExecutionObserverScope* innermost_ = nullptr;
};

}  // namespace firn::inner

#endif  // FIRN_AUTOGRAD_GRAPH_EXECUTION_OBSERVER_H_
