// Values of a part move over buffer by buffer: an input's buffer is its argument's, a state's is
// the one that already lies in the same storage, all others are new.

#include "firn/autograd/graph/internal/splice.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/infer.h"
#include "firn/autograd/graph/passes/pass.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/owner.h"

namespace firn::inner::internal {
namespace {

// A copy of `id` in row-major order or in blocks.
absl::StatusOr<ValueId> Reordered(Graph& graph, ValueId id, int64_t block,
                                  std::vector<Instr>* instrs) {
  const ReorderAttrs attrs{block};
  FIRN_ASSIGN_OR_RETURN(Instr instr, MakeInstr(graph, TheOp<"reorder">(), {id}, attrs));
  instrs->push_back(std::move(instr));
  return instrs->back().out[0];
}

class Splicer {
 public:
  Splicer(Graph& to, const Graph& part)
      : to_(to), part_(part), places_(part.buffers.size()), now_(part.values.size(), kNoValue) {}

  absl::StatusOr<Spliced> Run(absl::Span<const ValueId> arguments) {
    FIRN_RETURN_IF(
        arguments.size() != part_.inputs.size(),
        InvalidArgument("the part has ", part_.inputs.size(), " inputs, got ", arguments.size()));
    FIRN_RETURN_IF_ERROR(CheckGradients());
    for (size_t i = 0; i < arguments.size(); ++i) {
      FIRN_RETURN_IF_ERROR(PlaceInput(part_.inputs[i], arguments[i]));
    }
    PlaceStates();
    for (size_t b = 0; b < places_.size(); ++b) {
      if (places_[b].buffer < 0) places_[b].buffer = NewBuffer(part_.buffers[b]);
    }
    for (size_t id = 0; id < now_.size(); ++id) {
      if (now_[id] != kNoValue) continue;
      Value v = part_.values[id];
      const Place& place = places_[static_cast<size_t>(v.buffer)];
      v.buffer = place.buffer;
      v.offset += place.shift;
      now_[id] = static_cast<ValueId>(to_.values.size());
      to_.values.push_back(std::move(v));
    }
    TakeOver();
    return std::move(result_);
  }

 private:
  // Where a buffer of the part lies in the other graph.
  struct Place {
    BufferId buffer = -1;
    int64_t shift = 0;
  };

  BufferId NewBuffer(const Buffer& buffer) {
    to_.buffers.push_back(buffer);
    return static_cast<BufferId>(to_.buffers.size() - 1);
  }

  absl::Status PlaceInput(ValueId input, ValueId argument) {
    const TensorSpec& want = part_.value(input).spec;
    FIRN_RETURN_IF(!SameKind(want, to_.value(argument).spec),
                   InvalidArgument("an input is ", want.ToString(), ", got ",
                                   to_.value(argument).spec.ToString()));
    if (!SameSpec(want, to_.value(argument).spec)) {
      FIRN_ASSIGN_OR_RETURN(argument,
                            Reordered(to_, argument, want.layout.channel_block, &result_.instrs));
    }
    const Value &from = part_.value(input), &to = to_.value(argument);
    places_[static_cast<size_t>(from.buffer)] = {to.buffer, to.offset - from.offset};
    now_[static_cast<size_t>(input)] = argument;
    return absl::OkStatus();
  }

  // The gradient that one graph leaves cannot be the one that the other finds: a run of the joined
  // graph knows only the gradients from before and after the whole run.
  absl::Status CheckGradients() const {
    for (const GradientEffect& mine : part_.gradients) {
      for (const GradientEffect& other : to_.gradients) {
        const bool apart = mine.finds == GradientEffect::Finds::kAnything &&
                           other.finds == GradientEffect::Finds::kAnything;
        FIRN_RETURN_IF(
            !apart && mine.leaf.Is(other.leaf),
            InvalidArgument("both graphs compute the gradient of ", NameOfKept(mine.leaf),
                            ", and one adds to what it finds;"
                            " capture them together, or clear gradients in both"));
      }
    }
    return absl::OkStatus();
  }

  void PlaceStates() {
    absl::flat_hash_map<const Storage*, BufferId> known;
    for (const Value& v : to_.values) {
      if (v.bound.defined()) known.emplace(v.bound.impl()->storage.get(), v.buffer);
    }
    for (const Value& v : part_.values) {
      if (!v.bound.defined()) continue;
      Place& place = places_[static_cast<size_t>(v.buffer)];
      const auto same = known.find(v.bound.impl()->storage.get());
      if (place.buffer >= 0 || same == known.end()) continue;
      place.buffer = same->second;
      // A tensor that one graph may change cannot be a constant of the other.
      Buffer& buffer = to_.buffers[static_cast<size_t>(place.buffer)];
      if (part_.buffers[static_cast<size_t>(v.buffer)].kind == Buffer::Kind::kState) {
        buffer.kind = Buffer::Kind::kState;
      }
    }
  }

