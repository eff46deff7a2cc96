// Products are found after batch norms are folded into them. A run of a copy of the graph, which
// gives their inputs as further results, shows the ranges. Then products are replaced one by one,
// from the last to the first, so that the positions of earlier ones stay. Equal quantizations of
// one value become one by common subexpressions.

#include "firn/autograd/graph/quantize.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "firn/autograd/graph/analysis.h"
#include "firn/autograd/graph/edit.h"
#include "firn/autograd/graph/evaluation.h"
#include "firn/autograd/graph/passes/channel_source.h"
#include "firn/autograd/graph/passes/common_subexpressions.h"
#include "firn/autograd/graph/passes/constant_states.h"
#include "firn/autograd/graph/passes/dead_code.h"
#include "firn/autograd/graph/passes/fold_batch_norm.h"
#include "firn/autograd/graph/passes/fold_constants.h"
#include "firn/autograd/graph/passes/pass.h"
#include "firn/autograd/graph/passes/rewrite.h"
#include "firn/autograd/graph/static_graph.h"
#include "firn/device/status_macros.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/observers.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/quantize/affine.h"
#include "firn/tensor/ops/quantize/weights.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

// An operation that is to be computed in integers, and how its input is quantized.
struct Product {
  size_t at;
  ValueId x;
  std::optional<Quantization> input = {};
  ValueId shown = kNoValue;  // x at that time, while the graph is watched
};

bool IsConstant(const Graph& graph, ValueId id) {
  return graph.buffer_of(id).kind == Buffer::Kind::kConstant;
}

bool Keeps(const QuantizeGraphOptions& o, std::string_view path) {
  return std::any_of(o.keep.begin(), o.keep.end(), [&](const std::string& module) {
    return path.substr(0, module.size()) == module &&
           (path.size() == module.size() || path[module.size()] == '.');
  });
}

std::vector<Product> ProductsOf(const Graph& graph, const QuantizeGraphOptions& o) {
  std::vector<Product> products;
  for (size_t at = 0; at < graph.instrs.size(); ++at) {
    const Instr& instr = graph.instrs[at];
    if (TraitsOf(*instr.op).integer_sums == nullptr) continue;
    const std::optional<ChannelMap>& map = TraitsOf(*instr.op).channel_map;
    const ValueId x = instr.in[map->x];
    const bool possible = IsConstant(graph, instr.in[map->weight]) && !IsConstant(graph, x) &&
                          graph.value(instr.out[0]).spec.num_elements() > 0;
    if (possible && !Keeps(o, instr.module_path())) products.push_back({at, x});
  }
  return products;
}

// The quantization that an operation rounds to, if it is constant, has one scale and is of bytes.
std::optional<Quantization> RoundedTo(const Graph& graph, const Instr& instr) {
  const auto range_of = TraitsOf(*instr.op).rounded_range;
  if (range_of == nullptr || !IsConstant(graph, instr.in[1]) || !IsConstant(graph, instr.in[2])) {
    return {};
  }
  const RoundedRange range = range_of(instr.attrs.ref());
  const bool u8 = range.least >= 0 && range.most <= 255;
  if (!u8 && (range.least < -128 || range.most > 127)) return {};
  const Tensor scale = graph.value(instr.in[1]).bound, zero = graph.value(instr.in[2]).bound;
  if (!scale.defined() || !zero.defined() || scale.num_elements() != 1) return {};
  const Quantization q{scale.Item<double>(), zero.Item<int64_t>(), u8 ? DType::kU8 : DType::kI8};
  const int64_t low = u8 ? 0 : -128;
  const bool fits = q.zero_point >= low && q.zero_point <= low + 255 && q.scale > 0;
  return fits && std::isfinite(q.scale) ? std::optional(q) : std::nullopt;
}

// The operation that made the numbers of a value; kNone if they may have changed since. Views and
// conversions keep the 256 levels apart: the 8 bits of a bf16 tell them from each other.
size_t MakerOf(const Graph& graph, const Uses& uses, ValueId id) {
  while (!uses.changed(graph.value(id).buffer)) {
    const size_t maker = uses.maker(id);
    if (maker == Uses::kNone) break;
    const Instr& instr = graph.instrs[maker];
    const bool same = instr.op->is_view || TraitsOf(*instr.op).reorders ||
                      (instr.op == &TheOp<"cast">() && IsFloating(graph.value(id).spec.dtype));
    if (!same) return maker;
    id = instr.in[0];
  }
  return Uses::kNone;
}

