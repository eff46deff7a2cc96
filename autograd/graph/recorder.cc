// Recording: storages become buffers, tensors become values, calls become instructions.
//
// A storage that only the recorder holds is dead: nothing later in the run can name it. The
// recorder gives it up soon, so that a capture needs about the memory of the run itself. Storages
// that the run found (and did not make) are kept: they are states if somebody else holds them at
// the end, else constants, such as the 2 of `x * 2`.

#include "firn/autograd/graph/recorder.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"
#include "absl/strings/str_cat.h"
#include "firn/device/check.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/error.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/shape/copies.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

int64_t OffsetOf(const Tensor& t) {
  return t.impl()->data - static_cast<const char*>(t.impl()->storage->data());
}

// The same elements in memory of their own.
Tensor Copy(const Tensor& t) {
  absl::StatusOr<Tensor> copy = AllocateTensor(
      TensorSpec::Blocked(t.dtype(), t.shape(), t.device(), t.spec().layout.channel_block));
  RaiseIfError(copy.status(), "capture");
  RaiseIfError(CopyElements(t.spec(), t.impl()->data, copy->spec(), copy->impl()->data), "capture");
  return *std::move(copy);
}

constexpr size_t kDropBytes = size_t{1} << 18;

// A held storage counts for at least this many bytes. Looking at one takes about as long as writing
// a thirty-second of this, so many small held storages are not looked at again for each large one
// that goes.
constexpr size_t kLeastHeld = size_t{1} << 14;

// Up to so many values of one storage are searched one after the other.
constexpr size_t kFewValues = 16;

size_t PlaceHash(int64_t offset, const TensorSpec& spec) {
  return absl::HashOf(offset, spec.dtype,
                      absl::MakeConstSpan(spec.shape.begin(), spec.shape.end()));
}

// A second handle on the same elements, without history.
Tensor Alias(const Tensor& t) { return WrapStorage(t.impl()->storage, t.impl()->data, t.spec()); }

}  // namespace

GraphRecorder::GraphRecorder(absl::Span<const Tensor> inputs) {
  for (const Tensor& t : inputs) {
    Seen& seen = SeenStorage(t, Buffer::Kind::kInput, false);
    graph_.inputs.push_back(ValueIn(seen, t));
  }
}

GraphRecorder::~GraphRecorder() = default;

GraphRecorder::Seen& GraphRecorder::SeenStorage(const Tensor& t, Buffer::Kind kind,
                                                bool made_here) {
  const IntrusivePtr<Storage>& storage = t.impl()->storage;
  auto [it, inserted] = seen_.try_emplace(storage.get());
  if (inserted) {
    const auto id = static_cast<BufferId>(graph_.buffers.size());
    graph_.buffers.push_back({kind, static_cast<int64_t>(storage->bytes()), storage->device()});
    it->second = {.storage = storage, .buffer = id, .made_here = made_here, .values = {}};
    if (made_here) made_here_.push_back(storage.get());
  }
  return it->second;
}

absl::Span<const ValueId> GraphRecorder::Near(Seen& seen, int64_t offset,
                                              const TensorSpec& spec) const {
  if (seen.values.size() <= kFewValues) return seen.values;
  for (; seen.indexed < seen.values.size(); ++seen.indexed) {
    const ValueId id = seen.values[seen.indexed];
    seen.by_place[PlaceHash(graph_.value(id).offset, graph_.value(id).spec)].push_back(id);
  }
  const auto found = seen.by_place.find(PlaceHash(offset, spec));
  if (found == seen.by_place.end()) return {};
  return found->second;
}

ValueId GraphRecorder::ValueIn(Seen& seen, const Tensor& t) {
  const int64_t offset = OffsetOf(t);
  for (ValueId id : Near(seen, offset, t.spec())) {
    const Value& v = graph_.value(id);
    if (v.offset == offset && SameSpec(v.spec, t.spec())) return id;
  }
  const auto id = static_cast<ValueId>(graph_.values.size());
  graph_.values.push_back({seen.buffer, offset, t.spec(), {}});
  seen.values.push_back(id);
  return id;
}

