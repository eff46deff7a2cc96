#ifndef FIRN_AUTOGRAD_TAPE_OP_NODE_H_
#define FIRN_AUTOGRAD_TAPE_OP_NODE_H_

#include "absl/container/inlined_vector.h"
#include "firn/autograd/tape/node.h"
#include "firn/device/object_pool.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/op.h"

namespace firn::autograd {

// The record of one Apply: the operation, its attributes and exactly the tensors that the
// operation's `saves` names.
class OpNode final : public Node, public Pooled<OpNode> {
 public:
  OpNode(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs, absl::Span<Tensor> out);
  void Backward(absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                absl::Span<Tensor> grad_inputs) override;
  Tensor PartOf(const Tensor& whole) const override;
  void ReleaseSaved() override;
  std::string_view name() const override { return op_.name; }

 private:
  friend class OpGradContext;
  const OpDef& op_;
  Attrs attrs_;
  bool released_ = false;
  absl::InlinedVector<SavedTensor, 2> saved_;  // in the order of op_.saves; variadic inputs follow
};

// Installs itself as the recorder when linked in.
class TapeRecorder final : public GradRecorder {
 public:
  void Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
              absl::Span<Tensor> out) override;
  void Backward(const Tensor& root, const Tensor& seed, bool retain_graph) override;
};

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_TAPE_OP_NODE_H_
