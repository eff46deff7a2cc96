// scaled_dot_product_attention by tiles (kernels/cpu/attention.h). It saves the inputs, the result
// and a logarithm for each query, and with a dropout the start of the random words, from which the
// gradient makes the same choice again. Recorded gradients (create_graph) and that of a
// mask are written with operations (attention_weights.h).

#include "firn/tensor/ops/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/graph_traits.h"
#include "firn/tensor/kernels/cpu/attention.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/attention/attention_body.h"
#include "firn/tensor/ops/attention/attention_weights.h"
#include "firn/tensor/ops/random/generator_position.h"
#include "firn/tensor/ops/shape/expand.h"
#include "firn/tensor/ops/shape/permute.h"
#include "firn/tensor/ops/shape/views.h"

namespace firn {
namespace {

using In = AttentionIn;
using GradIn = AttentionGradIn;

absl::Status CheckMaskDType(DType mask, DType q) {
  FIRN_RETURN_IF(
      mask != DType::kBool && mask != q,
      InvalidArgument("mask must be bool or as q ", DTypeName(q), ", got ", DTypeName(mask)));
  return absl::OkStatus();
}

absl::Status CheckMaskShape(const InferContext& c, const Shape& scores) {
  if (!c.has(In::kMask)) return absl::OkStatus();
  FIRN_RETURN_IF(c.shape(In::kMask).rank() > 4 || !BroadcastsTo(c.shape(In::kMask), scores),
                 InvalidArgument("mask ", c.shape(In::kMask).ToString(),
                                 " does not broadcast to the scores ", scores.ToString()));
  return absl::OkStatus();
}

absl::Status CheckDropout(const InferContext& c) {
  const double p = c.attrs<AttentionAttrs>().dropout;
  FIRN_RETURN_IF(!(p >= 0 && p <= 1), InvalidArgument("dropout ", p, " is outside [0, 1]"));
  FIRN_RETURN_IF(p > 0 && !c.has(In::kPosition),
                 InvalidArgument("a dropout of ", p, " needs a position"));
  FIRN_RETURN_IF(
      c.has(In::kPosition) && c.shape(In::kPosition)[0] != 2,
      InvalidArgument("position ", c.shape(In::kPosition).ToString(), " is not {seed, offset}"));
  return absl::OkStatus();
}

// Checks all but the dtypes.
absl::Status CheckShapes(const InferContext& c) {
  const Shape &q = c.shape(In::kQ), &k = c.shape(In::kK), &v = c.shape(In::kV);
  FIRN_RETURN_IF(k[0] != q[0] || v[0] != q[0] || v[1] != k[1] || v[2] != k[2] || k[3] != q[3],
                 InvalidArgument("q ", q.ToString(), ", k ", k.ToString(), " and v ", v.ToString(),
                                 " do not fit: want [batch, heads, length, width], and of k and v "
                                 "[batch, heads, source, width]"));
  FIRN_RETURN_IF(
      k[1] == 0 ? q[1] != 0 : q[1] % k[1] != 0,
      InvalidArgument("the ", q[1], " heads of q are no multiple of the ", k[1], " of k and v"));
  FIRN_ASSIGN_OR_RETURN(const Shape scores, Shape::Make({q[0], q[1], q[2], k[2]}));
  FIRN_RETURN_IF_ERROR(CheckMaskShape(c, scores));
  return CheckDropout(c);
}

absl::Status CheckInputs(const InferContext& c) {
  if (c.has(In::kMask)) {
    FIRN_RETURN_IF_ERROR(CheckMaskDType(c.dtype(In::kMask), c.dtype(In::kQ)));
  }
  return CheckShapes(c);
}

// [batch, rows, heads, columns]
absl::StatusOr<Shape> ResultShape(const InferContext& c, int rows_of, int columns_of) {
  const Shape &r = c.shape(rows_of), &s = c.shape(columns_of);
  return Shape::Make({r[0], r[2], r[1], s[3]});
}

absl::Status Infer(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckInputs(c));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ResultShape(c, In::kQ, In::kV));
  c.set_out(0, c.dtype(In::kQ), y);
  c.set_out(1, ComputeDType(c.dtype(In::kQ)), Shape({y[0], y[2], y[1]}));
  return absl::OkStatus();
}

absl::Status InferGrad(InferContext& c) {
  FIRN_RETURN_IF_ERROR(CheckInputs(c));
  FIRN_ASSIGN_OR_RETURN(const Shape y, ResultShape(c, In::kQ, In::kV));
  const Shape logs({y[0], y[2], y[1]});
  FIRN_RETURN_IF(
      c.shape(GradIn::kDy) != y || c.shape(GradIn::kY) != y || c.shape(GradIn::kLogsumexp) != logs,
      InvalidArgument("dy ", c.shape(GradIn::kDy).ToString(), ", y ",
                      c.shape(GradIn::kY).ToString(), " and logsumexp ",
                      c.shape(GradIn::kLogsumexp).ToString(), ", want ", y.ToString(),
                      " twice and ", logs.ToString()));
  for (int i : {In::kQ, In::kK, In::kV}) {
    FIRN_ASSIGN_OR_RETURN(const Shape shape, ResultShape(c, i, i));
    c.set_out(i, c.dtype(In::kQ), shape);
  }
  return absl::OkStatus();
}