// Takes the quantizations that the graph contains. An operation that rounds to all 256 bytes is
// bypassed, since quantizing its argument gives the same.
void TakeKnown(Graph& graph, std::vector<Product>& products) {
  const Uses uses(graph);
  for (Product& p : products) {
    const size_t maker = MakerOf(graph, uses, p.x);
    if (maker == Uses::kNone) continue;
    const Instr& rounding = graph.instrs[maker];
    p.input = RoundedTo(graph, rounding);
    if (!p.input || rounding.out[0] != p.x) continue;
    const RoundedRange range = TraitsOf(*rounding.op).rounded_range(rounding.attrs.ref());
    if (range.most - range.least != 255) continue;
    if (!UnchangedBetween(graph, uses, rounding.in[0], maker, p.at)) continue;
    Instr& instr = graph.instrs[p.at];
    instr.in[TraitsOf(*instr.op).channel_map->x] = rounding.in[0];
  }
}

std::unique_ptr<RangeObserver> MakeObserver(const QuantizeGraphOptions& o) {
  if (o.calibration == Calibration::kPercentile) {
    return std::make_unique<PercentileObserver>(o.percentile);
  }
  if (o.calibration == Calibration::kMse) return std::make_unique<MseObserver>();
  return std::make_unique<MinMaxObserver>();
}

absl::Status Check(const QuantizeGraphOptions& o) {
  FIRN_RETURN_IF(o.dtype != DType::kU8 && o.dtype != DType::kI8,
                 InvalidArgument("dtype must be u8 or i8, got ", DTypeName(o.dtype)));
  FIRN_RETURN_IF(!(o.percentile > 0 && o.percentile <= 100),
                 InvalidArgument("percentile must lie in (0, 100], got ", o.percentile));
  return absl::OkStatus();
}

// A value that at the end of the run holds what the product reads: a copy if the input changes in
// place.
absl::StatusOr<ValueId> ShownBy(const Product& p, const Uses& uses, Graph& watched,
                                std::vector<Insertion>& copies) {
  if (!uses.changed(watched.value(p.x).buffer)) return p.x;
  const ReorderAttrs attrs{watched.value(p.x).spec.layout.channel_block};
  FIRN_ASSIGN_OR_RETURN(Instr copy, MakeInstr(watched, TheOp<"reorder">(), {p.x}, attrs));
  const ValueId shown = copy.out[0];
  copies.push_back({p.at, std::move(copy)});
  return shown;
}

// Watches the inputs of the products whose quantization is not known yet.
absl::Status Calibrate(const Graph& graph, absl::Span<const TensorList> batches,
                       const QuantizeGraphOptions& o, std::vector<Product>& products) {
  Graph watched = graph;
  const Uses uses(graph);
  std::vector<Insertion> copies;
  std::vector<ValueId> seen;  // by observer
  for (Product& p : products) {
    if (p.input) continue;
    FIRN_ASSIGN_OR_RETURN(p.shown, ShownBy(p, uses, watched, copies));
    if (std::find(seen.begin(), seen.end(), p.shown) == seen.end()) seen.push_back(p.shown);
  }
  if (seen.empty()) return absl::OkStatus();
  Rearrange(watched, {}, std::move(copies));
  for (const ValueId id : seen) FIRN_RETURN_IF_ERROR(AddOutput(watched, id));
  const size_t first = graph.outputs.size();
  std::vector<std::unique_ptr<RangeObserver>> observers;
  for (size_t i = 0; i < seen.size(); ++i) observers.push_back(MakeObserver(o));
  FIRN_ASSIGN_OR_RETURN(StaticGraph run, StaticGraph::Compile(std::move(watched)));
  for (const TensorList& batch : batches) {
    TensorList results(first + seen.size());
    FIRN_RETURN_IF_ERROR(run.Run(batch, absl::MakeSpan(results)));
    for (size_t i = 0; i < seen.size(); ++i) observers[i]->Observe(results[first + i]);
  }
  for (Product& p : products) {
    if (p.input) continue;
    const auto i = static_cast<size_t>(std::find(seen.begin(), seen.end(), p.shown) - seen.begin());
    FIRN_RETURN_IF(!observers[i]->seen(),
                   InvalidArgument(Describe(graph.instrs[p.at]), " read no number in the batches"));
    p.input = observers[i]->Choose({.dtype = o.dtype, .symmetric = o.symmetric});
  }
  return absl::OkStatus();
}

