// Views of the whole of x whose gradient rules change the gradient that flows back. The rules are
// made of operations, so that they can be recorded and captured.

#include "firn/tensor/ops/gradient/clip.h"

#include <cmath>
#include <limits>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/compare/compare.h"
#include "firn/tensor/ops/create/constant.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/elementwise/choose.h"
#include "firn/tensor/ops/elementwise/extremes.h"
#include "firn/tensor/ops/elementwise/sign.h"
#include "firn/tensor/ops/index/gather.h"
#include "firn/tensor/ops/reduce/norm.h"
#include "firn/tensor/ops/scan/sort.h"
#include "firn/tensor/ops/shape/convert.h"
#include "firn/tensor/ops/shape/view.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/promotion.h"

namespace firn {
namespace {

absl::Status InferSame(InferContext& c) {
  c.set_view(c.shape(0), ViewStrides(c.in(0)), 0);
  return absl::OkStatus();
}

absl::Status InferClipByValue(InferContext& c) {
  for (int i = 1; i < 3; ++i) {
    FIRN_RETURN_IF(!BroadcastsTo(c.shape(i), c.shape(0)),
                   InvalidArgument(i == 1 ? "min " : "max ", c.shape(i).ToString(),
                                   " does not broadcast to x ", c.shape(0).ToString()));
  }
  return InferSame(c);
}

void GradClipByValue(GradContext& g) {
  g.set_grad_input(0, Clamp(g.grad_output(), g.input(1), g.input(2)));
}

FIRN_REGISTER_OP(clip_grad_by_value) {
  return {
      .doc = "x itself; its gradient is cut off at min and max.",
      .inputs = {{.name = "x", .dtypes = kFloating},
                 {.name = "min", .same_dtype_as = "x"},
                 {.name = "max", .same_dtype_as = "x"}},
      .outputs = {{.name = "y"}},
      .infer = InferClipByValue,
      .grad = GradClipByValue,
      .saves = {Saved::Input(1), Saved::Input(2)},
      .is_view = true,
  };
}

absl::Status InferClipByNorm(InferContext& c) {
  const auto& a = c.attrs<ClipGradByNormAttrs>();
  FIRN_RETURN_IF(!(a.norm >= 0), InvalidArgument("norm must be 0 or more, got ", a.norm));
  FIRN_RETURN_IF(a.always && std::isinf(a.norm),
                 InvalidArgument("norm must be finite for gradients to always have it"));
  FIRN_RETURN_IF_ERROR(NormalizeDims(a.dims, c.shape(0)).status());
  return InferSame(c);
}

void GradClipByNorm(GradContext& g) {
  const auto& a = g.attrs<ClipGradByNormAttrs>();
  const Tensor& dy = g.grad_output();
  // Half types cannot hold the norm of many elements, nor the quotient.
  const DType wide = ComputeDType(dy.dtype());
  const double most =
      wide == DType::kF64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  if (dy.num_elements() == 0 || (!a.always && a.norm > most)) return g.set_grad_input(0, dy);
  const Tensor x = Cast(dy, wide), norm = Norm(x, 2, a.dims, true);
  const Tensor divisor = a.always ? Where(Eq(norm, 0), 1.0, norm) : Maximum(norm, a.norm);
  // The quotient is exactly 1 for a gradient that is small enough. With a norm of 0 the result is
  // 0.
  if (!a.always && a.norm == 0) return g.set_grad_input(0, Mul(dy, 0));
  g.set_grad_input(0, Cast(Mul(x, Div(FullLike(divisor, a.norm), divisor)), dy.dtype()));
}

FIRN_REGISTER_OP(clip_grad_by_norm) {
  OpDef op = ViewOp("x itself; its gradient is scaled down to a norm.",
                    AttrsOf<ClipGradByNormAttrs>(), InferClipByNorm, GradClipByNorm);
  op.inputs[0].dtypes = kFloating;
  return op;
}

// How many samples, and how many elements of each.
struct Samples {
  int64_t count = 1, size = 1;
};
Samples SamplesOf(const Shape& x, int64_t base_dim) {
  Samples s;
  for (int i = 0; i < x.rank(); ++i) (i < base_dim ? s.count : s.size) *= x[i];
  return s;
}

absl::Status InferTopK(InferContext& c) {
  const auto& a = c.attrs<TopKGradAttrs>();
  const Shape& x = c.shape(0);
  FIRN_RETURN_IF(a.base_dim < 0 || a.base_dim > x.rank(),
                 InvalidArgument("base_dim ", a.base_dim, " is no place among the ", x.rank(),
                                 " dimensions of x ", x.ToString()));
  const int64_t size = SamplesOf(x, a.base_dim).size;
  FIRN_RETURN_IF(a.k < 0 || a.k > size,
                 InvalidArgument("k must be between 0 and the ", size,
                                 " elements of a sample of x ", x.ToString(), ", got ", a.k));
  return InferSame(c);
}

void GradTopK(GradContext& g) {
  const auto& a = g.attrs<TopKGradAttrs>();
  const Tensor& dy = g.grad_output();
  const Samples samples = SamplesOf(dy.shape(), a.base_dim);
  const Tensor rows = Reshape(dy, {samples.count, samples.size});
  const Tensor which = Topk(a.abs ? Abs(rows) : rows, a.k, 1, {.sorted = false}).indices;
  const Tensor zeros = ExpandedZeros(rows.shape(), dy.dtype(), dy.device());
  g.set_grad_input(0, Reshape(ScatterAdd(zeros, 1, which, Gather(rows, 1, which)), dy.shape()));
}

FIRN_REGISTER_OP(top_k_grad) {
  OpDef op = ViewOp("x itself; the largest elements of its gradient go on.",
                    AttrsOf<TopKGradAttrs>(), InferTopK, GradTopK);
  op.inputs[0].dtypes = kFloating;
  return op;
}

}  // namespace

Tensor ClipGradByValue(const Tensor& x, const Tensor& min, const Tensor& max) {
  const OpDef& op = TheOp<"clip_grad_by_value">();
  CheckDefined(x, op.name);
  CheckDefined(min, op.name, "min");
  CheckDefined(max, op.name, "max");
  return Apply1(op, {x, AsDType(min, x.dtype(), x.device()), AsDType(max, x.dtype(), x.device())});
}

Tensor ClipGradByNorm(const Tensor& x, const ClipGradByNormOptions& options) {
  return Apply1(TheOp<"clip_grad_by_norm">(), {x}, options);
}

Tensor TopKGrad(const Tensor& x, Integer k, const TopKGradOptions& options) {
  return Apply1(TheOp<"top_k_grad">(), {x}, TopKGradAttrs{k, options.abs, options.base_dim});
}

}  // namespace firn
