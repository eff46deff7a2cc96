// The reverse sweep.
//
// Every user of a value has a larger number than the node that made it: taking the largest waiting
// number from a heap visits each node after all of its users, with no recursion and no counting
// pass. Gradients wait in places that the nodes themselves know: a map would cost more than all the
// rest. Those of leaves are added to grad() at the end, so an error on the way changes nothing.

#include "firn/autograd/tape/sweep.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "firn/autograd/tape/listeners.h"
#include "firn/device/macros.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/optimizer/update.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/storage.h"

namespace firn::autograd {
namespace {

thread_local constinit const Node* node_in_backward = nullptr;
thread_local constinit bool in_backward = false;

// Gradient rules see the dtypes that the forward run had, whatever autocast says by now.
class BackwardScope {
 public:
  BackwardScope()
      : outer_(std::exchange(in_backward, true)),
        autocast_(std::exchange(ThisThread().autocast, nullptr)) {}
  ~BackwardScope() {
    in_backward = outer_;
    ThisThread().autocast = autocast_;
  }
  BackwardScope(const BackwardScope&) = delete;
  BackwardScope& operator=(const BackwardScope&) = delete;

 private:
  bool outer_;
  Autocaster* autocast_;
};

// Says on whose behalf operations run: for messages and for anomaly reports.
class BackwardOf {
 public:
  explicit BackwardOf(const Node& node) : path_(node.interned_path()), outer_(node_in_backward) {
    node_in_backward = &node;
  }
  ~BackwardOf() { node_in_backward = outer_; }
  BackwardOf(const BackwardOf&) = delete;
  BackwardOf& operator=(const BackwardOf&) = delete;