// A number of each channel in the rank of a result whose channels are dimension `dim`.
Tensor OverChannels(const Tensor& bias, int dim, int rank) {
  if (dim < 0) return bias;
  Dims sizes(rank, 1);
  sizes[dim] = bias.size(0);
  return Reshape(bias, sizes.span());
}

absl::Status Replace(Graph& graph, const Product& p) {
  const Instr instr = graph.instrs[p.at];
  const ChannelMap& map = *TraitsOf(*instr.op).channel_map;
  const NoGradScope no_grad;
  const Tensor w = graph.value(instr.in[map.weight]).bound;
  FIRN_RETURN_IF(!w.defined(), Internal(Describe(instr), ": its weight has no tensor"));
  const Tensor scales = WeightScales(w);
  for (const float s : scales.ToVector<float>()) {
    FIRN_RETURN_IF(!std::isfinite(s), InvalidArgument(Describe(instr), " has weights of ", s));
  }
  const Tensor weight = QuantizeWeights(w, scales);
  const Tensor scale = Full({}, p.input->scale, DType::kF32, w.device());
  const Tensor zero = Full({}, p.input->zero_point, p.input->dtype, w.device());
  const Tensor of_sums = Mul(scales, scale);
  return ReplaceOperation(graph, p.at, [&](absl::Span<const Tensor> in) {
    const Tensor x = QuantizeLinear(in[map.x], scale, zero, {.dtype = p.input->dtype});
    const Tensor sums = TraitsOf(*instr.op).integer_sums(x, zero, weight, instr.attrs.ref());
    Tensor y = DequantizeLinear(sums, of_sums, {}, {.dim = map.channels});
    const Tensor& bias = in[map.bias];
    if (bias.defined()) y = Add(y, OverChannels(Cast(bias, DType::kF32), map.channels, y.rank()));
    return TensorList{Cast(y, in[map.x].dtype())};
  });
}

using Pass = absl::StatusOr<PassReport> (*)(Graph&);

absl::Status RunAll(Graph& graph, std::initializer_list<Pass> passes) {
  for (const Pass pass : passes) FIRN_RETURN_IF_ERROR(pass(graph).status());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Graph> Quantize(const Graph& graph, absl::Span<const TensorList> batches,
                               const QuantizeGraphOptions& options) {
  FIRN_RETURN_IF_ERROR(Check(options));
  FIRN_ASSIGN_OR_RETURN(Graph next, ToEvaluation(graph));
  FIRN_RETURN_IF_ERROR(RunAll(next, {ConstantStates, FoldConstants, FoldBatchNorm, FoldConstants,
                                     MergeCommonSubexpressions, EliminateDeadCode}));
  std::vector<Product> products = ProductsOf(next, options);
  FIRN_RETURN_IF(products.empty(),
                 InvalidArgument("nothing to quantize: no convolution or linear operation has "
                                 "constant weights",
                                 options.keep.empty() ? "" : " and is none of those to be kept"));
  TakeKnown(next, products);
  FIRN_RETURN_IF_ERROR(Calibrate(next, batches, options, products));
  for (auto p = products.rbegin(); p != products.rend(); ++p) {
    FIRN_RETURN_IF_ERROR(Replace(next, *p));
  }
  FIRN_RETURN_IF_ERROR(
      RunAll(next, {ConstantStates, FoldConstants, MergeCommonSubexpressions, EliminateDeadCode}));
  FIRN_RETURN_IF_ERROR(next.Verify());
  return next;
}

StaticGraph Quantize(const StaticGraph& frozen, const std::vector<Tensor>& batches,
                     const QuantizeGraphOptions& options) {
  std::vector<TensorList> inputs;
  for (const Tensor& batch : batches) inputs.push_back({batch});
  absl::StatusOr<Graph> graph = Quantize(frozen.captured(), inputs, options);
  RaiseIfError(graph.status(), "quantize");
  absl::StatusOr<StaticGraph> compiled = StaticGraph::Compile(*std::move(graph));
  RaiseIfError(compiled.status(), "quantize");
  return *std::move(compiled);
}

}  // namespace firn