  void TakeOver() {
    const auto rename = [this](ValueId& id) {
      if (id != kNoValue) id = now_[static_cast<size_t>(id)];
    };
    for (Instr instr : part_.instrs) {
      for (ValueId& id : instr.in) rename(id);
      for (ValueId& id : instr.out) rename(id);
      result_.instrs.push_back(std::move(instr));
    }
    result_.outputs.assign(part_.outputs.begin(), part_.outputs.end());
    for (ValueId& id : result_.outputs) rename(id);
    TakeGradients(rename);
    to_.warnings.insert(to_.warnings.end(), part_.warnings.begin(), part_.warnings.end());
    to_.switches.insert(to_.switches.end(), part_.switches.begin(), part_.switches.end());
    to_.leaves.insert(to_.leaves.end(), part_.leaves.begin(), part_.leaves.end());
  }

  // The part runs first, so a gradient that both leave is the other's.
  template <class Rename>
  void TakeGradients(Rename rename) {
    std::vector<GradientEffect> gradients;
    for (GradientEffect e : part_.gradients) {
      const bool left_by_both = std::any_of(to_.gradients.begin(), to_.gradients.end(),
                                            [&](const auto& o) { return o.leaf.Is(e.leaf); });
      ForEachValue(e, rename);
      if (!left_by_both) gradients.push_back(std::move(e));
    }
    to_.gradients.insert(to_.gradients.begin(), gradients.begin(), gradients.end());
  }

  Graph& to_;
  const Graph& part_;
  std::vector<Place> places_;  // by buffer of the part
  std::vector<ValueId> now_;   // by value of the part
  Spliced result_;
};

}  // namespace

absl::StatusOr<Spliced> Splice(Graph& graph, const Graph& part,
                               absl::Span<const ValueId> arguments) {
  return Splicer(graph, part).Run(arguments);
}

Replacing::Replacing(const Graph& graph) {
  for (const Instr& instr : graph.instrs) alias_.push_back(IsAlias(graph, instr));
}

absl::StatusOr<ValueId> Replacing::Alike(Graph& graph, ValueId id, ValueId like,
                                         std::vector<Instr>* instrs) {
  const TensorSpec want = graph.value(like).spec;
  const TensorSpec& now = graph.value(id).spec;
  if (SameSpec(want, now)) return id;
  const bool viewed = std::any_of(graph.instrs.begin(), graph.instrs.end(), [&](const Instr& i) {
    return IsAlias(graph, i) && i.in[0] == like;
  });
  const bool spread = want.layout.contiguous && !now.layout.contiguous && viewed;
  if (want.layout.blocked() || now.layout.blocked() || spread) {
    return Reordered(graph, id, want.layout.channel_block, instrs);
  }
  return id;  // other strides: views of it are laid out anew
}

ValueId Replacing::Now(ValueId id) const {
  for (const auto& [from, to] : now_) id = id == from ? to : id;
  return id;
}

absl::Status Replacing::Apply(Graph& graph) const {
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    Instr& instr = graph.instrs[at];
    for (ValueId& id : instr.in) id = Now(id);
    if (!alias_[at]) continue;
    const Value base = graph.value(instr.in[0]);
    Value& view = graph.value(instr.out[0]);
    if (view.buffer != base.buffer) {
      const bool stays =
          std::any_of(graph.gradients.begin(), graph.gradients.end(),
                      [&](const GradientEffect& e) { return e.value == instr.out[0]; });
      FIRN_RETURN_IF(stays,
                     InvalidArgument(Describe(instr), " gives a gradient that stays, ",
                                     view.spec.ToString(), ", as a view of what is replaced"));
      view.bound = Tensor();
    }
    FIRN_ASSIGN_OR_RETURN(const Inferred inferred, InferSpecs(graph, instr));
    view.buffer = base.buffer;
    view.offset = base.offset + inferred.view_offset * SizeOf(base.spec.dtype);
    view.spec = inferred.specs[0];
  }
  for (ValueId& id : graph.outputs) id = Now(id);
  return KeepHeld(graph);
}

// A value that is held outside, such as a gradient, gets its elements where it lies.
absl::Status Replacing::KeepHeld(Graph& graph) const {
  const Uses uses(graph);
  for (const auto& [from, to] : now_) {
    if (!graph.value(from).bound.defined() || uses.maker(from) == Uses::kNone) continue;
    FIRN_ASSIGN_OR_RETURN(Instr copy, MakeInstr(graph, TheOp<"assign">(), {from, Now(from)}));
    graph.instrs.push_back(std::move(copy));
  }
  return absl::OkStatus();
}

}  // namespace firn::inner::internal