// --- The kernels by tiles ------------------------------------------------------------------------

template <class Acc>
cpu::AttentionInputs<Acc> InputsOf(const KernelContext& k) {
  using Rows = cpu::RowsIn<Acc>;
  cpu::AttentionInputs<Acc> in{
      Rows(k, In::kQ), Rows(k, In::kK), Rows(k, In::kV), {Rows(nullptr)}, {}};
  in.bfloats = k.in_spec(In::kQ).dtype == DType::kBF16;
  if (k.has(In::kMask)) {
    if (k.in_spec(In::kMask).dtype == DType::kBool) {
      in.mask.seen = k.in<bool>(In::kMask);
    } else {
      in.mask.added = Rows(k, In::kMask);
    }
  }
  if (k.has(In::kPosition)) {
    const int64_t* const at = k.in<int64_t>(In::kPosition);
    in.words = {static_cast<uint64_t>(at[0]),
                static_cast<uint64_t>(at[StridesOf(k.in_spec(In::kPosition))[0]])};
  }
  return in;
}

// Slots are counted once, so that the memory suffices for them.
template <bool kGrad>
absl::Status PrepareTiles(const KernelQuery& q, Prepared& answer) {
  const AttentionProblem p = AttentionOf(q);
  const auto slots = cpu::VisitComputed(q.in(In::kQ).dtype, [&]<class Acc>(TypeTag<Acc>) {
    return kGrad ? cpu::SlotsOfAttentionGrad<Acc>(p) : cpu::SlotsOfAttention<Acc>(p);
  });
  answer.workspace = slots.workspace();
  answer.state = std::make_shared<const cpu::AttentionSlots>(slots);
  return absl::OkStatus();
}

absl::Status RunTiles(KernelContext& k) {
  cpu::VisitComputed(k.in_spec(In::kQ).dtype, [&]<class Acc>(TypeTag<Acc>) {
    cpu::Attention(AttentionOf(k), InputsOf<Acc>(k), k.state<cpu::AttentionSlots>(), k.workspace(),
                   cpu::RowsOut<Acc>(k, 0), k.out<Acc>(1));
  });
  return absl::OkStatus();
}

absl::Status RunGradTiles(KernelContext& k) {
  cpu::VisitComputed(k.in_spec(In::kQ).dtype, [&]<class Acc>(TypeTag<Acc>) {
    const Dims logs = StridesOf(k.in_spec(GradIn::kLogsumexp));
    const cpu::AttentionResults<Acc> results{
        cpu::RowsIn<Acc>(k, GradIn::kDy),     cpu::RowsIn<Acc>(k, GradIn::kY),
        k.in<Acc>(GradIn::kLogsumexp),        StridesByRows(k.in_spec(GradIn::kDy)),
        StridesByRows(k.in_spec(GradIn::kY)), {logs[0], logs[1], logs[2], 0}};
    cpu::AttentionGrad(AttentionOf(k), InputsOf<Acc>(k), results, k.state<cpu::AttentionSlots>(),
                       k.workspace(),
                       {cpu::RowsOut<Acc>(k, 0), cpu::RowsOut<Acc>(k, 1), cpu::RowsOut<Acc>(k, 2)});
  });
  return absl::OkStatus();
}

// --- The gradient --------------------------------------------------------------------------------

Tensor Turned(const Tensor& x) { return Permute(x, {0, 2, 1, 3}); }

void Grad(GradContext& g) {
  if (!g.has_grad_output(0)) return;
  if (GradEnabled() || g.needs(In::kMask)) return SetWrittenGradients(g);
  const TensorList d = Apply(TheOp<"scaled_dot_product_attention_grad">(),
                             {g.input(In::kQ), g.input(In::kK), g.input(In::kV), g.input(In::kMask),
                              g.input(In::kPosition), g.grad_output(0), g.output(0), g.output(1)},
                             g.attrs<AttentionAttrs>());
  for (int i : {In::kQ, In::kK, In::kV}) {
    if (g.needs(i)) g.set_grad_input(i, Turned(d[static_cast<size_t>(i)]));
  }
}

