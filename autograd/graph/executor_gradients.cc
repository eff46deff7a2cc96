// Gradients of leaves around a run: a gradient that the run finds is brought to where its
// operations add to it, and a gradient that it leaves is handed out.
//
// A graph's gradients lie in memory of its own, so that runs find them at one address. Outside the
// graph a gradient is a tensor like others: anybody may keep it, and an ordinary backward pass
// never changes a gradient that somebody keeps. So the leaf gets a handle (left_), and before the
// next run writes the memory its references are counted: when somebody else holds one, the memory
// stays theirs and the graph takes other memory.

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "firn/autograd/graph/executor.h"
#include "firn/device/context.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/allocate.h"
#include "firn/tensor/grad_meta.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/owner.h"
#include "firn/tensor/reorder.h"

namespace firn {
namespace {

using Finds = GradientEffect::Finds;

// A single -0, expanded: adding it changes no sum, not even the sign of a zero.
absl::Status FillWithNothing(const Tensor& place) {
  alignas(double) char bytes[sizeof(double)];
  VisitFloat(place.dtype(), [&]<class T>(TypeTag<T>) {
    const T zero = static_cast<T>(-0.0f);
    std::memcpy(bytes, &zero, sizeof(zero));
  });
  FIRN_ASSIGN_OR_RETURN(const Tensor there, AllocateTensor(TensorSpec::Contiguous(
                                                place.dtype(), Shape(), place.device())));
  FIRN_ASSIGN_OR_RETURN(DeviceContext* const context, GetDeviceContext(place.device()));
  FIRN_RETURN_IF_ERROR(
      context->CopyFromHost(there.impl()->data, bytes, static_cast<size_t>(SizeOf(place.dtype()))));
  Dims strides = place.shape().dims();
  for (int d = 0; d < strides.rank; ++d) strides[d] = 0;
  const TensorSpec many =
      TensorSpec::Strided(place.dtype(), place.shape(), place.device(), strides);
  return CopyElements(many, there.impl()->data, place.spec(), place.impl()->data);
}

// How runs use the buffers of gradients, found in one walk for all of them.
class GradientUses {
 public:
  explicit GradientUses(const Graph& graph)
      : g_(graph),
        bound_(graph.buffers.size(), 0),
        first_(graph.buffers.size(), kUntouched),
        reads_(graph.buffers.size(), 0),
        used_(graph.buffers.size(), false) {
    for (const Value& v : g_.values) bound_[static_cast<size_t>(v.buffer)] += v.bound.defined();
    for (const Instr& instr : g_.instrs) Add(instr);
    for (ValueId id : g_.outputs) used_[BufferOf(id)] = true;
  }

  // Whether the gradient may get other memory: the run makes all of the value anew before it reads
  // any of it, and only this gradient is bound to the memory. False where the code gives a leaf a
  // tensor from outside, or parts of one tensor to several leaves.
  bool IsMadeAnew(ValueId id) const {
    return bound_[BufferOf(id)] == 1 && first_[BufferOf(id)] == id;
  }
  // Whether the run does nothing with the gradient but add to it.
  bool IsOnlySummed(ValueId id) const { return id != kNoValue && !used_[BufferOf(id)]; }

 private:
  static constexpr ValueId kUntouched = -2, kRead = -3;

  size_t BufferOf(ValueId id) const { return static_cast<size_t>(g_.value(id).buffer); }

  void Add(const Instr& instr) {
    const std::optional<size_t> target = TraitsOf(*instr.op).adds_to;
    for (ValueId id : instr.in) {
      if (id != kNoValue) ++reads_[BufferOf(id)];
    }
    if (target && instr.in[*target] != kNoValue) --reads_[BufferOf(instr.in[*target])];
    for (ValueId id : instr.in) {
      if (id == kNoValue) continue;
      const size_t buffer = BufferOf(id);
      if (reads_[buffer] > 0) used_[buffer] = true;
      reads_[buffer] = 0;
      if (first_[buffer] == kUntouched) first_[buffer] = kRead;
    }
    for (ValueId id : instr.out) {
      if (first_[BufferOf(id)] == kUntouched) first_[BufferOf(id)] = id;
    }
  }