GraphRecorder::Leaf& GraphRecorder::NoteLeaf(const Tensor& t) {
  const auto [it, inserted] = leaf_at_.try_emplace(t.impl(), leaves_.size());
  if (inserted) {
    const auto seen = seen_.find(t.impl()->storage.get());
    const bool on_input =
        seen != seen_.end() &&
        graph_.buffers[static_cast<size_t>(seen->second.buffer)].kind == Buffer::Kind::kInput;
    const bool born_here = t.impl()->born_in == ThisThread().running_capture();
    leaves_.push_back({.tensor = t,
                       .grad_before = HeldGrad(t),
                       .withheld_before = IsWithheld(t),
                       .is_input = on_input && !born_here,
                       .made_here = on_input || born_here,
                       .found = {}});
  }
  return leaves_[it->second];
}

void GraphRecorder::BeforeSetGrad(const Tensor& t) {
  if (t.is_leaf()) NoteLeaf(t).touched = true;
}

// The code may branch on whether there is a gradient, so the run notes what it found.
void GraphRecorder::BeforeGetGrad(const Tensor& t) {
  if (!t.is_leaf()) return;
  Leaf& leaf = NoteLeaf(t);
  if (leaf.touched || leaf.made_here) return;
  if (leaf.grad_before.defined()) {
    HoldGrad(t, FoundGradient(t));
    leaf.finds = GradientEffect::Finds::kGradient;
  } else {
    leaf.finds = GradientEffect::Finds::kNone;
  }
  leaf.touched = true;
}

// -0 + x is x for every x, -0 among them, so a sum that begins with it is to the bit what the
// ordinary pass, which has nothing to add to, leaves.
Tensor GraphRecorder::FoundGradient(const Tensor& t) {
  Leaf& leaf = NoteLeaf(t);
  if (std::exchange(leaf.touched, true) || leaf.made_here) return Tensor();
  leaf.finds = GradientEffect::Finds::kAddsTo;
  const NoCaptureScope no_capture;  // not part of the graph: runs find the tensor ready
  const NoGradScope no_grad;
  const Tensor& before = leaf.grad_before;
  leaf.found = before.defined() ? Copy(Contiguous(before.Detach()))
                                : Full(t.shape(), -0.0, t.dtype(), t.device());
  known_changed_.insert(leaf.found.impl());  // nobody had it before: nothing to put back
  found_.insert(leaf.found.impl());
  return leaf.found;
}

bool GraphRecorder::IsFound(const Tensor& grad) const {
  return grad.defined() && found_.contains(grad.impl());
}

ValueId GraphRecorder::InputValue(const Tensor& t) {
  if (!t.defined()) return kNoValue;
  // Reading a blocked state on the host may lay it out row-major at any time, so a graph cannot
  // rely on blocks. But another holder of the memory would not follow, and would be a different
  // tensor from then on. So a shared state keeps its layout, and a run after one of the holders was
  // laid out is refused.
  if (!seen_.contains(t.impl()->storage.get())) {
    RaiseIfError(LayOutRowMajorIfAlone(t), "capture");
  }
  Seen& seen = SeenStorage(t, Buffer::Kind::kState, false);
  const ValueId id = ValueIn(seen, t);
  if (seen.made_here || graph_.buffer_of(id).kind == Buffer::Kind::kInput) return id;
  Bind(id, t);
  return id;
}

// The program changes flags of tensors that it holds, not of handles that only the run had. So
// tensors from outside are bound, and each of them is checked.
void GraphRecorder::Bind(ValueId id, const Tensor& t) {
  Tensor& bound = graph_.value(id).bound;
  // What a module keeps and has computed (parametrize::Held) is not bound with its history.
  if (!t.is_leaf() && t.impl()->owned && known_handles_.insert(t.impl()).second) {
    other_handles_.emplace_back(id, t);
  }
  if (!bound.defined()) {
    bound = t.is_leaf() ? t : Alias(t);
    return;
  }
  const uint32_t here = ThisThread().running_capture();
  if (here == 0 || !t.is_leaf() || t.impl()->born_in == here || bound.Is(t)) return;
  if (bound.impl()->born_in == here) {
    bound = t;
  } else if (known_handles_.insert(t.impl()).second) {
    other_handles_.emplace_back(id, t);
  }
}

absl::Status GraphRecorder::BeforeWrite(const Tensor& t) {
  const auto found = seen_.find(t.impl()->storage.get());
  if (found != seen_.end()) {
    const Seen& seen = found->second;
    FIRN_RETURN_IF(
        graph_.buffers[static_cast<size_t>(seen.buffer)].kind == Buffer::Kind::kInput,
        FailedPrecondition("would change an input of the captured function in place (",
                           t.spec().ToString(),
                           "); change a clone, or make it a state by not passing it as an input"));
    if (seen.made_here) return absl::OkStatus();
  }
  KeepAsItIs(t);
  return absl::OkStatus();
}

