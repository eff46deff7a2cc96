// The reverse sweep.
//
// Nodes are numbered as they are recorded, so every user of a value has a larger number than the
// node that made it: taking the largest waiting number from a heap visits each node after all of
// its users, with no recursion and no counting pass. Gradients wait in a map beside the heap. Those
// of leaves are added to grad() at the end, so an error on the way changes nothing.

#include "autograd/backward.h"

#include <algorithm>
#include <queue>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "autograd/tape/node.h"
#include "device/status_macros.h"
#include "tensor/error.h"
#include "tensor/ops/accumulate.h"
#include "tensor/ops/add.h"
#include "tensor/ops/clone.h"
#include "tensor/ops/contiguous.h"
#include "tensor/ops/full.h"

namespace firn {
namespace autograd {
namespace {

using Gradients = absl::InlinedVector<Tensor, 1>;

bool SoleOwner(const Tensor& t) {
  return t.impl()->use_count() == 1 && t.impl()->storage->use_count() == 1;
}

// slot += grad, in place when nobody else can see the slot's tensor.
void AddInto(Tensor& slot, Tensor grad) {
  if (!slot.defined()) {
    slot = std::move(grad);
  } else if (!GradEnabled() && SoleOwner(slot) && slot.is_contiguous()) {
    Accumulate(slot, grad);
  } else {
    slot = Add(slot, grad);
  }
}

struct Waiting {
  IntrusivePtr<Node> node;
  friend bool operator<(const Waiting& a, const Waiting& b) {
    return a.node->seq() < b.node->seq();
  }
};

class Sweep {
 public:
  Sweep(bool retain, bool create_graph) : retain_(retain || create_graph) {}

  // Only nodes on a path to one of these are visited, and nothing else gets a gradient.
  void RestrictTo(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs);
  void Seed(const Tensor& root, Tensor grad) { Deliver(EdgeTo(root), std::move(grad)); }
  void Run();
  void AddToLeaves();
  Tensor Result(const Tensor& input);

 private:
  bool Wanted(const Edge& e) const;
  void Deliver(const Edge& e, Tensor grad);
  void Visit(Node& node, Gradients grads);