 private:
  PathScope path_;
  const Node* outer_;
};

// Null inside a NoCaptureScope too: what runs there is no part of the run.
SweepCapture* RunningCapture() { return ThisThread().capture == nullptr ? nullptr : sweep_capture; }

bool SoleOwner(const Tensor& t) {
  const Storage& storage = *t.impl()->storage;
  const bool held = sweep_capture != nullptr && sweep_capture->Holds(storage);
  return t.impl()->use_count() == 1 && storage.use_count() == (held ? 2u : 1u);
}

bool CanAddInto(const Tensor& slot) {
  return !GradEnabled() && SoleOwner(slot) && slot.is_contiguous();
}

// The same for a leaf's gradient. What stands for a gradient that a captured run found is added to
// where it is, so that every run of the graph leaves the sum there.
bool CanAddIntoLeaf(const Tensor& slot) {
  const SweepCapture* const capture = RunningCapture();
  const bool found = capture != nullptr && capture->IsFound(slot);
  return (found && !GradEnabled()) || CanAddInto(slot);
}

FIRN_NOINLINE void AddTo(Tensor& slot, const Tensor& grad) {
  if (CanAddInto(slot)) {
    Accumulate(slot, grad);
  } else {
    slot = Add(slot, grad);
  }
}

// slot += grad, in place when nobody else can see the slot's tensor.
void AddInto(Tensor& slot, Tensor&& grad) {
  if (!slot.defined()) [[likely]] {
    slot = std::move(grad);
  } else {
    AddTo(slot, grad);
  }
}

// A gradient that a leaf can keep: its own, row-major, so that later passes may add to it in place.
Tensor Settled(Tensor grad) {
  if (GradEnabled() || (SoleOwner(grad) && grad.is_contiguous())) return grad;
  return grad.is_contiguous() ? Clone(grad) : Contiguous(grad);
}

}  // namespace

Sweep::Sweep(const SweepOptions& options) : options_(options) {
  static std::atomic<uint32_t> last_id = 0;
  while ((id_ = ++last_id) == 0) continue;
}

// After an error some nodes still wait.
Sweep::~Sweep() {
  for (const Waiting& w : waiting_) {
    if (w.node) w.node->sweep_mark() = {};
  }
  for (const auto& [node, mark] : covered_marks_) node->sweep_mark() = mark;
  for (const auto& listener : told_) listener->Cancel();
}

const Node* NodeInBackward() { return node_in_backward; }
bool InBackward() { return in_backward; }

bool Sweep::LeadsToTarget(const Edge& e) const {
  return e.node ? useful_.contains(e.node.get()) || captured_.contains(e.node.get())
                : e.leaf.defined() && wanted_leaves_.contains(e.leaf.impl());
}

void Sweep::Deliver(const Edge& e, Tensor&& grad) {
  if (!grad.defined() || !Wanted(e)) return;
  if (!e.node) {
    const auto [it, inserted] = leaf_at_.try_emplace(e.leaf.impl(), leaves_.size());
    if (inserted) leaves_.push_back({e.leaf, Tensor()});
    AddInto(leaves_[it->second].grad, std::move(grad));
    return;
  }
  AddInto(waiting_[PlaceOf(*e.node)].grads[e.slot], std::move(grad));
}

Tensor* Sweep::Delivered(const Edge& e) {
  Tensor* slot = nullptr;
  if (!e.node) {
    const auto found = leaf_at_.find(e.leaf.impl());
    if (found != leaf_at_.end()) slot = &leaves_[found->second].grad;
  } else if (e.node->sweep_mark().sweep == id_) {
    slot = &waiting_[e.node->sweep_mark().place].grads[e.slot];
  }
  return slot != nullptr && slot->defined() ? slot : nullptr;
}

// The gradient rule would make zeros around the part, as large as the whole: of a tensor that is
// cut into pieces, as gates or the steps of a sequence are, once a piece.
bool Sweep::AddToPart(const Node& node, const Gradients& grads) {
  const Edge& e = node.edges()[0];
  if (!Wanted(e)) return false;
  const Tensor* const slot = Delivered(e);
  if (slot == nullptr || !CanAddInto(*slot)) return false;
  const Tensor part = node.PartOf(*slot);
  if (!part.defined()) return false;
  Assign(part, Add(part, grads[0]));  // accumulate wants a target in one piece
  return true;
}

uint32_t Sweep::PlaceOf(Node& node) {
  SweepMark& mark = node.sweep_mark();
  if (mark.sweep == id_) return mark.place;
  if (mark.sweep != 0) covered_marks_.emplace_back(IntrusivePtr<Node>::Share(&node), mark);
  uint32_t place = static_cast<uint32_t>(waiting_.size());
  if (free_places_.empty()) {
    waiting_.emplace_back();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  Waiting& waiting = waiting_[place];
  waiting.node = IntrusivePtr<Node>::Share(&node);
  const size_t outputs = node.output_specs().size();
  if (waiting.grads.size() != outputs) waiting.grads.resize(outputs);
  Push({node.seq(), place});
  mark = {id_, place};
  return place;
}

void Sweep::Push(Turn turn) {
  if (next_.place != kNobody) {
    if (next_ < turn) std::swap(next_, turn);
    others_.push(turn);
  } else {
    next_ = turn;
  }
}

bool Sweep::Pop(uint32_t* place) {
  *place = std::exchange(next_.place, kNobody);
  if (!others_.empty()) {
    next_ = others_.top();
    others_.pop();
  }
  return *place != kNobody;
}

bool Sweep::EndsAt(Node& node, Gradients& grads) {
  const auto target = captured_.find(&node);
  if (target == captured_.end()) return false;
  target->second = grads;
  return options_.stop_at_targets || !useful_.contains(&node);
}

// In one piece, for every node comes here.
FIRN_FLATTEN void Sweep::RunNode(uint32_t place) {
  const IntrusivePtr<Node> node = std::move(waiting_[place].node);
  node->sweep_mark() = {};
  Gradients& grads = waiting_[place].grads;  // until something is delivered
  const auto done = [&] {
    for (Tensor& grad : grads) grad = Tensor();
    free_places_.push_back(place);
  };
  // The hooks of a target at which the sweep stops are for the sweep that goes on from there.
  const bool hooks_later = options_.stop_at_targets && captured_.contains(node.get());
  if (!hooks_later) node->RunHooks(absl::MakeSpan(grads), retained_);
  if (!captured_.empty() && EndsAt(*node, grads)) return done();
  const absl::Span<const Edge> edges = node->edges();
  absl::FixedArray<Tensor, 4> inputs(edges.size());
  absl::InlinedVector<bool, 4> wanted;
  if (restricted_) {
    for (const Edge& e : edges) wanted.push_back(Wanted(e));
  }
  const BackwardOf scope(*node);
  if (edges.size() != 1 || !AddToPart(*node, grads)) {
    node->Backward(grads, wanted, absl::MakeSpan(inputs));
  }
  done();
  for (size_t i = 0; i < inputs.size(); ++i) {
    Deliver(edges.data()[i], std::move(inputs.data()[i]));
  }
  if (!options_.retain) node->ReleaseSaved();
}

void Sweep::Run() {
  const BackwardScope scope;
  if (options_.announce && AnyGradientListeners()) [[unlikely]] {
    RunAndAnnounce();
  } else {
    uint32_t place;
    while (Pop(&place)) RunNode(place);
  }
  if (options_.stop_at_targets) return;
  for (Leaf& leaf : leaves_) {
    if (!leaf.announced) RunHooksOf(leaf);
  }
}

void Sweep::RunHooksOf(Leaf& leaf) {
  const GradMeta* meta = leaf.tensor.impl()->grad_meta.get();
  if (meta == nullptr) return;
  for (const auto& hook : GradHooks(meta->hooks)) RunHook(*hook, leaf.grad);
}

// A leaf's gradient is final when the next node comes before all that use the leaf: then no more is
// delivered, even where a user of it has got no gradient and is passed by.
void Sweep::RunAndAnnounce() {
  std::vector<Node*> roots;
  std::vector<Tensor> leaf_roots;
  std::vector<Tensor*> seeds;
  for (Waiting& w : waiting_) {
    if (w.node) roots.push_back(w.node.get());
    for (Tensor& seed : w.grads) seeds.push_back(&seed);
  }
  for (Leaf& leaf : leaves_) {
    leaf_roots.push_back(leaf.tensor);
    seeds.push_back(&leaf.grad);
  }
  const std::vector<ListenedLeaf> order = ListenedLeaves(roots);
  weighs_nothing_ = WeighSeeds(order, leaf_roots, seeds);
  auto next = order.begin();
  const auto announce_from = [&](uint64_t seq) {
    for (; next != order.end() && next->last_user > seq; ++next) {
      const auto found = leaf_at_.find(next->leaf.impl());
      if (found != leaf_at_.end()) Announce(leaves_[found->second], next->listener);
    }
  };
  uint32_t place;
  while (Pop(&place)) {
    announce_from(waiting_[place].node->seq());
    RunNode(place);
  }
  announce_from(0);
  for (Leaf& leaf : leaves_) {  // a root that is a leaf itself, and those that nobody listens to
    if (leaf.announced) continue;
    if (const auto listener = GradientListenerOf(leaf.tensor)) {
      Announce(leaf, listener);
    } else {
      leaf.announced = true;
      RunHooksOf(leaf);
    }
  }
  for (const auto& listener : told_) listener->Finish();
  told_.clear();
}

void Sweep::Announce(Leaf& leaf, const std::shared_ptr<GradientListener>& listener) {
  leaf.announced = true;
  if (weighs_nothing_) leaf.grad = ZerosLike(leaf.grad);
  RunHooksOf(leaf);
  if (weighs_nothing_) leaf.grad = ZerosLike(leaf.grad);  // hooks may divide by its norm
  if (std::find(told_.begin(), told_.end(), listener) == told_.end()) told_.push_back(listener);
  leaf.grad = Settled(std::move(leaf.grad));  // its own: the listener may write into it
  const TensorSpec spec = leaf.grad.spec();
  listener->Ready(leaf.tensor, leaf.grad);
  if (leaf.grad.defined() && (leaf.grad.shape() != spec.shape || leaf.grad.dtype() != spec.dtype ||
                              leaf.grad.device() != spec.device)) {
    RaiseStatus(InvalidArgument("a listener made ", leaf.grad.spec().ToString(),
                                " of the gradient ", spec.ToString()),
                "backward");
  }
}

void Sweep::AddToLeaves() {
  const BackwardScope scope;
  // All that can fail comes first: sums that need new memory, copies of gradients not ours to keep.
  struct Change {
    Tensor* slot;
    Tensor value;
    bool add;  // in place
  };
  std::vector<Change> changes;
  const auto plan = [&changes](Tensor& slot, const Tensor& present, Tensor grad) {
    if (!present.defined()) {
      changes.push_back({&slot, Settled(std::move(grad)), false});
    } else if (CanAddIntoLeaf(present)) {
      changes.push_back({&slot, grad.is_contiguous() ? grad : Contiguous(grad), true});
    } else {
      changes.push_back({&slot, Add(present, grad), false});
    }
  };
  changes.reserve(2 * leaves_.size() + retained_.size());
  for (Leaf& leaf : leaves_) {
    if (!leaf.grad.defined()) continue;  // a listener has kept it
    GradMeta& meta = EnsureGradMeta(leaf.tensor);
    if (leaf.tensor.impl()->owned) NoteGradientOfOwned(leaf.tensor);
    SweepCapture* const capture = RunningCapture();
    // More on top of what nobody may read. A graph adds it all the same, for its later runs.
    if (meta.withheld && capture == nullptr) continue;
    const Tensor found = capture == nullptr ? Tensor() : capture->FoundGradient(leaf.tensor);
    if (found.defined()) changes.push_back({&meta.grad, found, false});
    plan(meta.grad, found.defined() ? found : meta.grad, std::move(leaf.grad));
  }
  for (auto& [cell, grad] : retained_) plan(*cell, *cell, std::move(grad));
  for (Change& c : changes) {
    if (c.add) {
      Accumulate(*c.slot, c.value);
    } else {
      *c.slot = std::move(c.value);
    }
  }
}

// Marks, walking from the roots without recursion, every node from which a target is reachable.
void Sweep::RestrictTo(absl::Span<const Edge> roots, absl::Span<const Edge> targets) {
  restricted_ = true;
  for (const Edge& e : targets) {
    if (e.node) captured_[e.node.get()] = {};
    if (e.leaf.defined()) wanted_leaves_.insert(e.leaf.impl());
  }
  std::vector<Node*> order, stack;
  absl::flat_hash_set<Node*> seen;
  const auto reach = [&](const Edge& e) {
    if (e.node && seen.insert(e.node.get()).second) stack.push_back(e.node.get());
  };
  for (const Edge& e : roots) reach(e);
  while (!stack.empty()) {
    Node* n = stack.back();
    stack.pop_back();
    order.push_back(n);
    if (options_.stop_at_targets && captured_.contains(n)) continue;
    for (const Edge& e : n->edges()) reach(e);
  }
  // What a node uses comes before it.
  std::sort(order.begin(), order.end(), [](Node* a, Node* b) { return a->seq() < b->seq(); });
  for (Node* n : order) {
    for (const Edge& e : n->edges()) {
      if (Wanted(e)) useful_.insert(n);
    }
  }
}

Tensor Sweep::Result(const Edge& target) const {
  if (target.node) {
    const auto it = captured_.find(target.node.get());
    return it == captured_.end() || it->second.empty() ? Tensor() : it->second[target.slot];
  }
  const auto it = leaf_at_.find(target.leaf.impl());
  return it == leaf_at_.end() ? Tensor() : leaves_[it->second].grad;
}

}  // namespace firn::autograd
