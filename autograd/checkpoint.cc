// A checkpointed call is one node whose edges are those that cross into the call: walking back from
// its results through nodes recorded during the call, every edge to an older node or to a leaf.
// They include captured parameters, which no argument list names. The recording of the first run is
// dropped as soon as the edges are known. Backward records the run anew and sweeps from its results
// to the very same edges, no further; the outer sweep goes on from there. Collective operations are
// not called again: their results are kept, and stand for those of the second run.

#include "firn/autograd/checkpoint.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "firn/autograd/tape/sweep.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/collective_keeper.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/rng.h"

namespace firn {
namespace autograd {
namespace {

// Continues the default random stream from an earlier position, and puts it back in the end. Both
// happen by operations, so that a captured graph repeats them in each run.
class RandomStateScope {
 public:
  static Tensor Position() { return Clone(DefaultGenerator().state()); }
  explicit RandomStateScope(const Tensor& position) : before_(Position()) {
    DefaultGenerator().SetState(position);
  }
  ~RandomStateScope() { DefaultGenerator().SetState(before_); }
  RandomStateScope(const RandomStateScope&) = delete;
  RandomStateScope& operator=(const RandomStateScope&) = delete;

 private:
  Tensor before_;
};

// Results of the collective calls of a function, in their order. The keeper of a checkpoint that is
// nested in another one also keeps the results that the outer one recalls: the inner function's own
// second run may come later.
class KeptCollectives final : public CollectiveKeeper {
 public:
  // While this lives, the thread's collective calls count as the function's. `again`: the node
  // whose second run it is; null: the first run.
  class Scope {
   public:
    Scope(KeptCollectives& kept, Node* again) : kept_(kept) {
      kept.outer_ = ThisThreadsKeeper();
      kept.again_ = again;
      kept.next_ = 0;
      ThisThreadsKeeper() = &kept;
    }
    ~Scope() {
      ThisThreadsKeeper() = kept_.outer_;
      kept_.outer_ = nullptr;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    KeptCollectives& kept_;
  };

  bool repeating() const override {
    return again_ != nullptr || (outer_ != nullptr && outer_->repeating());
  }

  bool Recall(const OpDef& op, absl::Span<Tensor> out) override {
    if (again_ == nullptr) {
      if (outer_ == nullptr || !outer_->Recall(op, out)) return false;
      Add(op, out);
      return true;
    }
    if (next_ == calls_.size() || calls_[next_].op != &op) {
      RaiseInBackward(*again_, FailedPrecondition("called ", op.name,
                                                  " when run again, and not at that place in the "
                                                  "first run"));
    }
    const Call& call = calls_[next_++];
    for (size_t i = 0; i < out.size(); ++i) {
      const Tensor t = call.results[i].Unpack(*again_);
      out[i] = WrapStorage(t.impl()->storage, t.impl()->data, t.spec());
    }
    return true;
  }

  void Keep(const OpDef& op, absl::Span<const Tensor> out) override {
    Add(op, out);
    if (outer_ != nullptr) outer_->Keep(op, out);
  }

  void Clear() { calls_.clear(); }

 private:
  struct Call {
    const OpDef* op;
    std::vector<SavedTensor> results;
  };
  void Add(const OpDef& op, absl::Span<const Tensor> out) {
    Call call{&op, {}};
    for (const Tensor& t : out) {  // a handle of our own, since `t` gets a history
      call.results.push_back(
          SavedTensor::Input(WrapStorage(t.impl()->storage, t.impl()->data, t.spec())));
    }
    calls_.push_back(std::move(call));
  }

