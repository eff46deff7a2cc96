#ifndef FIRN_AUTOGRAD_OPERATION_CALL_H_
#define FIRN_AUTOGRAD_OPERATION_CALL_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "firn/autograd/graph/phase.h"
#include "firn/tensor/attrs.h"
#include "firn/tensor/tensor.h"

namespace firn {

namespace inner {
struct ExecutionStep;
struct OpDef;  // tensor/op.h
}  // namespace inner

// An operation that is about to run or has just run. Valid during the call that shows it.
class OperationCall {
 public:
  OperationCall(const inner::OpDef& op, absl::Span<const inner::TensorRef> in,
                inner::AttrsRef attrs, absl::Span<const Tensor> out)
      : op_(op), attrs_(attrs), in_(in), out_(out) {}
  explicit OperationCall(const inner::ExecutionStep& step);

  const inner::OpDef& op() const { return op_; }
  std::string_view name() const;
  inner::AttrsRef attrs() const { return attrs_; }
  // The path of the module that called it, "net.stem.conv1", in the backward pass too; "" outside
  // any.
  const std::string& path() const;
  Phase phase() const;
  // In the backward pass of an ordinary run, the operation whose gradient is computed; else "".
  std::string_view backward_of() const;
  // Whether it is a step of a StaticGraph.
  bool frozen() const { return step_ != nullptr; }

  size_t num_inputs() const;
  // 0 before an ordinary operation. Before a step, results are memory that is not written yet.
  size_t num_outputs() const;
  // Null if there is no such argument, an optional one is not given, or the operation will refuse a
  // wrong one.
  const TensorSpec* input_spec(size_t i) const;
  const TensorSpec* output_spec(size_t i) const;
  // Undefined where there is no spec. Tensors of a step lie in the graph's own memory: Clone what
  // is to be kept.
  Tensor input(size_t i) const;
  Tensor output(size_t i) const;
  // Whether the operation changes that input: it writes into the input or, in a frozen graph, a
  // result takes the input's place. Look at such an input before the operation runs.
  bool overwrites(size_t i) const;

 private:
  const inner::OpDef& op_;
  inner::AttrsRef attrs_;
  absl::Span<const inner::TensorRef> in_;
  absl::Span<const Tensor> out_;
  const inner::ExecutionStep* step_ = nullptr;
};

}  // namespace firn

#endif  // FIRN_AUTOGRAD_OPERATION_CALL_H_