void GraphRecorder::KeepAsItIs(const Tensor& t) {
  if (known_changed_.insert(t.impl()).second) changed_.emplace_back(t, Copy(t));
}

void GraphRecorder::Undo() {
  ForgetWaiting();
  // In reverse order, since the memory of a later copy may overlap that of an earlier one.
  for (auto it = changed_.rbegin(); it != changed_.rend(); ++it) {
    const auto& [state, before] = *it;
    const absl::Status copied =
        CopyElements(before.spec(), before.impl()->data, state.spec(), state.impl()->data);
    FIRN_CHECK(copied.ok(), std::string(copied.message()));  // the copy the other way worked
    state.impl()->storage->BumpVersion();
  }
  for (Leaf& leaf : leaves_) {
    HoldGrad(leaf.tensor, leaf.grad_before);
    if (leaf.withheld_before) EnsureGradMeta(leaf.tensor).withheld = true;
  }
}

void GraphRecorder::Record(const OpDef& op, absl::Span<const TensorRef> in, AttrsRef attrs,
                           absl::Span<const Tensor> out) {
  Instr instr;
  instr.op = &op;
  instr.attrs = Attrs(attrs);
  const autograd::Node* node = autograd::NodeInBackward();
  instr.phase = autograd::InBackward() ? Phase::kBackward : Phase::kForward;
  instr.path = node == nullptr ? PathScope::Interned() : node->interned_path();
  for (const TensorRef& t : in) instr.in.push_back(InputValue(*t));
  for (const Tensor& t : out) {
    const bool shares = op.is_view && t.impl()->storage == in[0]->impl()->storage;
    Seen& seen = SeenStorage(t, Buffer::Kind::kTemp, !shares);
    instr.out.push_back(ValueIn(seen, t));
    if (!shares) new_bytes_ += t.impl()->storage->bytes();
  }
  // A view that changes nothing is no operation.
  const bool same = op.is_view && instr.out[0] == instr.in[0];
  if (!same) graph_.instrs.push_back(std::move(instr));
}

// Storages are dropped before the call, so that it can use the memory that the code has given up
// since the last one.
void GraphRecorder::BeforeCall(const OpDef& op, absl::Span<const TensorRef> in) {
  DropUnheld();
  const size_t known = op.variadic() ? in.size() : std::min(in.size(), op.inputs.size());
  for (size_t i = 0; i < known && !waiting_.empty(); ++i) {
    if (in[i].defined()) BeforeUse(*in[i], op.writes(i));
  }
}

// Looks at every held storage of this run, and therefore does so only when a thirty-second may have
// been added to them.
void GraphRecorder::DropUnheld() {
  if (new_bytes_ <= kDropBytes + held_bytes_ / 32) return;
  new_bytes_ = held_bytes_ = 0;
  std::erase_if(made_here_, [&](const Storage* storage) {
    const auto seen = seen_.find(storage);
    if (storage->use_count() == 1) {
      seen_.erase(seen);
      return true;
    }
    held_bytes_ += std::max(storage->bytes(), kLeastHeld);
    return false;
  });
}

absl::Status GraphRecorder::OnHostRead(const Tensor& t) {
  return FailedPrecondition("elements of ", t.spec().ToString(),
                            " are read on the host while a graph is captured, which would hold"
                            " what they are now; return the tensor from the captured function and"
                            " read it after the run");
}

absl::Status GraphRecorder::OnHostData(const TensorSpec& spec) {
  return FailedPrecondition("a tensor ", spec.ToString(),
                            " is made from host memory while a graph is captured, which would hold"
                            " these elements for ever; make it before, or pass it as an input");
}

void GraphRecorder::FindGradients() {
  for (const Leaf& leaf : leaves_) {
    if (!leaf.touched) continue;
    GradientEffect effect{.leaf = leaf.tensor, .finds = leaf.finds};
    if (leaf.found.defined()) effect.found = GradientValue(leaf.found);
    if (const Tensor& left = HeldGrad(leaf.tensor); left.defined()) {
      effect.value = GradientValue(left);
    }
    graph_.gradients.push_back(std::move(effect));
  }
}

