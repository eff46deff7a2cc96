#ifndef FIRN_AUTOGRAD_TAPE_NODE_H_
#define FIRN_AUTOGRAD_TAPE_NODE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "firn/tensor/error.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/op.h"
#include "firn/tensor/spec.h"
#include "firn/tensor/tensor.h"

namespace firn::autograd {

class Node;

// Where the gradient of one input goes: to output `slot` of the node that computed it, or into a
// leaf. Neither is set when the input needs no gradient.
struct Edge {
  IntrusivePtr<Node> node;
  Tensor leaf;
  uint32_t slot = 0;

  bool wanted() const { return node || leaf.defined(); }
  const TensorSpec& spec() const;  // of the input. Requires: wanted()
};

// Calls an active hook and takes over what it returns. Throws when that does not fit.
void RunHook(const GradHookEntry& hook, Tensor& grad);

// Which sweep has gradients that wait for a node, and where; sweep 0 means no sweep.
struct SweepMark {
  uint32_t sweep = 0;
  uint32_t place = 0;
};

// One recorded operation. Nodes point from results back to arguments, never forward, so a chain
// dies with its last result. Not thread-safe: a graph belongs to one thread at a time.
class Node : public GradNode {
 public:
  // A node for an operation with `num_inputs` inputs, which have no edges yet.
  explicit Node(size_t num_inputs)
      : seq_(++last_seq_), path_(PathScope::Interned()), edges_(num_inputs) {}
  // Gradients of the inputs from those of the outputs (undefined where nothing flowed). `wanted`
  // says which inputs somebody asked for; empty: all with a wanted edge. Other entries of
  // `grad_inputs` are left alone. Throws firn::Error.
  virtual void Backward(absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                        absl::Span<Tensor> grad_inputs) = 0;
  // If the operation is a view of a part of its only input: that part of `whole`, which has the
  // input's shape; the gradient is added to it. Undefined for other operations, and where Backward
  // is an error.
  virtual Tensor PartOf(const Tensor& /*whole*/) const { return {}; }
  // Drops saved tensors; a later Backward is an error.
  virtual void ReleaseSaved() = 0;
  virtual std::string_view name() const = 0;

  void AddHook(uint32_t slot, std::shared_ptr<GradHookEntry> hook) override;
  void Retain(uint32_t slot, std::shared_ptr<Tensor> cell) override;
  // Cells of RetainGrad with the gradients for them.
  using RetainedGradients = std::vector<std::pair<std::shared_ptr<Tensor>, Tensor>>;
  // Lets hooks see and replace the gradients of this node's outputs, then notes the retained ones.
  void RunHooks(absl::Span<Tensor> grad_outputs, RetainedGradients& retained) const {
    if (observers_ != nullptr) [[unlikely]]
      RunObservers(grad_outputs, retained);
  }

  // The number of the last node made on this thread.
  static uint64_t LastSeq() { return last_seq_; }
  // Larger than that of every node this one uses, so descending order is a topological order.
  uint64_t seq() const { return seq_; }
  absl::Span<const Edge> edges() const { return edges_; }
  absl::Span<const TensorSpec> output_specs() const { return outputs_; }
  // "net.res.conv1" where the operation was called, or "".
  std::string_view path() const {
    return path_ == nullptr ? std::string_view() : std::string_view(*path_);
  }
  const std::string* interned_path() const { return path_; }
  // The mark of the innermost sweep that waits with gradients for this node.
  SweepMark& sweep_mark() { return sweep_mark_; }

  // Makes `out` the outputs of this node: sets the history of all but those that are declared
  // constant. `results`: their declarations; null if none is constant.
  void Attach(absl::Span<Tensor> out, const ArgDecl* results = nullptr) {
    for (size_t i = 0; i < out.size(); ++i) {
      const TensorSpec& spec = outputs_.emplace_back(out[i].impl()->spec);
      if (!IsFloating(spec.dtype) || (results != nullptr && results[i].constant)) continue;
      SetHistory(out[i], static_cast<uint32_t>(i));
    }
  }
  // Makes `output` this node's output number `slot`.
  void SetHistory(const Tensor& output, uint32_t slot) {
    TensorImpl& impl = *output.impl();
    impl.requires_grad = true;
    impl.grad_slot = slot;
    impl.grad_node = IntrusivePtr<GradNode>::Share(this);
  }
  // Makes the edge of input `i`, once: to where the gradient of `input` goes now.
  void SetEdge(size_t i, const Tensor& input);
  void SetEdge(size_t i, const Edge& edge) {
    edges_[i] = edge;
    Order(edge);
  }

 private:
  struct Observers {
    std::vector<std::pair<uint32_t, std::shared_ptr<GradHookEntry>>> hooks;
    std::vector<std::pair<uint32_t, std::shared_ptr<Tensor>>> retained;
  };
  Observers& observers();
  void RunObservers(absl::Span<Tensor> grad_outputs, RetainedGradients& retained) const;
  // Numbers this node after the one that `edge` leads to.
  void Order(const Edge& edge) {
    // Numbers are per thread: a value from another thread may carry a larger one.
    if (edge.node && edge.node->seq() >= seq_) [[unlikely]]
      Renumber(edge.node->seq());
  }
  void Renumber(uint64_t after);

  static inline thread_local constinit uint64_t last_seq_ = 0;
  uint64_t seq_;
  SweepMark sweep_mark_;
  const std::string* path_;
  absl::FixedArray<Edge, 2> edges_;
  absl::InlinedVector<TensorSpec, 1> outputs_;
  std::unique_ptr<Observers> observers_;
};

// The edge for an input as it is now.
inline Edge EdgeTo(const Tensor& input) {
  if (!input.requires_grad()) return {};
  const TensorImpl& impl = *input.impl();
  if (!impl.grad_node) return {nullptr, input};
  return {IntrusivePtr<Node>::Share(static_cast<Node*>(impl.grad_node.get())), {}, impl.grad_slot};
}

// Built in place: moving an edge costs accesses to its leaf.
inline void Node::SetEdge(size_t i, const Tensor& input) {
  Edge& edge = edges_.data()[i];
  if (!input.requires_grad()) return;
  const TensorImpl& impl = *input.impl();
  if (impl.grad_node) {
    edge.node = IntrusivePtr<Node>::Share(static_cast<Node*>(impl.grad_node.get()));
    edge.slot = impl.grad_slot;
    Order(edge);
  } else {
    edge.leaf = input;
  }
}

inline const TensorSpec& Edge::spec() const {
  return node ? node->output_specs()[slot] : leaf.spec();
}

// Throws "backward: <operation> at <path> <message>".
[[noreturn]] void RaiseInBackward(const Node& node, const absl::Status& status);

// A value kept for backward, with the version it had. An output of the owner is kept without its
// history, which would be a cycle, and gets it back when unpacked while gradients are recorded.
class SavedTensor {
 public:
  SavedTensor() = default;
  static SavedTensor Input(const Tensor& t);
  static SavedTensor Output(const Tensor& t, uint32_t slot);
  // Throws when the value was changed in place since. `owner` names the operation in the message.
  Tensor Unpack(Node& owner) const;
  void Release() { tensor_ = Tensor(); }

 private:
  Tensor tensor_;
  uint32_t version_ = 0;
  uint32_t slot_ = 0;
  bool output_ = false;
};

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_TAPE_NODE_H_