  std::vector<Call> calls_;
  size_t next_ = 0;  // of a second run
  Node* again_ = nullptr;
  CollectiveKeeper* outer_ = nullptr;
};

// The edges that leave what was recorded after `start`, each once, in an order that depends only on
// what was recorded.
std::vector<Edge> CrossingEdges(const std::vector<Tensor>& results, uint64_t start) {
  std::vector<Edge> crossing;
  std::vector<IntrusivePtr<Node>> stack;
  absl::flat_hash_set<const Node*> seen;
  absl::flat_hash_set<std::pair<const void*, uint32_t>> crossed;
  const auto follow = [&](const Edge& e) {
    if (!e.wanted()) return;
    if (e.node && e.node->seq() > start) {
      if (seen.insert(e.node.get()).second) stack.push_back(e.node);
      return;
    }
    const void* to = e.node ? static_cast<const void*>(e.node.get()) : e.leaf.impl();
    if (crossed.insert({to, e.slot}).second) crossing.push_back(e);
  };
  for (const Tensor& y : results) {
    if (y.defined()) follow(EdgeTo(y));
  }
  while (!stack.empty()) {
    const IntrusivePtr<Node> node = std::move(stack.back());
    stack.pop_back();
    for (const Edge& e : node->edges()) follow(e);
  }
  return crossing;
}

bool SameTarget(const Edge& a, const Edge& b) {
  return a.node == b.node && a.slot == b.slot && a.leaf.Is(b.leaf);
}

class CheckpointNode final : public Node {
 public:
  CheckpointNode(CheckpointFn fn, const std::vector<Tensor>& inputs, Tensor random,
                 KeptCollectives collectives, const std::vector<Edge>& edges)
      : Node(edges.size()),
        fn_(std::move(fn)),
        random_(std::move(random)),
        collectives_(std::move(collectives)) {
    for (size_t i = 0; i < edges.size(); ++i) SetEdge(i, edges[i]);
    for (const Tensor& t : inputs) inputs_.push_back(SavedTensor::Input(t));
  }
  std::string_view name() const override { return "checkpoint"; }
  void ReleaseSaved() override {
    released_ = true;
    inputs_.clear();
    collectives_.Clear();
    fn_ = nullptr;
  }

  void Backward(absl::Span<const Tensor> grad_outputs, absl::Span<const bool> wanted,
                absl::Span<Tensor> grad_inputs) override {
    const uint64_t start = LastSeq();
    const std::vector<Tensor> results = RunAgain();
    CheckSameRun(results, start);

    std::vector<Edge> roots, targets;
    for (const Tensor& y : results) roots.push_back(EdgeTo(y));
    for (size_t i = 0; i < edges().size(); ++i) {
      if (wanted.empty() || wanted[i]) targets.push_back(edges()[i]);
    }
    Sweep sweep({.retain = GradEnabled(), .stop_at_targets = true});
    sweep.RestrictTo(roots, targets);
    for (size_t i = 0; i < roots.size(); ++i) sweep.Seed(roots[i], grad_outputs[i]);
    sweep.Run();
    for (size_t i = 0; i < edges().size(); ++i) {
      if (wanted.empty() || wanted[i]) grad_inputs[i] = sweep.Result(edges()[i]);
    }
  }

 private:
  std::vector<Tensor> RunAgain() {
    if (released_) {
      RaiseInBackward(*this,
                      FailedPrecondition("was visited by an earlier backward, which freed "
                                         "what it had saved; pass retain_graph to that one"));
    }
    std::vector<Tensor> inputs;
    for (const SavedTensor& s : inputs_) inputs.push_back(s.Unpack(*this));
    const GradScope record;
    const RandomStateScope random(random_);
    const KeptCollectives::Scope collectives(collectives_, this);
    return fn_(inputs);
  }

  void CheckSameRun(const std::vector<Tensor>& results, uint64_t start) {
    const std::vector<Edge> now = CrossingEdges(results, start);
    bool same = now.size() == edges().size() && results.size() == output_specs().size();
    for (size_t i = 0; same && i < now.size(); ++i) same = SameTarget(now[i], edges()[i]);
    for (size_t i = 0; same && i < results.size(); ++i) {
      same = results[i].shape() == output_specs()[i].shape &&
             results[i].dtype() == output_specs()[i].dtype;
    }
    if (!same) {
      RaiseInBackward(*this, FailedPrecondition("computed something else when run again: the "
                                                "function must depend on its inputs only"));
    }
  }

  CheckpointFn fn_;
  Tensor random_;
  KeptCollectives collectives_;
  std::vector<SavedTensor> inputs_;
  bool released_ = false;
};

}  // namespace
}  // namespace autograd

std::vector<Tensor> Checkpoint(CheckpointFn fn, const std::vector<Tensor>& inputs) {
  if (!GradEnabled()) return fn(inputs);
  Tensor random = autograd::RandomStateScope::Position();
  const uint64_t start = autograd::Node::LastSeq();
  autograd::KeptCollectives collectives;
  std::vector<Tensor> results;
  {
    const autograd::KeptCollectives::Scope scope(collectives, nullptr);
    results = fn(inputs);
  }
  const std::vector<autograd::Edge> crossing = autograd::CrossingEdges(results, start);
  if (crossing.empty()) return results;
  const auto node = MakeIntrusive<autograd::CheckpointNode>(std::move(fn), inputs, random,
                                                            std::move(collectives), crossing);
  for (Tensor& y : results) {
    if (!y.defined()) {
      RaiseStatus(InvalidArgument("the function returned an undefined tensor"), "checkpoint");
    }
    y = y.Detach();
  }
  node->Attach(absl::MakeSpan(results));
  return results;
}

}  // namespace firn