// The graph holds a gradient by a handle of its own, so that the counts of the other handles tell
// whether somebody else holds it (executor_gradients.cc).
ValueId GraphRecorder::GradientValue(const Tensor& grad) {
  const ValueId id = InputValue(grad);
  if (graph_.buffer_of(id).kind == Buffer::Kind::kInput) {
    RaiseStatus(FailedPrecondition("an input of the captured function became a gradient (",
                                   grad.spec().ToString(), "); set a clone of it"),
                "capture");
  }
  graph_.value(id).bound = Alias(grad);
  return id;
}

// A storage that the run found is a constant when nobody else can change it. A storage that the run
// made and that somebody still holds, though it is no result, is written again by every run.
void GraphRecorder::BindWhatStays() {
  const auto only_ours = [](const Tensor& t) { return t.impl_ptr()->use_count() == 1; };
  std::erase_if(other_handles_, [&](const auto& handle) { return only_ours(handle.second); });
  std::erase_if(detached_, only_ours);
  int64_t held = 0;
  for (auto& [pointer, seen] : seen_) {
    Buffer& buffer = graph_.buffers[static_cast<size_t>(seen.buffer)];
    if (buffer.kind == Buffer::Kind::kInput) continue;
    // This table's reference to the storage, those of calls that wait and of tensors only we hold.
    uint32_t ours = 1;
    if (const auto on = waits_on_.find(pointer); on != waits_on_.end()) ours += on->second.handles;
    bool bound = false;
    for (ValueId id : seen.values) {
      const Tensor& t = graph_.value(id).bound;
      bound |= t.defined();
      ours += t.defined() && t.impl_ptr()->use_count() == 1 ? 1u : 0u;
    }
    const bool shared = seen.storage->use_count() > ours;
    if (!seen.made_here) {
      buffer.kind = shared ? Buffer::Kind::kState : Buffer::Kind::kConstant;
    } else if (shared || bound) {
      buffer.kind = Buffer::Kind::kState;
      if (bound) continue;
      ++held;
      Value& v = graph_.value(seen.values.front());
      v.bound =
          WrapStorage(seen.storage, static_cast<char*>(seen.storage->data()) + v.offset, v.spec);
    }
  }
  if (held != 0) {
    graph_.warnings.push_back(
        absl::StrCat(held,
                     " tensors made in the captured run are held outside and are no results;"
                     " every run overwrites their elements"));
  }
}

Captured GraphRecorder::Finish(TensorList results) {
  for (const Tensor& t : results) graph_.outputs.push_back(InputValue(t));
  results.clear();  // from here on only the handles of others are counted
  // A leaf that only this run holds goes with its gradient. (The caller still has a handle on each
  // input.)
  std::erase_if(leaves_, [](const Leaf& leaf) {
    if (!leaf.made_here || leaf.tensor.impl()->use_count() != (leaf.is_input ? 2u : 1u))
      return false;
    HoldGrad(leaf.tensor, Tensor());
    return true;
  });
  FindGradients();
  BindWhatStays();
  NoteSwitches();
  TensorList outputs;
  const std::vector<const Seen*> seen = SeenByBuffer();
  for (ValueId id : graph_.outputs) {
    const Value& v = graph_.value(id);
    const Seen* const there = seen[static_cast<size_t>(v.buffer)];
    FIRN_CHECK(there != nullptr, "buffer ", v.buffer, " of a result is gone");
    const IntrusivePtr<Storage>& storage = there->storage;
    outputs.push_back(WrapStorage(storage, static_cast<char*>(storage->data()) + v.offset, v.spec));
    if (graph_.buffer_of(id).kind == Buffer::Kind::kTemp) continue;
    // A later run would change these elements while the caller holds them.
    BeforeRead(outputs.back());
    outputs.back() = Copy(outputs.back());
  }
  RunWaiting(Undoable::kNo);  // nothing fails from here on
  seen_.clear();
  return {std::move(graph_), std::move(outputs)};
}

std::vector<const GraphRecorder::Seen*> GraphRecorder::SeenByBuffer() const {
  std::vector<const Seen*> all(graph_.buffers.size(), nullptr);
  for (const auto& [pointer, seen] : seen_) all[static_cast<size_t>(seen.buffer)] = &seen;
  return all;
}

}  // namespace firn