  const Graph& g_;
  // All by buffer: how many values are bound to it; the value that was made in it first, or kRead
  // if it was read before that; how often one operation reads it; whether runs do more than add to
  // it.
  std::vector<int> bound_;
  std::vector<ValueId> first_;
  std::vector<int> reads_;
  std::vector<bool> used_;
};

// Gives a tensor other memory, which all graphs that share the tensor see; its elements are
// arbitrary.
absl::Status GiveOtherMemory(const Tensor& t) {
  FIRN_ASSIGN_OR_RETURN(const Tensor other, AllocateTensor(t.spec()));
  t.impl()->storage = other.impl()->storage;
  t.impl()->data = other.impl()->data;
  return absl::OkStatus();
}

}  // namespace

void Executor::FindLeftGradients() {
  const GradientUses uses(graph_);
  left_.resize(graph_.gradients.size());
  made_anew_.resize(graph_.gradients.size());
  only_summed_.resize(graph_.gradients.size());
  for (size_t i = 0; i < left_.size(); ++i) {
    const GradientEffect& e = graph_.gradients[i];
    only_summed_[i] = e.value == e.found && uses.IsOnlySummed(e.found);
    made_anew_[i] = e.value != kNoValue && e.value != e.found && uses.IsMadeAnew(e.value);
    const Tensor& present = HeldGrad(e.leaf);
    const bool ours = e.value != kNoValue && present.defined() &&
                      present.impl()->storage == graph_.value(e.value).bound.impl()->storage;
    if (ours) left_[i] = present;
  }
}

absl::Status Executor::CheckGradients() const {
  for (size_t i = 0; i < left_.size(); ++i) {
    const GradientEffect& e = graph_.gradients[i];
    if (e.finds == Finds::kAnything) continue;
    const Tensor& present = HeldGrad(e.leaf);
    if (IsWithheld(e.leaf)) {
      // A sum with a withheld gradient is withheld too; reading it is an error, making it is not.
      if (only_summed_[i]) continue;
      return WithheldError(e.leaf);
    }
    FIRN_RETURN_IF(e.finds == Finds::kNone && present.defined(),
                   FailedPrecondition("the captured run found no gradient in ", NameOfKept(e.leaf),
                                      " and did without; there is one now. Clear it with ZeroGrad,"
                                      " or capture again"));
    FIRN_RETURN_IF(e.finds == Finds::kGradient && !present.defined(),
                   FailedPrecondition("the captured run used the gradient that it found in ",
                                      NameOfKept(e.leaf),
                                      ", and there is none now; capture what"
                                      " computes it as well"));
    if (e.found == kNoValue || !present.defined()) continue;
    const TensorSpec& want = graph_.value(e.found).spec;
    FIRN_RETURN_IF(
        !SameKind(present.spec(), want),
        FailedPrecondition("the gradient of ", NameOfKept(e.leaf), " was ", want.ToString(),
                           " and is ", present.spec().ToString(), " now; capture again"));
  }
  return absl::OkStatus();
}

bool Executor::KeptByOthers(size_t effect, const Tensor& bound) const {
  const Tensor& left = left_[effect];
  const Storage& storage = *bound.impl()->storage;
  uint32_t ours = 1;
  if (left.defined() && left.impl()->storage.get() == &storage) {
    const bool given = HeldGrad(graph_.gradients[effect].leaf).Is(left);
    if (left.impl()->use_count() > (given ? 2u : 1u)) return true;
    ++ours;
  }
  return storage.use_count() > ours;
}

absl::StatusOr<bool> Executor::TakeGradients() {
  bool moved = false;
  for (size_t i = 0; i < left_.size(); ++i) {
    const GradientEffect& e = graph_.gradients[i];
    if (made_anew_[i]) {
      const Tensor& bound = graph_.value(e.value).bound;
      if (KeptByOthers(i, bound)) {
        FIRN_RETURN_IF_ERROR(GiveOtherMemory(bound));
        moved = true;
      }
    }
    if (e.found == kNoValue) continue;
    const Tensor& place = graph_.value(e.found).bound;
    const Tensor& present = HeldGrad(e.leaf);  // a copy would count as somebody's reference
    const bool kept = KeptByOthers(i, place);
    const bool there = present.defined() && present.impl()->data == place.impl()->data;
    if (there && !kept) [[likely]]
      continue;
    if (kept) {
      FIRN_RETURN_IF_ERROR(GiveOtherMemory(place));
      moved = true;
    }
    FIRN_RETURN_IF_ERROR(present.defined() ? CopyElements(present.spec(), present.impl()->data,
                                                          place.spec(), place.impl()->data)
                                           : FillWithNothing(place));
  }
  return moved;
}

bool Executor::DropFoundGradients(absl::Span<const Tensor> in) {
  bool any = false;
  for (const GradientEffect& e : graph_.gradients) {
    const Tensor& found = HeldGrad(e.leaf);
    if (e.value != kNoValue || e.finds != Finds::kAnything || !found.defined()) continue;
    // grad() is a reference, and what it refers to may be an input.
    if (std::any_of(in.begin(), in.end(), [&](const Tensor& t) { return &t == &found; })) continue;
    HoldGrad(e.leaf, Tensor());
    if (e.withheld) EnsureGradMeta(e.leaf).withheld = true;
    any = true;
  }
  return any;
}

void Executor::LeaveGradients() {
  for (size_t i = 0; i < left_.size(); ++i) {
    const GradientEffect& e = graph_.gradients[i];
    if (e.value == kNoValue) {
      HoldGrad(e.leaf, Tensor());
      if (e.withheld) EnsureGradMeta(e.leaf).withheld = true;
      continue;
    }
    if (IsWithheld(e.leaf) && only_summed_[i]) continue;
    const Tensor& bound = graph_.value(e.value).bound;
    if (!left_[i].defined() || left_[i].impl()->storage != bound.impl()->storage) {
      left_[i] = WrapStorage(bound.impl()->storage, bound.impl()->data, bound.spec());
    }
    if (!HeldGrad(e.leaf).Is(left_[i])) HoldGrad(e.leaf, left_[i]);
  }
}

}  // namespace firn