  bool retain_;
  bool restricted_ = false;
  std::priority_queue<Waiting> heap_;
  absl::flat_hash_map<Node*, Gradients> waiting_;
  absl::flat_hash_map<TensorImpl*, std::pair<Tensor, Tensor>> leaves_;  // leaf, gradient
  std::vector<TensorImpl*> leaf_order_;  // gradients are added in a fixed order
  absl::flat_hash_set<const Node*> useful_;
  absl::flat_hash_set<const TensorImpl*> wanted_leaves_;
  absl::flat_hash_map<const Node*, Gradients> captured_;  // for inputs of Grad that were computed
};

bool Sweep::Wanted(const Edge& e) const {
  if (!restricted_) return e.wanted();
  return e.node ? useful_.contains(e.node.get()) || captured_.contains(e.node.get())
                : e.leaf.defined() && wanted_leaves_.contains(e.leaf.impl());
}

void Sweep::Deliver(const Edge& e, Tensor grad) {
  if (!grad.defined() || !Wanted(e)) return;
  if (!e.node) {
    auto [it, inserted] = leaves_.try_emplace(e.leaf.impl(), e.leaf, Tensor());
    if (inserted) leaf_order_.push_back(e.leaf.impl());
    AddInto(it->second.second, std::move(grad));
    return;
  }
  auto [it, inserted] = waiting_.try_emplace(e.node.get());
  if (inserted) {
    it->second.resize(e.node->output_specs().size());
    heap_.push({e.node});
  }
  AddInto(it->second[e.slot], std::move(grad));
}

void Sweep::Visit(Node& node, Gradients grads) {
  node.RunHooks(absl::MakeSpan(grads));
  if (auto it = captured_.find(&node); it != captured_.end()) {
    it->second = grads;
    if (!useful_.contains(&node)) return;
  }
  Gradients inputs(node.edges().size());
  node.Backward(grads, absl::MakeSpan(inputs));
  grads.clear();
  for (size_t i = 0; i < inputs.size(); ++i) Deliver(node.edges()[i], std::move(inputs[i]));
  if (!retain_) node.ReleaseSaved();
}

void Sweep::Run() {
  while (!heap_.empty()) {
    const IntrusivePtr<Node> node = heap_.top().node;
    heap_.pop();
    auto it = waiting_.find(node.get());
    Gradients grads = std::move(it->second);
    waiting_.erase(it);
    Visit(*node, std::move(grads));
  }
}

// A gradient that a leaf can keep: its own, row-major, so that later passes may add to it in place.
Tensor Settled(Tensor grad) {
  if (GradEnabled() || (SoleOwner(grad) && grad.is_contiguous())) return grad;
  return grad.is_contiguous() ? Clone(grad) : Contiguous(grad);
}

void Sweep::AddToLeaves() {
  for (TensorImpl* key : leaf_order_) {
    auto& [leaf, grad] = leaves_.find(key)->second;
    const GradMeta* meta = leaf.impl()->grad_meta.get();
    if (meta == nullptr) continue;
    for (const auto& hook : GradHooks(meta->hooks)) {
      if (!hook->active) continue;
      Tensor replaced = hook->fn(grad);
      if (replaced.defined()) grad = std::move(replaced);
    }
  }
  for (TensorImpl* key : leaf_order_) {
    auto& [leaf, grad] = leaves_.find(key)->second;
    Tensor& sum = EnsureGradMeta(leaf).grad;
    if (sum.defined()) {
      AddInto(sum, std::move(grad));
    } else {
      sum = Settled(std::move(grad));
    }
  }
}

// Marks, walking from the outputs without recursion, every node from which an input is reachable.
void Sweep::RestrictTo(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
  restricted_ = true;
  for (const Tensor& t : inputs) {
    const Edge e = EdgeTo(t);
    if (e.node) captured_[e.node.get()] = {};
    if (e.leaf.defined()) wanted_leaves_.insert(e.leaf.impl());
  }
  std::vector<Node*> order;  // by descending seq: users before what they use
  absl::flat_hash_set<Node*> seen;
  std::vector<Node*> stack;
  for (const Tensor& t : outputs) {
    if (const Edge e = EdgeTo(t); e.node && seen.insert(e.node.get()).second)
      stack.push_back(e.node.get());
  }
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    order.push_back(n);
    for (const Edge& e : n->edges()) {
      if (e.node && seen.insert(e.node.get()).second) stack.push_back(e.node.get());
    }
  }
  std::sort(order.begin(), order.end(), [](Node* a, Node* b) { return a->seq() < b->seq(); });
  for (Node* n : order) {
    for (const Edge& e : n->edges()) {
      if (Wanted(e)) useful_.insert(n);
    }
  }
}

Tensor Sweep::Result(const Tensor& input) {
  const Edge e = EdgeTo(input);
  if (e.node) {
    const Gradients& g = captured_[e.node.get()];
    return g.empty() ? Tensor() : g[e.slot];
  }
  auto it = leaves_.find(input.impl());
  return it == leaves_.end() ? Tensor() : it->second.second;
}

Tensor SeedOf(const Tensor& root, const std::vector<Tensor>& seeds, size_t i) {
  if (!root.requires_grad()) {
    RaiseStatus(FailedPrecondition("the root does not require a gradient: nothing it was computed "
                                   "from has requires_grad, or it was computed in a NoGradScope"),
                "backward");
  }
  if (i < seeds.size() && seeds[i].defined()) {
    const Tensor& seed = seeds[i];
    if (seed.shape() != root.shape() || seed.dtype() != root.dtype()) {
      RaiseStatus(InvalidArgument("the seed ", seed.spec().ToString(), " does not fit the root ",
                                  root.spec().ToString()),
                  "backward");
    }
    return seed;
  }
  if (root.num_elements() != 1) {
    RaiseStatus(InvalidArgument("the root has ", root.num_elements(),
                                " elements; give a seed gradient, or reduce it to one"),
                "backward");
  }
  return Ones(root.shape(), root.dtype(), root.device());
}

}  // namespace

void Backward(const std::vector<Tensor>& roots, const BackwardOptions& options) {
  Sweep sweep(options.retain_graph, options.create_graph);
  GradScope scope(options.create_graph);
  for (size_t i = 0; i < roots.size(); ++i)
    sweep.Seed(roots[i], SeedOf(roots[i], options.seeds, i));
  sweep.Run();
  sweep.AddToLeaves();
}

}  // namespace autograd

std::vector<Tensor> Grad(const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs,
                         const GradOptions& options) {
  autograd::Sweep sweep(options.retain_graph, options.create_graph);
  for (const Tensor& t : inputs) {
    if (!t.requires_grad()) {
      RaiseStatus(FailedPrecondition("an input does not require a gradient"), "grad");
    }
  }
  sweep.RestrictTo(outputs, inputs);
  GradScope scope(options.create_graph);
  for (size_t i = 0; i < outputs.size(); ++i) {
    sweep.Seed(outputs[i], autograd::SeedOf(outputs[i], options.seeds, i));
  }
  sweep.Run();
  std::vector<Tensor> results;
  for (size_t i = 0; i < inputs.size(); ++i) {
    results.push_back(sweep.Result(inputs[i]));
    if (!results.back().defined() && !options.allow_unused) {
      RaiseStatus(FailedPrecondition("the outputs do not depend on input ", i,
                                     "; pass allow_unused to get an undefined tensor"),
                  "grad");
    }
  }
  return results;
}

Tensor Grad(const Tensor& output, const Tensor& input, const GradOptions& options) {
  return std::move(Grad(std::vector<Tensor>{output}, std::vector<Tensor>{input}, options)[0]);
}

}  // namespace firn