// There is no dropout, so no position is needed.
absl::StatusOr<TensorList> Evaluate(absl::Span<const Tensor> in, AttrsRef attrs) {
  AttentionAttrs a = attrs.get<AttentionAttrs>();
  a.dropout = 0;
  const Tensor mask = in.size() > In::kMask ? in[In::kMask] : Tensor();
  return Apply(TheOp<"scaled_dot_product_attention">(),
               {in[In::kQ], in[In::kK], in[In::kV], mask, Tensor()}, a);
}

constexpr GraphTraits kTraits = {.evaluate = Evaluate};

ArgDecl Stack(std::string_view name, std::string_view like = {}) {
  return {.name = name, .dtypes = kFloating, .same_dtype_as = like, .min_rank = 4, .max_rank = 4};
}

std::vector<ArgDecl> Inputs() {
  return {
      Stack("q"),
      Stack("k", "q"),
      Stack("v", "q"),
      {.name = "mask", .dtypes = kFloating | SetOf(DType::kBool), .max_rank = 4, .optional = true},
      {.name = "position",
       .dtypes = SetOf(DType::kI64),
       .min_rank = 1,
       .max_rank = 1,
       .optional = true}};
}

FIRN_REGISTER_OP(scaled_dot_product_attention) {
  return {
      .doc = "softmax(scale q k^T + mask) v, by rows: [batch, length, heads, value width].",
      .autocast = Autocast::kLow,
      .inputs = Inputs(),
      .outputs = {{.name = "y"}, {.name = "logsumexp", .constant = true}},
      .attrs = AttrsOf<AttentionAttrs>(),
      .infer = Infer,
      .grad = Grad,
      .saves = {Saved::Input(In::kQ), Saved::Input(In::kK), Saved::Input(In::kV),
                Saved::Input(In::kMask), Saved::Input(In::kPosition), Saved::Output(0),
                Saved::Output(1)},
      .kernels = cpu::Portable<AttentionKernel>({.name = "loop"}, {{.name = "by_tiles",
                                                                    .run = RunTiles,
                                                                    .prepare = PrepareTiles<false>,
                                                                    .takes = Takes::kStrided}}),
      .graph = &kTraits,
  };
}

FIRN_REGISTER_OP(scaled_dot_product_attention_grad) {
  std::vector<ArgDecl> inputs = Inputs();
  inputs.push_back(Stack("dy", "q"));
  inputs.push_back(Stack("y", "q"));
  inputs.push_back({.name = "logsumexp",
                    .dtypes = SetOf(DType::kF32) | SetOf(DType::kF64),
                    .same_dtype_as = "q",
                    .wide = true,
                    .min_rank = 3,
                    .max_rank = 3});
  return {
      .doc =
          "The gradients of scaled_dot_product_attention but for the mask's, by rows. Not "
          "differentiable: recorded gradients are written out with other operations.",
      .inputs = std::move(inputs),
      .outputs = {{.name = "dq"}, {.name = "dk"}, {.name = "dv"}},
      .attrs = AttrsOf<AttentionAttrs>(),
      .infer = InferGrad,
      .kernels =
          cpu::Portable<AttentionGradKernel>({.name = "loop"}, {{.name = "by_tiles",
                                                                 .run = RunGradTiles,
                                                                 .prepare = PrepareTiles<true>,
                                                                 .takes = Takes::kStrided}}),
  };
}

// --- The function --------------------------------------------------------------------------------

[[noreturn]] void Refuse(absl::Status status) {
  RaiseStatus(std::move(status), "scaled_dot_product_attention");
}

// The dimensions before the heads, of all three; throws where they do not fit.
Shape BatchOf(const Tensor& q, const Tensor& k, const Tensor& v) {
  Shape batch;
  for (const Tensor* t : {&q, &k, &v}) {
    const int n = std::max(0, t->rank() - 3);
    const Shape own(t->shape().span().first(static_cast<size_t>(n)));
    absl::StatusOr<Shape> both = BroadcastShapes(batch, own);
    if (!both.ok()) Refuse(both.status());
    batch = *both;
  }
  return batch;
}

// Reshapes to `batch` before the last three dimensions, or adds `heads` where that dimension is
// missing.
Tensor Lifted(const Tensor& x, const Shape& batch, int64_t heads) {
  Dims sizes = batch.dims();
  const int64_t own = x.rank() > 2 ? x.shape().dim(-3) : 1;
  for (int64_t n : {own == 1 ? heads : own, x.shape().dim(-2), x.shape().dim(-1)}) {
    sizes.push_back(n);
  }
  const Tensor whole = Expand(x, Shape(sizes.span()));
  int64_t all = 1;
  for (int64_t n : batch) all *= n;
  return Reshape(whole, {all, whole.shape().dim(-3), whole.shape().dim(-2), whole.shape().dim(-1)});
}

