#ifndef FIRN_AUTOGRAD_TAPE_SWEEP_H_
#define FIRN_AUTOGRAD_TAPE_SWEEP_H_

#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "firn/autograd/gradient_listener.h"
#include "firn/autograd/tape/node.h"

namespace firn::autograd {

// A running capture, as a sweep sees it.
class SweepCapture {
 public:
  // Whether the capture holds a reference on the storage beside the tensors that use it. A gradient
  // that only a sweep and the capture know can still be added to in place.
  virtual bool Holds(const Storage& storage) const = 0;
  // What stands for the gradient that the run found in `leaf`, when the run has done nothing with
  // it so far: a tensor that later runs will find the present gradient in, or what adds nothing.
  // Undefined when there is none to stand for: the run itself has set or cleared the gradient, or
  // `leaf` has it already.
  virtual Tensor FoundGradient(const Tensor& leaf) = 0;
  // Whether FoundGradient gave `grad` before: it may be added to where it is.
  virtual bool IsFound(const Tensor& grad) const = 0;

 protected:
  ~SweepCapture() = default;
};
inline thread_local constinit SweepCapture* sweep_capture = nullptr;

struct SweepOptions {
  bool retain = false;  // keep saved tensors for another pass
  // Part of another sweep, which takes over at the targets: what they were computed from is not
  // visited and their hooks are not called.
  bool stop_at_targets = false;
  // Tells those who listen to leaves (autograd/gradient_listener.h) of their gradients.
  bool announce = false;
};

// One pass from roots to leaves. Seed the roots, Run, then take the gradients: AddToLeaves, or
// Result for each target. Nothing outside the sweep has changed before AddToLeaves, except that
// saved tensors were freed and hooks were called. For one thread; used once.
class Sweep {
 public:
  explicit Sweep(const SweepOptions& options);
  ~Sweep();
  Sweep(const Sweep&) = delete;
  Sweep& operator=(const Sweep&) = delete;

  // Only nodes on a path from a root to a target are visited, and only targets get gradients. Call
  // before seeding.
  void RestrictTo(absl::Span<const Edge> roots, absl::Span<const Edge> targets);
  // dLoss / dRoot; adds up for a root seeded twice.
  void Seed(const Edge& root, Tensor grad) { Deliver(root, std::move(grad)); }
  // Throws firn::Error, and whatever hooks throw.
  void Run();
  // Adds to grad() of leaves, and of tensors that retain it: to all of them, or throws and to none.
  // A gradient that a frozen graph has kept to itself stays unknown: nobody may read it until it is
  // cleared, so nothing is added.
  void AddToLeaves();
  // The gradient that arrived at a target; undefined when none did.
  Tensor Result(const Edge& target) const;

 private:
  using Gradients = absl::InlinedVector<Tensor, 1>;
  struct Waiting {
    IntrusivePtr<Node> node;
    Gradients grads;  // of its outputs
  };
  struct Turn {
    uint64_t seq;
    uint32_t place;  // in waiting_
    friend bool operator<(const Turn& a, const Turn& b) { return a.seq < b.seq; }
  };
  static constexpr uint32_t kNobody = ~uint32_t{0};
  struct Leaf {
    Tensor tensor, grad;
    bool announced = false;
  };

  bool Wanted(const Edge& e) const { return restricted_ ? LeadsToTarget(e) : e.wanted(); }
  bool LeadsToTarget(const Edge& e) const;
  void Deliver(const Edge& e, Tensor&& grad);
  // What has been delivered there so far; null when nothing has.
  Tensor* Delivered(const Edge& e);
  // Adds the gradient of a view to its part of what has been delivered for the viewed tensor; false
  // when that cannot be done in place, or the node is no such view.
  bool AddToPart(const Node& node, const Gradients& grads);
  // The place of a node that gradients arrive for.
  uint32_t PlaceOf(Node& node);
  void Push(Turn turn);
  // The place whose turn it is; false when nobody waits.
  bool Pop(uint32_t* place);
  void RunNode(uint32_t place);
  // Whether nothing beyond the node is asked for. Keeps `grads` for Result where they are.
  bool EndsAt(Node& node, Gradients& grads);
  void RunHooksOf(Leaf& leaf);
  // Like Run, for a pass with leaves that are listened to.
  void RunAndAnnounce();
  void Announce(Leaf& leaf, const std::shared_ptr<GradientListener>& listener);

  SweepOptions options_;
  bool restricted_ = false;
  uint32_t id_;
  Turn next_ = {0, kNobody};  // the largest of all turns: along a chain there is no other
  std::priority_queue<Turn> others_;
  std::vector<Waiting> waiting_;  // nodes know their places by their marks
  std::vector<uint32_t> free_places_;
  // Marks of the sweeps around this one, whose rules or hooks called it.
  std::vector<std::pair<IntrusivePtr<Node>, SweepMark>> covered_marks_;
  absl::flat_hash_map<const TensorImpl*, size_t> leaf_at_;
  std::vector<Leaf> leaves_;  // in order of arrival, so that additions happen in a fixed order
  std::vector<std::shared_ptr<GradientListener>> told_;  // of gradients, and not of their end
  bool weighs_nothing_ = false;  // listeners make zeros of all gradients (WeighSeeds)
  Node::RetainedGradients retained_;
  absl::flat_hash_set<const Node*> useful_;  // lead to a target
  absl::flat_hash_set<const TensorImpl*> wanted_leaves_;
  absl::flat_hash_map<const Node*, Gradients> captured_;  // of targets that were computed
};

// The node whose gradient is being computed on this thread, innermost; null outside any pass.
const Node* NodeInBackward();
// Whether a sweep is running on this thread, or adding what it found to leaves.
bool InBackward();

}  // namespace firn::autograd

#endif  // FIRN_AUTOGRAD_TAPE_SWEEP_H_
