// patch_correlation and its gradient to both images at once.

#include "firn/tensor/ops/vision/patch_correlation.h"

#include <vector>

#include "firn/device/status_macros.h"
#include "firn/tensor/apply.h"
#include "firn/tensor/composite_gradient.h"
#include "firn/tensor/dispatch.h"
#include "firn/tensor/error.h"
#include "firn/tensor/kernels/cpu/for_each.h"
#include "firn/tensor/op.h"
#include "firn/tensor/ops/conv/unfold.h"
#include "firn/tensor/ops/elementwise/arithmetic.h"
#include "firn/tensor/ops/reduce/sum.h"
#include "firn/tensor/ops/shape/join.h"
#include "firn/tensor/ops/shape/pad.h"
#include "firn/tensor/ops/shape/slices.h"
#include "firn/tensor/ops/shape/views.h"
#include "firn/tensor/ops/vision/in_float.h"
#include "firn/tensor/ops/vision/patch_correlation_body.h"
#include "firn/tensor/problems/norm_options.h"

namespace firn {
namespace {

constexpr int64_t kMostCorrelation = int64_t{1} << 30;  // so that no sum of options overflows

absl::Status CheckNumbers(const char* name, const Sizes& sizes, int64_t least) {
  bool fits = sizes.Fits(2);
  for (int i = 0; fits && i < 2; ++i) fits = sizes[i] >= least && sizes[i] <= kMostCorrelation;
  FIRN_RETURN_IF(!fits, InvalidArgument(name, " must be one or two numbers from ", least,
                                        " on, got ", sizes.ToString()));
  return absl::OkStatus();
}

// The shape of the result, of the shapes of x1 and x2.
absl::StatusOr<Shape> CorrelatedShape(const Shape& a, const Shape& b,
                                      const PatchCorrelationAttrs& o) {
  FIRN_RETURN_IF(a.rank() != 4 || a != b,
                 InvalidArgument("expected x1 and x2 of one shape [n, c, h, w], got ", a.ToString(),
                                 " and ", b.ToString()));
  FIRN_RETURN_IF_ERROR(CheckNumbers("patch", o.patch, 1));
  FIRN_RETURN_IF_ERROR(CheckNumbers("shift", o.shift, 0));
  FIRN_RETURN_IF_ERROR(CheckNumbers("patch_step", o.patch_step, 1));
  FIRN_RETURN_IF_ERROR(CheckNumbers("shift_step", o.shift_step, 1));
  FIRN_RETURN_IF_ERROR(CheckNumbers("padding", o.padding, 0));
  for (int i = 0; i < 2; ++i) {
    FIRN_RETURN_IF(a[i + 2] + 2 * o.padding[i] < o.patch[i],
                   InvalidArgument("patch ", o.patch.ToString(), " does not fit x1 ", a.ToString(),
                                   " with padding ", o.padding.ToString()));
  }
  const CorrelationShape s(a, o);
  return Shape::Make({a[0], s.h.shifts, s.w.shifts, s.h.places, s.w.places});
}

absl::Status InferPatchCorrelation(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        CorrelatedShape(c.shape(0), c.shape(1), c.attrs<PatchCorrelationAttrs>()));
  c.set_out(0, c.dtype(0), shape);
  return absl::OkStatus();
}

absl::Status InferPatchCorrelationGrad(InferContext& c) {
  FIRN_ASSIGN_OR_RETURN(const Shape shape,
                        CorrelatedShape(c.shape(1), c.shape(2), c.attrs<PatchCorrelationAttrs>()));
  FIRN_RETURN_IF(c.shape(0) != shape,
                 InvalidArgument("dy ", c.shape(0).ToString(), ", want ", shape.ToString()));
  c.set_out_like(0, 1);
  c.set_out_like(1, 2);
  return absl::OkStatus();
}

// For gradients of the gradient: both images within their padding, products for each shift, and
// sums of their patches.
Tensor CorrelatedByOperations(const Tensor& x1, const Tensor& x2, const PatchCorrelationAttrs& o) {
  const CorrelationShape s(x1.shape(), o);
  const int64_t ph = o.padding[0], pw = o.padding[1], sh = o.shift[0], sw = o.shift[1];
  const Tensor a = Pad(x1, {pw, pw, ph, ph});
  const Tensor b = Pad(x2, {pw + sw, pw + sw, ph + sh, ph + sh});
  const int64_t places = s.h.places * s.w.places;
  std::vector<Tensor> shifts;
  for (int64_t i = 0; i < s.h.shifts; ++i) {
    const Tensor rows = Narrow(b, 2, i * o.shift_step[0], a.size(2));
    for (int64_t j = 0; j < s.w.shifts; ++j) {
      const Tensor moved = Narrow(rows, 3, j * o.shift_step[1], a.size(3));
      const Tensor products = Sum(Mul(a, moved), 1, true);
      const Tensor patches =
          Unfold(products, {.kernel = o.patch, .stride = o.patch_step, .dims = 2});
      shifts.push_back(Reshape(Sum(patches, 1), {a.size(0), places}));
    }
  }
  return Reshape(Stack(shifts, 1), {a.size(0), s.h.shifts, s.w.shifts, s.h.places, s.w.places});
}

void GradPatchCorrelation(GradContext& g) {
  if (GradEnabled()) {
    return CompositeGradient(g, [&](const std::vector<Tensor>& in) {
      return CorrelatedByOperations(in[0], in[1], g.attrs<PatchCorrelationAttrs>());
    });
  }
  const TensorList grads =
      Apply(TheOp<"patch_correlation_grad">(), {g.grad_output(), g.input(0), g.input(1)},
            g.attrs<PatchCorrelationAttrs>());
  for (int i = 0; i < 2; ++i) {
    if (g.needs(i)) g.set_grad_input(i, grads[static_cast<size_t>(i)]);
  }
}

FIRN_REGISTER_OP(patch_correlation) {
  return {
      .doc = "Sums of products of patches of x1 with shifted patches of x2.",
      .inputs = {{.name = "x1", .dtypes = kStatistics, .min_rank = 4, .max_rank = 4},
                 {.name = "x2", .same_dtype_as = "x1", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "y"}},
      .attrs = AttrsOf<PatchCorrelationAttrs>(),
      .infer = InferPatchCorrelation,
      .grad = GradPatchCorrelation,
      .saves = {Saved::Input(0), Saved::Input(1)},
      .kernels = cpu::Portable<PatchCorrelationKernel>(),
  };
}

FIRN_REGISTER_OP(patch_correlation_grad) {
  return {
      .doc = "The gradient of patch_correlation. Not differentiable.",
      .inputs = {{.name = "dy", .dtypes = kStatistics, .min_rank = 5, .max_rank = 5},
                 {.name = "x1", .same_dtype_as = "dy", .min_rank = 4, .max_rank = 4},
                 {.name = "x2", .same_dtype_as = "dy", .min_rank = 4, .max_rank = 4}},
      .outputs = {{.name = "dx1"}, {.name = "dx2"}},
      .attrs = AttrsOf<PatchCorrelationAttrs>(),
      .infer = InferPatchCorrelationGrad,
      .kernels = cpu::Portable<PatchCorrelationGradKernel>(),
  };
}

}  // namespace

Tensor PatchCorrelation(const Tensor& x1, const Tensor& x2,
                        const PatchCorrelationOptions& options) {
  CheckDefined(x1, "patch_correlation", "x1");
  CheckDefined(x2, "patch_correlation", "x2");
  return ApplyInFloat(TheOp<"patch_correlation">(), {x1, x2}, PatchCorrelationAttrs{options});
}

}  // namespace firn
