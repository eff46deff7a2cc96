// The producer moves to where the scale and shift stood, because these are often computed between
// the two. So its arguments must not change in between.

#include "firn/autograd/graph/passes/fold_batch_norm.h"

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/passes/channel_source.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/shape/expand.h"

namespace firn {
namespace {

class Folding {
 public:
  explicit Folding(Graph& graph)
      : graph_(graph),
        uses_(graph),
        sources_(graph.instrs.size()),
        moves_(graph.instrs.size(), false) {}

  absl::Status Run(PassReport& report) {
    for (size_t at = 0; at < graph_.instrs.size(); ++at) {
      sources_[at] = SourceOf(at);
      if (!sources_[at]) continue;
      moves_[sources_[at]->maker] = true;
      for (size_t view : sources_[at]->views) moves_[view] = true;
    }
    std::vector<Instr> old = std::move(graph_.instrs);
    for (size_t at = 0; at < old.size(); ++at) {
      if (sources_[at]) {
        report.Add(absl::StrCat(Describe(old[at]), " into ", Describe(old[sources_[at]->maker])));
        FIRN_RETURN_IF_ERROR(Emit(old, at, *sources_[at]));
      } else if (!moves_[at]) {
        instrs_.push_back(std::move(old[at]));
      }
    }
    graph_.instrs = std::move(instrs_);
    renaming_.Apply(graph_);
    return absl::OkStatus();
  }

 private:
  // What operation `at` can be folded into.
  std::optional<ChannelSource> SourceOf(size_t at) const {
    const Instr& affine = graph_.instrs[at];
    const ChannelMap* map = ChannelMapOf(graph_, affine);
    if (map == nullptr || !map->scales_alone) return {};
    const ValueId x = affine.in[map->x], y = affine.out[0];
    if (uses_.readers(x).size() != 1 || uses_.leaves(x)) return {};
    auto source = FindChannelSource(graph_, uses_, x, /*alone=*/true);
    // An operation takes one fold a round; it may take another in the next.
    if (!source || sources_[source->maker]) return {};
    const Instr& producer = graph_.instrs[source->maker];
    if (ChannelMapOf(graph_, producer) == nullptr) return {};
    const bool movable = graph_.buffer_of(y).kind == Buffer::Kind::kTemp &&
                         Renaming::CanReplace(graph_, y, x) &&
                         UnchangedUntil(at, source->maker, producer);
    return movable && Pays(affine, producer) ? source : std::nullopt;
  }

  bool UnchangedUntil(size_t at, size_t maker, const Instr& producer) const {
    for (ValueId id : producer.in) {
      if (!UnchangedBetween(graph_, uses_, id, maker, at)) return false;
    }
    return true;
  }

  bool IsConstant(ValueId id) const {
    return id == kNoValue || graph_.buffer_of(id).kind == Buffer::Kind::kConstant;
  }

  bool Pays(const Instr& affine, const Instr& producer) const {
    const ValueId weight = producer.in[ChannelMapOf(graph_, producer)->weight];
    const ValueId scale = affine.in[ChannelMapOf(graph_, affine)->weight];
    if (weight == kNoValue || scale == kNoValue) return true;
    if (IsConstant(weight) && IsConstant(scale)) return true;
    return graph_.value(weight).spec.num_elements() <=
           graph_.value(producer.out[0]).spec.num_elements();
  }

  absl::Status Emit(const std::vector<Instr>& old, size_t at, const ChannelSource& source) {
    const Instr& affine = old[at];
    Instr producer = old[source.maker];
    const ChannelMap &outer = *ChannelMapOf(graph_, affine),
                     &inner = *ChannelMapOf(graph_, producer);
    ValueId scale = affine.in[outer.weight], shift = affine.in[outer.bias];
    ValueId &weight = producer.in[inner.weight], &bias = producer.in[inner.bias];
    Emitter emit(graph_, affine, &instrs_);
    FIRN_RETURN_IF_ERROR(Promote(emit, {&scale, &shift, &weight, &bias}));
    if (weight == kNoValue) {
      weight = scale;
    } else {
      FIRN_ASSIGN_OR_RETURN(weight, Scaled(emit, weight, scale));
    }
    FIRN_ASSIGN_OR_RETURN(bias, Scaled(emit, bias, scale));
    if (bias == kNoValue) {
      bias = shift;
    } else if (shift != kNoValue) {
      FIRN_ASSIGN_OR_RETURN(bias, emit.Call(TheOp<"add">(), {bias, shift}, AddAttrs{}));
    }
    // The scale and shift of a half type may be f32, which not every producer takes.
    if (!producer.op->input(static_cast<size_t>(inner.weight)).or_wide) {
      const DType dtype = graph_.value(producer.out[0]).spec.dtype;
      FIRN_ASSIGN_OR_RETURN(weight, emit.As(dtype, weight));
      FIRN_ASSIGN_OR_RETURN(bias, emit.As(dtype, bias));
    }
    instrs_.push_back(std::move(producer));
    for (size_t view : source.views) instrs_.push_back(old[view]);
    renaming_.Replace(graph_, affine.out[0], affine.in[outer.x]);
    return absl::OkStatus();
  }

  // Brings all to the widest of their dtypes.
  absl::Status Promote(Emitter& emit, std::initializer_list<ValueId*> ids) {
    std::optional<DType> dtype;
    for (const ValueId* id : ids) {
      if (*id == kNoValue) continue;
      const DType own = graph_.value(*id).spec.dtype;
      dtype = dtype ? firn::Promote(*dtype, own) : own;
    }
    for (ValueId* id : ids) {
      if (*id == kNoValue) continue;
      FIRN_ASSIGN_OR_RETURN(*id, emit.As(*dtype, *id));
    }
    return absl::OkStatus();
  }

  // `what` times the scale of its first dimension.
  absl::StatusOr<ValueId> Scaled(Emitter& emit, ValueId what, ValueId scale) {
    if (what == kNoValue || scale == kNoValue) return what;
    const Shape& shape = graph_.value(what).spec.shape;
    if (shape.rank() > 1) {
      Dims dims(shape.rank(), 1);
      dims[0] = shape[0];
      FIRN_ASSIGN_OR_RETURN(scale, emit.Call(TheOp<"reshape">(), {scale}, ShapeAttrs{dims}));
    }
    return emit.Call(TheOp<"mul">(), {what, scale});
  }

  Graph& graph_;
  const Uses uses_;
  std::vector<std::optional<ChannelSource>> sources_;  // by operation: what it is folded into
  std::vector<bool> moves_;                            // such sources
  std::vector<Instr> instrs_;
  Renaming renaming_;
};

}  // namespace

absl::StatusOr<PassReport> FoldBatchNorm(Graph& graph) {
  PassReport report{.pass = "fold_batch_norm"};
  int64_t before = -1;
  while (std::exchange(before, report.changes) != report.changes) {
    FIRN_RETURN_IF_ERROR(Folding(graph).Run(report));
  }
  return report;
}

}  // namespace firn
