#ifndef FIRN_AUTOGRAD_OBSERVE_H_
#define FIRN_AUTOGRAD_OBSERVE_H_

// One way to look on while operations run, whether Apply runs them one by one or a StaticGraph as
// its steps: what AnomalyScope, OperationHookScope and the profiler are made of.

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "autograd/graph/execution_observer.h"
#include "autograd/graph/graph.h"
#include "tensor/dispatch.h"
#include "tensor/op.h"
#include "tensor/tensor.h"

namespace firn {

// An operation that is about to run or has just run. Valid during the call that shows it.
class OperationCall {
 public:
  OperationCall(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                absl::Span<const Tensor> out)
      : op_(op), attrs_(attrs), in_(in), out_(out) {}
  explicit OperationCall(const ExecutionStep& step)
      : op_(*step.instr.op), attrs_(step.instr.attrs.ref()), step_(&step) {}

  const OpDef& op() const { return op_; }
  std::string_view name() const { return op_.name; }
  AttrsRef attrs() const { return attrs_; }
  // Of the module that called it, "net.stem.conv1", in the backward pass too; "" outside any.
  const std::string& path() const;
  Phase phase() const;
  // In the backward pass of an ordinary run, the operation whose gradient is computed; else "".
  std::string_view backward_of() const;
  // Whether it is a step of a StaticGraph.
  bool frozen() const { return step_ != nullptr; }

  size_t num_inputs() const { return frozen() ? step_->in.size() : in_.size(); }
  // 0 before an ordinary operation; of a step, results are memory that is not written yet.
  size_t num_outputs() const { return frozen() ? step_->out.size() : out_.size(); }
  // Null: no such argument, an optional one that is not given, or a wrong one that will be refused.
  const TensorSpec* input_spec(size_t i) const;
  const TensorSpec* output_spec(size_t i) const;
  // Undefined where there is no spec. Tensors of a step lie in the graph's own memory: Clone what
  // is to be kept.
  Tensor input(size_t i) const;
  Tensor output(size_t i) const;
  // Whether the operation changes that input: one that it writes into, or in a frozen graph one
  // whose place a result takes. Look at such an input before.
  bool overwrites(size_t i) const;

 private:
  const OpDef& op_;
  AttrsRef attrs_;
  absl::Span<const TensorRef> in_;
  absl::Span<const Tensor> out_;
  const ExecutionStep* step_ = nullptr;
};

// Looks on from its construction to its destruction, on one thread. Several form a stack: the last
// one made is called last before an operation, and first after it. What one of them runs itself is
// seen by none, and neither recorded for backward nor captured. An error that it returns is thrown
// by the operation as firn::Error, or ends the run of the graph; exceptions pass through.
class OperationObserver : private ApplyObserver, private ExecutionObserver {
 public:
  OperationObserver(const OperationObserver&) = delete;
  OperationObserver& operator=(const OperationObserver&) = delete;

 protected:
  // `name` stands before its errors, and outlives it.
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