// A mask of at most four dimensions, of which the first is that of the flattened batch.
Tensor LiftedMask(const Tensor& mask, const Shape& batch) {
  if (!mask.defined() || mask.rank() <= 3 || batch.rank() == 1) return mask;
  const int before = mask.rank() - 3;
  bool all_one = true;
  for (int i = 0; i < before; ++i) all_one &= mask.shape()[i] == 1;
  Dims sizes;
  if (all_one) {
    sizes.push_back(1);
  } else {
    Dims whole = batch.dims();
    for (int i = 0; i < 3; ++i) whole.push_back(mask.shape().dim(i - 3));
    return LiftedMask(
        Reshape(Expand(mask, Shape(whole.span())), {batch.num_elements(), mask.shape().dim(-3),
                                                    mask.shape().dim(-2), mask.shape().dim(-1)}),
        Shape({batch.num_elements()}));
  }
  for (int i = 0; i < 3; ++i) sizes.push_back(mask.shape().dim(i - 3));
  return Reshape(mask, sizes.span());
}

// The dtype that a call computes `t` in.
DType ComputedDType(const Tensor& t) {
  const Autocaster* const caster = ThisThread().autocast;
  return caster != nullptr && t.dtype() == DType::kF32 ? caster->dtype() : t.dtype();
}

// The start of the words of a dropout. Drawn only for a call that succeeds, because an error must
// change nothing.
Tensor DrawPosition(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                    AttentionAttrs a, RandomGenerator* generator) {
  const DType dtype = ComputedDType(q);
  for (const Tensor* other : {&k, &v}) {
    if (!IsFloating(dtype) || ComputedDType(*other) != dtype || other->device() != q.device()) {
      Refuse(InvalidArgument("q, k and v must be of one floating dtype and on one device, got ",
                             q.spec().ToString(), " and ", other->spec().ToString()));
    }
  }
  if (mask.defined()) {
    if (absl::Status s = CheckMaskDType(ComputedDType(mask), dtype); !s.ok()) Refuse(std::move(s));
  }
  const double dropout = std::exchange(a.dropout, 0);
  if (!(dropout > 0 && dropout <= 1)) return {};  // Infer refuses it
  const TensorRef in[] = {q, k, v, mask};
  if (absl::Status s = CheckShapes(InferContext(in, a, {})); !s.ok()) Refuse(std::move(s));
  const int64_t weights = q.size(0) * q.size(1) * q.size(2) * k.size(2);
  return TakePosition(GeneratorOf({.device = q.device(), .generator = generator}),
                      CeilDiv(weights, 4));
}

}  // namespace

Tensor ScaledDotProductAttention(const Tensor& q, const Tensor& k, const Tensor& v,
                                 const AttentionOptions& options) {
  const OpDef& op = TheOp<"scaled_dot_product_attention">();
  const std::pair<const Tensor*, const char*> inputs[] = {{&q, "q"}, {&k, "k"}, {&v, "v"}};
  for (const auto& [t, name] : inputs) {
    CheckDefined(*t, op.name, name);
    if (t->rank() < 2) {
      Refuse(InvalidArgument(name, " must have at least 2 dimensions, got ", t->spec().ToString()));
    }
  }
  const Shape batch = BatchOf(q, k, v);
  const auto heads_of = [](const Tensor& t) { return t.rank() > 2 ? t.shape().dim(-3) : 1; };
  const int64_t heads = std::max({heads_of(q), heads_of(k), heads_of(v)});
  const int64_t kv_heads = options.enable_gqa ? std::max(heads_of(k), heads_of(v)) : heads;
  for (const Tensor* t : {&q, &k, &v}) {
    const int64_t own = heads_of(*t);
    if (options.enable_gqa || own == heads || own == 1) continue;
    Refuse(InvalidArgument("q, k and v have ", heads_of(q), ", ", heads_of(k), " and ", heads_of(v),
                           " heads (enable_gqa lets k and v have fewer)"));
  }
  const Tensor stacked = Lifted(q, batch, heads);
  AttentionAttrs a{.scale = 1, .dropout = options.dropout, .causal = options.is_causal};
  const int64_t width = q.shape().dim(-1);
  if (options.scale || width > 0) {
    a.scale = options.scale.value_or(1 / std::sqrt(static_cast<double>(width)));
  }
  const Tensor keys = Lifted(k, batch, kv_heads), values = Lifted(v, batch, kv_heads);
  const Tensor mask = LiftedMask(options.mask, batch);
  Tensor position;
  if (a.dropout != 0) {
    position = DrawPosition(stacked, keys, values, mask, a, options.generator);
  }
  const TensorList y = Apply(op, {stacked, keys, values, mask, position}, a);
  Dims sizes = batch.dims();
  if (std::max({q.rank(), k.rank(), v.rank()}) > 2) sizes.push_back(heads);
  sizes.push_back(q.shape().dim(-2));
  sizes.push_back(v.shape().dim(-1));
  return Reshape(Turned(y[0]), sizes.span());
}

}  // namespace firn
